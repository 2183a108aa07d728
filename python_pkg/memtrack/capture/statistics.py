"""What the allocator of a device says of itself, whichever device it is; {} where it says nothing.

Nothing here initialises a device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from memtrack.capture import torch_api

Statistics = Mapping[Any, Any]
"""Figures by name, nested or flat, as torch gives them."""

_LARGEST = 2**63 - 1


def read_statistics(device: torch.device) -> Statistics:
    """Return the statistics of a device as they are now; may raise what its backend raises.

    CUDA and ROCm have all that `torch.cuda.memory_stats` has, also `backend:cudaMallocAsync`, which
    leaves most at 0; XPU bytes only; MPS what is allocated and what is held; other accelerators
    what `torch.accelerator.memory_stats` has.
    """
    if device.type == "cuda":
        return torch_api.cuda_statistics(device.index or 0)
    return _READERS.get(device.type, _of_accelerator)(device)


def flat(statistics: Statistics) -> dict[str, int]:
    """Return each figure but zeros by the name `torch.cuda.memory_stats` gives it.

    A figure beyond int64 stands for "no limit" and is left out.
    """
    found: dict[str, int] = {}
    _collect(statistics, "", found)
    return found


def _collect(statistics: Statistics, prefix: str, found: dict[str, int]) -> None:
    for key, value in statistics.items():
        if not value:
            continue
        name = key if isinstance(key, str) else _spelled(key)
        if isinstance(value, dict):
            _collect(value, f"{prefix}{name}.", found)
        elif isinstance(value, int) and abs(value) <= _LARGEST:
            found[prefix + name] = int(value)


def _spelled(key: object) -> str:
    return "_".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _none(_: torch.device) -> Statistics:
    return {}


def _of_xpu(device: torch.device) -> Statistics:
    backend: Any = getattr(torch, "xpu", None)
    if not hasattr(backend, "memory_stats") or not backend.is_initialized():
        return {}
    statistics: Statistics = backend.memory_stats(device)
    return statistics


def _of_mps(_: torch.device) -> Statistics:
    backend: Any = getattr(torch, "mps", None)
    if not hasattr(backend, "current_allocated_memory"):
        return {}
    return {
        "allocated_bytes.all.current": backend.current_allocated_memory(),
        "reserved_bytes.all.current": backend.driver_allocated_memory(),
    }


def _of_accelerator(device: torch.device) -> Statistics:
    accelerator: Any = getattr(torch, "accelerator", None)
    memory_stats = getattr(getattr(accelerator, "memory", None), "memory_stats", None)
    if memory_stats is None or accelerator.current_accelerator() != torch.device(device.type):
        return {}
    statistics: Statistics = memory_stats(device)
    return statistics


_READERS: Mapping[str, Callable[[torch.device], Statistics]] = {
    "cpu": _none,
    "meta": _none,
    "xpu": _of_xpu,
    "mps": _of_mps,
}
