"""The moment of the failure: every figure the rules need, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.allocator.rules import (
    MIN_LARGE,
    SMALL_SEGMENT,
    SMALL_SIZE,
    round_size,
    segment_size,
)
from memtrack.allocator.settings import Settings
from memtrack.analysis.fragmentation import Fragmentation, allocator_settings, fragmentation
from memtrack.analysis.reserved import reserved
from memtrack.analysis.service import Service
from memtrack.analysis.totals import allocated
from memtrack.diagnosis.evidence.facts import LiveFacts
from memtrack.diagnosis.evidence.passes import Passes, passes
from memtrack.recording import EventKind, RecordingData
from memtrack.recording.tables import Array

ROUNDING = 0.01
"""Of a device: what the driver keeps for itself, and what the figures of a text are rounded by."""


@dataclass(frozen=True, slots=True)
class Expandable:
    """The failure simulated with expandable segments.

    `reserved` are the bytes held just before it; `fits` tells whether the request that failed is
    served, None where its size or the room for it is not known.
    """

    reserved: int
    fits: bool | None


@dataclass(frozen=True, slots=True)
class Situation:
    """Figures at the failure, in bytes; None where nothing tells.

    `requested` is the size of the tensor, rounded as the allocator does; `segment` what was asked of
    the device for it. `levels` are the bytes in use at every cut. `failed` tells whether a request
    failed at all, by the recording or by what the process told. `stack` is a row of the stacks, -1
    where unknown, `told_stack` whether the trace says where the request was made.
    """

    data: RecordingData
    device: int
    facts: LiveFacts
    cut: int
    failed: bool
    requested: int | None
    segment: int | None
    levels: Array
    reserved: int | None
    pools: Fragmentation | None
    served: Service | None
    device_free: int | None
    stack: int
    told_stack: bool
    passes: Passes
    expandable: Expandable | None = None

    @property
    def allocated(self) -> int:
        """Bytes in use; without a recording of them what the process told."""
        if len(self.data.allocations):
            return int(self.levels[self.cut])
        return self.facts.allocated or 0

    @property
    def cached(self) -> int | None:
        """Bytes that the allocator held free."""
        return None if self.reserved is None else max(self.reserved - self.allocated, 0)

    @property
    def is_fragmented(self) -> bool:
        """Whether the pool that had to serve the request had the bytes for it, but no such block."""
        return self.served is not None and self.served.is_fragmented

    @property
    def total(self) -> int | None:
        """Bytes of the device."""
        if self.facts.total:
            return self.facts.total
        known = int(self.data.devices["total"][self.device])
        return known if known > 0 else None

    @property
    def limit(self) -> int | None:
        """What this process is allowed, where that is less than the device."""
        limit, total = self.facts.limit, self.total
        return None if not limit or (total is not None and limit >= total) else limit

    @property
    def needed(self) -> int:
        """What the device had to give, else what was asked for; 0 where neither is known."""
        return self.segment or self.requested or 0

    @property
    def beside(self) -> int | None:
        """What this process holds beside its allocator: context, libraries, other frameworks."""
        if self.facts.process is None or self.reserved is None:
            return None
        return max(self.facts.process - self.reserved, 0)

    @property
    def others(self) -> int | None:
        """What other processes hold."""
        told = self.facts.others
        if told or self.facts.process is None or None in (self.total, self.device_free):
            return told
        total = self.total or 0
        rest = total - (self.device_free or 0) - self.facts.process
        return rest if rest > ROUNDING * total else 0


def situation(
    data: RecordingData, device: int, facts: LiveFacts, *, told: bool = False
) -> Situation:
    """Return the figures of the last failure on a device, or of the end of a recording without one.

    `told` is whether an error says that there was a failure.
    """
    events = data.events
    found = np.flatnonzero((events["kind"] == EventKind.OOM) & (events["device"] == device))
    event = int(found[-1]) if len(found) and facts.cut is None else -1
    cut = event if event >= 0 else min(data.cuts if facts.cut is None else facts.cut, data.cuts)
    levels = allocated(data, device)
    settings = allocator_settings(data)
    requested = facts.requested if event < 0 else int(events["bytes"][event])
    stream = max(int(events["stream"][event]), 0) if event >= 0 else 0
    pools = fragmentation(data, device, cut)
    asked = requested if requested is not None else _at_most(facts.segment, settings)
    served = None if pools is None or asked is None else pools.largest_free_for(asked, stream)
    held = reserved(data, device, np.array([cut]), levels)
    segment = facts.segment
    if segment is None and requested is not None:
        segment = served.from_device if served is not None and not served.fits else None
        segment = segment or segment_size(round_size(requested, settings), settings)
    known = _told(data, device) if event >= 0 else {}
    return Situation(
        data=data,
        device=device,
        facts=facts,
        cut=cut,
        failed=told or event >= 0 or requested is not None or facts.segment is not None,
        requested=requested,
        segment=segment,
        levels=levels,
        reserved=facts.reserved if held is None else int(held[0]),
        pools=pools,
        served=served,
        device_free=_device_free(facts, known, events, event),
        stack=known.get("stack", -1),
        told_stack="stack" in known,
        passes=passes(data, device, cut),
    )


def _at_most(segment: int | None, settings: Settings) -> int | None:
    """Return the most that the request behind a segment can have been, None where that is not known."""
    if segment is None or segment <= 0:
        return None
    if segment == SMALL_SEGMENT:
        return SMALL_SIZE
    return MIN_LARGE if segment == settings.large_segment_size else segment


def _told(data: RecordingData, device: int) -> dict[str, int]:
    """Return what the reader of a snapshot kept of the last failure (see `readers.failures`)."""
    known = data.facts.extra.get("failures")
    one: Any = known.get(str(device)) if isinstance(known, Mapping) else None
    if not isinstance(one, Mapping):
        return {}
    told = {name: value for name, value in one.items() if type(value) is int}
    if not -1 <= told.get("stack", -1) < len(data.stacks):
        del told["stack"]
    return told


def _device_free(facts: LiveFacts, told: dict[str, int], events: Any, event: int) -> int | None:
    """Return what the device had free: of the live process, of the trace, of the event's own."""
    if facts.free is not None:
        return facts.free
    if told.get("device_free", -1) >= 0:
        return told["device_free"]
    known = int(events["address"][event]) if event >= 0 else 0
    return known or None
