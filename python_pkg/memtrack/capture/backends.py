"""What each kind of device can tell: whether its allocator has a history, and its figures.

Nothing here initialises a device: what is not running yet tells nothing. Whatever a backend lacks or
refuses is UNKNOWN.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from memtrack.capture import torch_api

UNKNOWN = -1
_REFUSALS = (RuntimeError, AttributeError, AssertionError, KeyError, TypeError)
_CACHING_OFF = ("PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING")
_FIRST_WITH_TIMES = (2, 2)
"""The torch since which entries of the history carry a time."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Who gives memory on a kind of device, and what is missing there.

    `kind` is `native` (CUDA's caching allocator), `rocm` (the same on AMD), `async`
    (cudaMallocAsync), `pluggable`, `uncached`, `xpu`, `mps`, `cpu` or `other`. Without a history
    blocks are followed by tensor storages. `notices` are ids of `reports/notices.py`.
    """

    kind: str
    has_history: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """Bytes: of the allocator, of this process, in use by all, of the device; UNKNOWN if not told."""

    reserved: int = UNKNOWN
    process: int = UNKNOWN
    used: int = UNKNOWN
    total: int = UNKNOWN


_WITHOUT_HISTORY = {
    "cpu": Backend("cpu", False),
    "xpu": Backend("xpu", False, ("no_history_xpu",)),
    "mps": Backend("mps", False, ("no_history_mps",)),
}


def describe(device_type: str) -> Backend:
    """Return what the backend of a device type such as `cuda` can tell, as it is set up now."""
    if device_type == "cuda":
        return _cuda_backend()
    return _WITHOUT_HISTORY.get(device_type) or Backend("other", False, ("no_history_other",))


def figures(device: torch.device) -> Figures:
    """Return what allocator and driver say of a device; a device not initialised tells nothing."""
    read = _READERS.get(device.type, _other_figures)
    return read(device)


def is_capturing() -> bool:
    """Tell whether a CUDA graph is being captured, when the driver is better left alone."""
    if not torch.cuda.is_initialized():
        return False
    return bool(_asked(torch.cuda.is_current_stream_capturing))


def _cuda_backend() -> Backend:
    name = _asked(lambda: torch.cuda.get_allocator_backend()) or "native"
    if name == "cudaMallocAsync":
        return Backend("async", False, ("no_history_async",))
    if name != "native":
        return Backend("pluggable", False, ("no_history_pluggable",))
    # The mere presence of the variable counts, also with the value 0 (pytorch issue 145661).
    if any(one in os.environ for one in _CACHING_OFF) or not torch_api.caching_allocator_is_on():
        return Backend("uncached", False, ("no_cache",))
    is_rocm = getattr(torch.version, "hip", None) is not None
    kind, notices = ("rocm", ("no_process_rocm",)) if is_rocm else ("native", ())
    if not _has_history():
        return Backend(kind, False, (*notices, "no_history_old"))
    return Backend(kind, True, notices)


def _has_history() -> bool:
    major, minor = torch.__version__.split(".")[:2]
    memory = getattr(torch.cuda, "memory", None)
    has_calls = all(hasattr(memory, name) for name in ("_record_memory_history", "_snapshot"))
    return has_calls and (int(major), int(minor)) >= _FIRST_WITH_TIMES


def _cuda_figures(device: torch.device) -> Figures:
    if not torch.cuda.is_initialized():
        return Figures()
    # Without the cache nothing is counted: 0 would not be true.
    uncached = _cuda_backend().kind == "uncached"
    reserved = None if uncached else _asked(lambda: _cuda_reserved(device))
    return _with_free(reserved, _asked(lambda: torch.cuda.mem_get_info(device)))


def _xpu_figures(device: torch.device) -> Figures:
    if not _asked(lambda: torch.xpu.is_initialized()):
        return Figures()
    reserved = _asked(lambda: torch.xpu.memory_reserved(device))
    return _with_free(reserved, _asked(lambda: torch.xpu.mem_get_info(device)))


def _mps_figures(device: torch.device) -> Figures:
    """Return what Metal holds for this process, caches and graphs included; their share is not told."""
    process = _asked(lambda: torch.mps.driver_allocated_memory())
    total = _asked(lambda: torch.mps.recommended_max_memory())
    return Figures(process=_known(process), total=_known(total))


def _cpu_figures(device: torch.device) -> Figures:
    memory = psutil.virtual_memory()
    process: int = psutil.Process().memory_info().rss
    return Figures(process=process, used=memory.total - memory.available, total=memory.total)


def _other_figures(device: torch.device) -> Figures:
    memory: Any = getattr(getattr(torch, "accelerator", None), "memory", None)
    reserved = _asked(lambda: memory.memory_reserved(device))
    return _with_free(reserved, _asked(lambda: memory.get_memory_info(device)))


_READERS: dict[str, Callable[[torch.device], Figures]] = {
    "cuda": _cuda_figures,
    "xpu": _xpu_figures,
    "mps": _mps_figures,
    "cpu": _cpu_figures,
}


def _cuda_reserved(device: torch.device) -> int:
    """Return what is reserved by the nested statistics, which are cheap; flattening them is not."""
    statistics = torch.cuda.memory_stats_as_nested_dict(device)
    # A device with no allocation yet has no statistics.
    return int(statistics["reserved_bytes"]["all"]["current"]) if statistics else 0


def _with_free(reserved: Any, free_and_total: Any) -> Figures:
    if free_and_total is None:
        return Figures(reserved=_known(reserved))
    free, total = free_and_total
    return Figures(reserved=_known(reserved), used=int(total - free), total=int(total))


def _known(value: Any) -> int:
    return UNKNOWN if value is None else int(value)


def _asked(question: Callable[[], Any]) -> Any:
    """Return the answer, None where this build or backend has none or the device is gone."""
    try:
        return question()
    except _REFUSALS:
        return None
