"""`torch.cuda` dressed up as one with the predicted GPU, so that nothing reaches a driver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

import torch

from memtrack.prediction.kernels.context import Gpu
from memtrack.prediction.stage.moves import Moves
from memtrack.prediction.stage.patches import Patches
from memtrack.prediction.stage.streams import (
    FakeEvent,
    FakeGraph,
    FakeStream,
    Runtime,
    StreamBlock,
    no_graphs,
)

_RNG_STATE_BYTES = 16
_STATISTICS = [
    "allocated_bytes.all.current",
    "allocated_bytes.all.peak",
    "reserved_bytes.all.current",
    "reserved_bytes.all.peak",
    "active_bytes.all.current",
    "active_bytes.all.peak",
    "requested_bytes.all.current",
    "requested_bytes.all.peak",
    "inactive_split_bytes.all.current",
    "inactive_split_bytes.all.peak",
    "num_alloc_retries",
    "num_ooms",
]


class Memory(Protocol):
    """What answers `torch.cuda.memory_allocated()` and its like, in bytes."""

    def allocated(self) -> int:
        """Bytes of tensors now."""

    def reserved(self) -> int:
        """Bytes that the allocator holds now."""

    def peak_allocated(self) -> int:
        """Most bytes of tensors since the peaks were reset."""

    def peak_reserved(self) -> int:
        """Most bytes held since the peaks were reset."""

    def reset_peaks(self) -> None:
        """Begin the peaks anew."""

    def empty_cache(self) -> None:
        """Give back what is not used."""


class NoMemory:
    """Answers while nobody counts: nothing."""

    def allocated(self) -> int:
        """Return 0."""
        return 0

    reserved = peak_allocated = peak_reserved = allocated

    def reset_peaks(self) -> None:
        """Do nothing."""

    empty_cache = reset_peaks


class DeviceProperties:
    """What `torch.cuda.get_device_properties` gives."""

    def __init__(self, gpu: Gpu) -> None:
        self.name = gpu.name
        self.total_memory = gpu.total
        self.major, self.minor = gpu.capability
        self.multi_processor_count = gpu.multiprocessors
        self.warp_size = 32
        self.is_integrated = self.is_multi_gpu_board = 0
        self.max_threads_per_multi_processor = 2048
        self.regs_per_multiprocessor = 65536
        self.shared_memory_per_block_optin = 232448 if gpu.capability >= (9, 0) else 101376
        self.gcnArchName = ""


class CudaFace:
    """Replaces the functions of `torch.cuda` and of `torch.accelerator`."""

    def __init__(self, gpu: Gpu, moves: Moves, count: int) -> None:
        self._gpu = gpu
        self._moves = moves
        self._count = count
        self.memory: Memory = NoMemory()

    def install(self, patches: Patches) -> None:
        """Put the replacements in."""
        for owner in (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.streams):
            for name, value in self._answers().items():
                if name in vars(owner):
                    patches.answer(owner, name, value)
            for name, function in self._functions().items():
                if name in vars(owner):
                    patches.replace(owner, name, _always(function))
        patches.put(torch.cuda, "CUDAGraph", FakeGraph)
        patches.put(torch.cuda, "StreamContext", StreamBlock)
        patches.put(torch.cuda, "ExternalStream", FakeStream)
        for name in ("graph", "make_graphed_callables"):
            patches.replace(torch.cuda, name, self._refused)
        patches.put(torch.cuda, "_initialized", True)
        patches.put(torch.cuda, "Stream", FakeStream)
        patches.put(torch.cuda, "Event", FakeEvent)
        patches.put(torch.cuda, "default_generators", (torch.default_generator,) * self._count)
        self._guards(patches)
        self._accelerator(patches)
        patches.answer(torch.backends.cuda, "is_built", True)
        patches.answer(torch.backends.cudnn, "is_available", True)
        patches.answer(torch.backends.cudnn, "is_acceptable", True)
        patches.answer(torch.backends.cudnn, "version", 91002)
        if torch.version.cuda is None:
            patches.put(torch.version, "cuda", "12.8")
        if hasattr(torch.cuda, "nvtx"):
            for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
                patches.answer(torch.cuda.nvtx, name, 0)

    def _answers(self) -> dict[str, Any]:
        """Return functions that always say the same."""
        stream = FakeStream()
        return {
            "is_available": True,
            "_is_compiled": True,
            "is_initialized": True,
            "_is_in_bad_fork": False,
            "_lazy_init": None,
            "init": None,
            "device_count": self._count,
            "get_device_name": self._gpu.name,
            "get_device_capability": self._gpu.capability,
            "get_device_properties": DeviceProperties(self._gpu),
            "is_bf16_supported": self._gpu.capability >= (8, 0),
            "is_tf32_supported": self._gpu.capability >= (8, 0),
            "get_arch_list": [],
            "can_device_access_peer": True,
            "synchronize": None,
            "ipc_collect": None,
            "current_stream": stream,
            "default_stream": stream,
            "set_stream": None,
            "is_current_stream_capturing": False,
            "manual_seed": None,
            "manual_seed_all": None,
            "seed": None,
            "seed_all": None,
            "initial_seed": 0,
            "set_rng_state": None,
            "set_rng_state_all": None,
            "set_per_process_memory_fraction": None,
            "memory_snapshot": [],
            "list_gpu_processes": "",
            "utilization": 0,
            "memory_usage": 0,
            "temperature": 0,
            "power_draw": 0,
            "clock_rate": 0,
            "get_sync_debug_mode": 0,
            "set_sync_debug_mode": None,
            "get_allocator_backend": "native",
            "current_blas_handle": 0,
            "_sleep": None,
            "check_error": None,
            "cudart": Runtime(),
            "_record_memory_history": None,
            "_dump_snapshot": None,
            "_snapshot": {"segments": [], "device_traces": []},
        }

    def _functions(self) -> dict[str, Callable[..., Any]]:
        """Return functions that ask the memory, or that act."""
        memory = self
        return {
            "current_device": lambda: self._moves.current,
            "set_device": self._set_device,
            "_lazy_call": lambda call, **kwargs: None,
            "_get_device_index": lambda device, *args, **kwargs: self._index(device),
            "get_rng_state": self._rng_state,
            "get_rng_state_all": lambda: [self._rng_state() for _ in range(self._count)],
            "memory_allocated": lambda device=None: memory.memory.allocated(),
            "max_memory_allocated": lambda device=None: memory.memory.peak_allocated(),
            "memory_reserved": lambda device=None: memory.memory.reserved(),
            "memory_cached": lambda device=None: memory.memory.reserved(),
            "max_memory_reserved": lambda device=None: memory.memory.peak_reserved(),
            "max_memory_cached": lambda device=None: memory.memory.peak_reserved(),
            "reset_peak_memory_stats": lambda device=None: memory.memory.reset_peaks(),
            "reset_max_memory_allocated": lambda device=None: memory.memory.reset_peaks(),
            "reset_max_memory_cached": lambda device=None: memory.memory.reset_peaks(),
            "reset_accumulated_memory_stats": lambda device=None: None,
            "empty_cache": lambda: memory.memory.empty_cache(),
            "memory_stats": lambda device=None: self._statistics(),
            "memory_stats_as_nested_dict": lambda device=None: {},
            "memory_summary": lambda device=None, abbreviated=False: "",
            "mem_get_info": lambda device=None: self._free(),
            "stream": StreamBlock,
            "device_of": lambda tensor: contextlib.nullcontext(),
            "_exchange_device": self._exchange,
            "_maybe_exchange_device": self._exchange,
            "get_stream_from_external": lambda *args, **kwargs: FakeStream(),
        }

    def _guards(self, patches: Patches) -> None:
        original = torch.cuda.device
        face = self

        class Device:
            """`torch.cuda.device(…)`: the current device inside a block."""

            def __new__(cls, device: Any) -> Any:
                """Give other threads torch's own."""
                is_ours = patches.is_ours()
                return super().__new__(cls) if is_ours else original(device)

            def __init__(self, device: Any) -> None:
                self.idx = face._index(device)
                self.prev_idx = -1

            def __enter__(self) -> Any:
                self.prev_idx = face._exchange(self.idx)

            def __exit__(self, *exc: Any) -> Any:
                face._exchange(self.prev_idx)
                return False

        patches.put(torch.cuda, "device", Device)

    def _accelerator(self, patches: Patches) -> None:
        accelerator = getattr(torch, "accelerator", None)
        if accelerator is None:
            return
        for name, value in {
            "is_available": True,
            "device_count": self._count,
            "current_accelerator": torch.device("cuda"),
            "current_device_index": 0,
            "current_device_idx": 0,
            "synchronize": None,
            "current_stream": FakeStream(),
            "set_stream": None,
            "empty_cache": None,
        }.items():
            patches.answer(accelerator, name, value)
        for name, function in self._functions().items():
            if name.startswith(("memory", "max_memory", "reset")):
                patches.replace(accelerator, name, _always(function))

    def _index(self, device: Any) -> int:
        if device is None:
            return self._moves.current
        if isinstance(device, int):
            return device if device >= 0 else self._moves.current
        index: int | None = self._moves.device(device).index
        return self._moves.current if index is None else index

    def _set_device(self, device: Any) -> None:
        index = self._index(device)
        self._moves.device(index)
        self._moves.current = index

    def _exchange(self, index: int) -> int:
        before = self._moves.current
        if index >= 0:
            self._moves.current = index
        return before

    def _rng_state(self, device: Any = None) -> torch.Tensor:
        return torch.zeros(_RNG_STATE_BYTES, dtype=torch.uint8)

    def _statistics(self) -> dict[str, int]:
        memory = self.memory
        found = dict.fromkeys(_STATISTICS, 0)
        for kind in ("allocated", "active", "requested"):
            found[f"{kind}_bytes.all.current"] = memory.allocated()
            found[f"{kind}_bytes.all.peak"] = memory.peak_allocated()
        found["reserved_bytes.all.current"] = memory.reserved()
        found["reserved_bytes.all.peak"] = memory.peak_reserved()
        return found

    def _free(self) -> tuple[int, int]:
        total = self._gpu.total
        return max(total - self.memory.reserved(), 0), total

    def _refused(self, original: Any) -> Any:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise no_graphs()

        return refuse


def _always(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return what replaces any function by `function`."""
    return lambda original: function
