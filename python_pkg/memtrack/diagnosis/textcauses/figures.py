"""The figures of a device's out-of-memory message, and what follows from them. All in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memtrack.diagnosis.diagnosis import Process
from memtrack.diagnosis.reading import Failure
from memtrack.units import GIB, MIB

_OWN_SLACK = 3 * GIB
"""What a process holds besides its allocator: context, NCCL, workspaces (notes, 4.5)."""
_ROUNDING = 16 * MIB
_GRANULES = 32 * MIB
"""Driver memory comes in pieces: with so little more than the request free, a device is full."""
CONTEXT = 600 * MIB
"""An upper bound of what one CUDA context takes without anything in it (300-450 MB, notes 4.5)."""


@dataclass(frozen=True)
class Figures:
    """Figures of a failure by name; None where the text has none."""

    failure: Failure

    def _get(self, name: str) -> int | None:
        return self.failure.numbers.get(name)

    @property
    def requested(self) -> int | None:
        """The segment that the allocator asked for, rarely the tensor itself."""
        return self._get("requested")

    @property
    def total(self) -> int | None:
        """What the device has."""
        return self._get("total")

    @property
    def free(self) -> int | None:
        """What the driver calls free, after the cache was given back."""
        return self._get("free")

    @property
    def allocated(self) -> int | None:
        """In tensors."""
        return self._get("allocated")

    @property
    def allowed(self) -> int | None:
        """The limit of this process."""
        return self._get("allowed")

    @property
    def budget(self) -> int | None:
        """What this process could have at most: its limit, else the device."""
        if self.allowed is not None and self.total is not None:
            return min(self.allowed, self.total)
        return self.allowed if self.allowed is not None else self.total

    @cached_property
    def idle(self) -> int | None:
        """Reserved by the allocator and in no tensor."""
        told = self._get("reserved_unallocated")
        if told is not None:
            return told
        reserved = self._get("reserved")
        if reserved is None or self.allocated is None or reserved < self.allocated:
            return None
        return reserved - self.allocated

    @cached_property
    def reserved(self) -> int | None:
        """Held by the allocator, in tensors or not."""
        told = self._get("reserved")
        if told is not None:
            return told
        if self.allocated is None or self.idle is None:
            return None
        return self.allocated + self.idle

    @property
    def is_limited(self) -> bool:
        """Whether a limit below the device explains the refusal; figures are rounded."""
        if self.allowed is None:
            return False
        if self.total is not None and self.allowed >= self.total * 0.995:
            return False
        return (self.reserved or 0) + (self.requested or 0) > self.allowed * 0.97

    @property
    def is_refused_though_free(self) -> bool:
        """Whether the driver had clearly more than the request, so that something else refused."""
        if self.free is None or self.requested is None:
            return False
        return self.free >= self.requested + _GRANULES

    @cached_property
    def others(self) -> tuple[Process, ...]:
        """Processes that the message names, without one that must be this process.

        In a container the driver gives another number for this process, so that it appears as
        `Process N`; then no sentence begins with "this process has".
        """
        known = tuple(one for one in self.failure.processes if one.bytes >= 0)
        if self._get("process") is None and len(known) == 1 and self.reserved is not None:
            surplus = known[0].bytes - self.reserved
            if -_ROUNDING <= surplus <= _OWN_SLACK:
                return ()
            if self.total is not None and known[0].bytes + self.reserved > self.total + _ROUNDING:
                return ()  # there is no room for both: what it holds contains what we hold
        return known

    @property
    def own_pid(self) -> int | None:
        """Under which number the message names this process among the others, if it does."""
        own = [
            one.pid for one in self.failure.processes if one.bytes >= 0 and one not in self.others
        ]
        return own[0] if own else None

    @property
    def others_bytes(self) -> int:
        """What the other processes hold, as far as it is told."""
        return sum(one.bytes for one in self.others)

    @cached_property
    def process(self) -> int | None:
        """What this process holds on the device, context included."""
        told = self._get("process")
        if told is not None:
            return told
        known = [one.bytes for one in self.failure.processes if one.bytes >= 0]
        return known[0] if len(known) == 1 and not self.others else None

    @cached_property
    def outside(self) -> int | None:
        """What neither is free nor is the allocator's nor is told to be anybody's."""
        if self.total is None or self.free is None or self.reserved is None:
            return None
        mine = self.process if self.process is not None else self.reserved
        return max(self.total - self.free - mine - self.others_bytes, 0)

    @cached_property
    def beside_allocator(self) -> int | None:
        """What this process holds outside PyTorch's allocator."""
        if self.process is None or self.reserved is None:
            return None
        return max(self.process - self.reserved, 0)
