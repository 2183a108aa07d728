"""The CUDA caching allocator's own history, borrowed without disturbing the user's.

The recorder inside torch is one for the whole process. If the user has it on, it is read as it is
and left on; otherwise it is on from `start` to `stop`, bounded, with Python stacks only.
"""

from __future__ import annotations

import inspect
import time
from typing import Any

import torch

from memtrack.capture import backends, torch_api

MAX_ENTRIES = 4_000_000
"""Entries kept, so that a last step that is longer than the others still fits: each costs a few
hundred bytes of this process's own memory, none of the device's."""
_memory: Any = getattr(torch.cuda, "memory", None)


def is_usable(models: list[torch.nn.Module]) -> bool:
    """Tell whether the run to come is on CUDA and its allocator can tell its history."""
    if not torch.cuda.is_initialized():
        return False
    devices = {p.device.type for model in models for p in model.parameters()}
    return (not models or "cuda" in devices) and backends.describe("cuda").has_history


class AllocatorHistory:
    """One use of the allocator's history, from `start` to `stop`."""

    def __init__(self) -> None:
        self._ours = False
        self._counted = 0
        self._devices: list[torch.device] = []
        self.initial: list[dict[str, Any]] | None = None
        """The segments and their blocks at the beginning; None where reading them costs too much."""
        self.clock_offset_ns = 0
        """Nanoseconds to add to `time.perf_counter_ns` to get the trace's clock."""

    def start(self) -> None:
        """Switch the history on unless it is on already.

        Stacks are taken of allocations only: with those of releases, tracking a launch-bound model
        costs another 6 % (`bench/tracking.py`).
        """
        self.clock_offset_ns = _clock_offset_ns()
        enabled = getattr(torch._C, "_cuda_isHistoryEnabled", lambda: False)
        if not enabled():
            known = inspect.signature(_memory._record_memory_history).parameters
            wanted = {"context": "alloc", "stacks": "python", "max_entries": MAX_ENTRIES}
            options = {
                name: value for name, value in wanted.items() if name in known or "kwargs" in known
            }
            _memory._record_memory_history("all", **options)
            self._ours = True
            # With an empty history behind it this costs well under a millisecond.
            self.initial = list(self.read().get("segments", ()))
        self._counted = self.counts()[0]

    def devices(self) -> list[torch.device]:
        """Return the devices in use so far; one before any is, that of the coming run."""
        everything = [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
        used = [one for one in everything if _family(one, "reserved_bytes").get("peak")]
        self._devices = used or [torch.device("cuda", torch.cuda.current_device())]
        return self._devices

    def levels(self) -> tuple[int, int]:
        """Return the bytes allocated now, and the peak as torch counts it, over all devices."""
        families = [_family(device, "allocated_bytes") for device in self._devices]
        return sum(f.get("current", 0) for f in families), sum(f.get("peak", 0) for f in families)

    def reserved(self) -> int:
        """Return the bytes the allocator holds now, over all devices."""
        return sum(_family(one, "reserved_bytes").get("current", 0) for one in self._devices)

    def counts(self) -> tuple[int, int]:
        """Return how many allocations there have been in this process, and of how many bytes."""
        count = size = 0
        for device in self._devices:
            statistics = torch_api.cuda_statistics(device.index or 0)
            count += statistics["allocation"]["all"]["allocated"]
            size += statistics["allocated_bytes"]["all"]["allocated"]
        return count, size

    def events_so_far(self) -> int:
        """Return about how many events there have been: an allocation, and the release of each."""
        return 2 * (self.counts()[0] - self._counted)

    def read(self) -> dict[str, Any]:
        """Return the snapshot as it stands."""
        snapshot: dict[str, Any] = _memory._snapshot()
        return snapshot

    def stop(self) -> None:
        """Switch the history off if it was we who switched it on."""
        if self._ours:
            self._ours = False
            _memory._record_memory_history(None)


def _family(device: torch.device, family: str) -> dict[str, int]:
    """Return one family of the allocator's statistics over all pools, {} where it has none."""
    statistics = torch_api.cuda_statistics(device.index or 0)
    found: dict[str, int] = statistics.get(family, {}).get("all", {})
    return found


def _clock_offset_ns() -> int:
    """Return the epoch clock minus the monotonic one, from the closest of several readings."""
    best_gap, best = 1 << 62, 0
    for _ in range(20):
        before = time.perf_counter_ns()
        epoch = time.time_ns()
        after = time.perf_counter_ns()
        if after - before < best_gap:
            best_gap, best = after - before, epoch - (before + after) // 2
    return best
