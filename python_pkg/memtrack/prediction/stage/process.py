"""The rest of the process while a prediction runs: its threads, other processes, profilers.

A prediction belongs to one thread. What the program begins on others is refused there, and the
prediction ends with that refusal; no group of processes is joined, and nothing is profiled.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.autograd.profiler
import torch.profiler
from torch.overrides import TorchFunctionMode

from memtrack.errors import MemtrackError
from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import outer_claim_of
from memtrack.prediction.stage.distributed import Group
from memtrack.prediction.stage.patches import Patches

_MODULE = text("Predict the module itself, and add what its wrapper keeps: `%memtrack plan`.")
_MESSAGES = ("irecv", "isend", "new_group", "recv", "send")
"""What only more than one process can do."""
_PROFILERS = ("start", "stop", "step", "_start_trace", "_stop_trace", "_prepare_trace")
_REPORTS = ("export_chrome_trace", "export_stacks", "export_memory_timeline", "add_metadata")


class Process:
    """Replaces what begins threads, joins processes or profiles; keeps a refusal of another thread."""

    def __init__(self, assumptions: Assumptions, group: Group) -> None:
        self._assumptions = assumptions
        self._group = group
        self.is_over = False
        """Set when the prediction has ended: threads it began may live on."""
        self.failure: MemtrackError | None = None
        """The first refusal that was raised on a thread of the program's."""

    def install(self, patches: Patches) -> None:
        """Put the replacements in."""
        patches.replace(threading.Thread, "start", self._started)
        self._distributed(patches)
        self._profilers(patches)

    def close(self) -> None:
        """Let threads that live on do as they like."""
        self.is_over = True

    def raise_failure(self) -> None:
        """Raise what was refused on another thread, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    # threads

    def _started(self, original: Any) -> Any:
        process = self

        def start(thread: threading.Thread) -> None:
            run = thread.run

            def guarded() -> None:
                with _Foreign(process):
                    run()

            thread.run = guarded  # type: ignore[method-assign]
            original(thread)

        return start

    # processes

    def _distributed(self, patches: Patches) -> None:
        distributed = torch.distributed
        if not distributed.is_available():
            return
        inner = getattr(distributed, "distributed_c10d", distributed)
        for owner in (distributed, inner):
            for name in _MESSAGES:
                patches.replace(owner, name, _refusing(f"torch.distributed.{name}"))
        self._group.install(patches)
        _sharding(patches)

    # profilers

    def _profilers(self, patches: Patches) -> None:
        for kind in (torch.profiler.profile, torch.autograd.profiler.profile):
            patches.replace(kind, "__enter__", lambda original: self._entered)
            patches.replace(kind, "__exit__", lambda original: lambda *args: None)
        for name in (*_PROFILERS, *_REPORTS):
            patches.replace(torch.profiler.profile, name, self._ignored)
        for kind in (torch.profiler.profile, torch.autograd.profiler.profile):
            for name in ("key_averages", "events"):
                patches.replace(kind, name, self._empty)
        patches.replace(torch.autograd.profiler.profile, "export_chrome_trace", self._ignored)

    def _entered(self, profiler: Any) -> Any:
        self._assumptions.add("torch.profiler", text("nothing is measured"))
        return profiler

    def _ignored(self, original: Any) -> Any:
        return lambda *args, **kwargs: None

    def _empty(self, original: Any) -> Any:
        return lambda *args, **kwargs: torch.autograd.profiler_util.EventList([])


class _Foreign(TorchFunctionMode):
    """On a thread of the program's: tensors of the prediction and CUDA are refused."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self._process = process

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch, unless it belongs to the prediction."""
        kwargs = kwargs or {}
        if self._process.is_over:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name == "cuda" or any(_belongs(one) for one in (*args, *kwargs.values())):
            why = text("it works on tensors of the prediction, which belong to one thread")
            error = refused("threading.Thread", why)
            self._process.failure = self._process.failure or error
            raise error
        return func(*args, **kwargs)


def _belongs(value: Any) -> bool:
    """Tell whether an argument is of the prediction, or CUDA."""
    if isinstance(value, (list, tuple)):
        return any(_belongs(one) for one in value)
    if isinstance(value, torch.Tensor):
        return outer_claim_of(value) is not None
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.partition(":")[0] == "cuda"


def _refusing(name: str) -> Callable[[Any], Any]:
    """Return what replaces a function by one that refuses."""

    def make(original: Any) -> Any:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise refused(name, text("other processes are not modelled"), _MODULE)

        return refuse

    return make


def _sharding(patches: Patches) -> None:
    """Refuse the wrappers that shard, where the program has them: they ask for processes at once."""
    for module, name in (
        ("torch.distributed.fsdp", "fully_shard"),
        ("torch.distributed._composable.fsdp", "fully_shard"),
        ("torch.distributed.device_mesh", "init_device_mesh"),
    ):
        if module in sys.modules:
            patches.replace(sys.modules[module], name, _refusing(name))
    fsdp = sys.modules.get("torch.distributed.fsdp")
    kind = getattr(fsdp, "FullyShardedDataParallel", None)
    if kind is not None:
        patches.replace(kind, "__init__", _refusing("FullyShardedDataParallel"))
