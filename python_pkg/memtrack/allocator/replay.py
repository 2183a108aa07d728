"""A recording run through the simulated allocator: what it reserves, as it was or as it could be.

Without other settings or a capacity the replay is of the run *as recorded*: it starts from the layout
that was there, and what the trace gave back to the device is given back. The difference to what was
recorded then tells how far the simulator can be trusted for this run. Otherwise it is a *what if*:
what was alive at the start is requested anew, the allocator's own releases are left to the simulator,
and only those the user asked for (`empty_cache`) are kept. A trace does not tell the two apart; how
they are told is in `_is_asked_for`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from memtrack.allocator.blocks import Block
from memtrack.allocator.seed import (
    START_GUESSED,
    Seed,
    seed_anew,
    seed_as_recorded,
    segment_addresses,
)
from memtrack.allocator.settings import UNLIMITED, Settings
from memtrack.allocator.simulator import CachingAllocator, SimulatedOutOfMemory
from memtrack.recording.categories import EventKind
from memtrack.recording.data import RecordingData
from memtrack.recording.tables import Array

_TAKEN = (EventKind.SEGMENT_ALLOC, EventKind.SEGMENT_MAP)
_GIVEN_BACK = (EventKind.SEGMENT_FREE, EventKind.SEGMENT_UNMAP)
_ALLOC, _FREE = int(EventKind.ALLOC), int(EventKind.FREE)
_COMPLETED = int(EventKind.FREE_COMPLETED)


@dataclass(frozen=True, slots=True)
class Replay:
    """What the simulated allocator held, in bytes at every cut of the recording."""

    settings: Settings
    reserved: Array
    """A segment counts from the allocation that needs it: an event later than in a trace."""
    allocated: Array
    recorded: Array | None
    """What was reserved in truth; None where the recording has no history of segments."""
    settled: Array
    """Cuts after an allocation or release: there `reserved` and `recorded` can be compared."""
    start: str
    """How it began: `nothing`, `layout` (as recorded) or `guess` (the layout was not known)."""
    retries: int
    failed: int
    """Event whose request the simulated device had no room for; there the replay ends. -1: none."""

    @property
    def peak(self) -> int:
        """Most bytes reserved."""
        return int(self.reserved.max())

    @property
    def recorded_peak(self) -> int:
        """Most bytes that were reserved in truth; 0 where that is not known."""
        return int(self.recorded.max()) if self.recorded is not None else 0

    @property
    def error(self) -> float | None:
        """Difference of the peaks as a share of the recorded one; None where that is not known."""
        if not self.recorded_peak:
            return None
        return (self.peak - self.recorded_peak) / self.recorded_peak

    @property
    def worst(self) -> float | None:
        """The largest difference at any settled cut, as a share of the recorded peak."""
        if self.recorded is None or not self.recorded_peak or not len(self.settled):
            return None
        apart = np.abs(self.reserved[self.settled] - self.recorded[self.settled])
        return float(apart.max()) / self.recorded_peak

    @property
    def complete(self) -> bool:
        """Whether the state at the start was known, so that the result can be exact."""
        return self.start != START_GUESSED


def replay(
    data: RecordingData,
    device: int,
    settings: Settings | None = None,
    capacity: int | None = None,
    then: int | None = None,
) -> Replay:
    """Run the events of `device` (row of devices) through the simulator.

    With `settings` or a `capacity` (bytes the device can give) it is a what-if. A request that does
    not fit ends the replay: `failed` names it. `then` are bytes that are asked for after the last
    event, on the default stream: `failed` is the number of events where they do not fit.
    """
    as_recorded = settings is None and capacity is None
    known = settings or recorded_settings(data)
    total = int(data.devices["total"][device]) if len(data.devices) else -1
    allocator = CachingAllocator(known, capacity, total if total > 0 else None)
    try:
        seed = (seed_as_recorded if as_recorded else seed_anew)(data, device, allocator)
    except SimulatedOutOfMemory:
        return _result(data, device, allocator, "layout", [], ([], []), 0)
    asked = None if as_recorded else _asked_for(data, device)
    run = _Run(data, device, allocator, seed, asked)
    before = (allocator.reserved, allocator.allocated)
    failed = run.go()
    if failed < 0 and then is not None and not _serves(allocator, then):
        failed = data.cuts
    levels = ([before[0], *run.reserved], [before[1], *run.allocated])
    return _result(data, device, allocator, seed.start, run.rows, levels, failed)


def _serves(allocator: CachingAllocator, size: int) -> bool:
    try:
        allocator.malloc(size)
    except SimulatedOutOfMemory:
        return False
    return True


def recorded_settings(data: RecordingData) -> Settings:
    """Return the allocator's settings as the recording knows them; torch's defaults where it does not."""
    known = data.facts.extra.get("allocator_settings")
    return Settings.from_snapshot(known if isinstance(known, dict) else None)


def recorded_reserved(data: RecordingData, device: int) -> Array | None:
    """Return the bytes reserved at every cut from the table of segments; None where it is empty."""
    segments = data.segments
    mine = segments["device"] == device
    if not mine.any():
        return None
    change = np.zeros(data.cuts + 2, dtype=np.int64)
    np.add.at(change, segments["start"][mine] + 1, segments["bytes"][mine])
    np.subtract.at(
        change, np.minimum(segments["end"][mine] + 1, data.cuts + 1), segments["bytes"][mine]
    )
    return np.cumsum(change)[:-1]


class _Run:
    """One pass over the events of a device; a level of each of them is appended to the lists."""

    def __init__(
        self,
        data: RecordingData,
        device: int,
        allocator: CachingAllocator,
        seed: Seed,
        asked: set[int] | None,
    ) -> None:
        self.allocator = allocator
        self.live: dict[int, Block] = dict(seed.live)
        self.asked = asked
        """Releases to replay as `empty_cache`, by their first event; None: the run is as recorded."""
        self.found: set[int] = set()
        """Of a run as recorded, the releases that the user must have asked for."""
        self.rows = np.flatnonzero(data.events["device"] == device)
        self.events = data.events
        self.places = segment_addresses(data, device)
        self.requested = data.allocations["requested"].tolist()
        self.pools = _pools(data, device, self.rows)
        self.reserved: list[int] = []
        self.allocated: list[int] = []
        done = self.events["kind"] == _COMPLETED
        reserved = recorded_reserved(data, device)
        collects = allocator.settings.garbage_collection_threshold > 0
        self.most = 0 if reserved is None or collects else int(reserved.max())
        """Bytes that the device is known to give: the most that was reserved."""
        self.late = set(self.events["allocation"][done].tolist())
        self.waiting: dict[int, tuple[Block, int]] = {}

    def go(self) -> int:
        """Replay all; return the event that did not fit, or -1."""
        allocator, live, requested = self.allocator, self.live, self.requested
        malloc, free, late = allocator.malloc, allocator.free, self.late
        reserved, allocated = self.reserved.append, self.allocated.append
        kinds = self.events["kind"][self.rows].tolist()
        rows = self.events["allocation"][self.rows].tolist()
        streams = np.maximum(self.events["stream"][self.rows], 0).tolist()
        pools = self.pools if self.pools is not None else [None] * len(self.rows)
        events = zip(kinds, rows, streams, pools, strict=True)
        for place, (kind, row, stream, pool) in enumerate(events):
            if kind == _ALLOC:
                try:
                    live[row] = malloc(requested[row], stream, pool)
                except SimulatedOutOfMemory:
                    return int(self.rows[place])
            elif kind == _FREE:
                block = live.pop(row, None)
                if block is None:
                    pass  # freed before it was seen, or seen twice
                elif row in late:
                    self.waiting[row] = (block, allocator.synchronized)
                    allocator.free_later(block)
                else:
                    free(block)
            else:
                self._other(place, kind, row, kinds)
            reserved(allocator.reserved)
            allocated(allocator.allocated)
        return -1

    def _other(self, place: int, kind: int, row: int, kinds: list[int]) -> None:
        if kind == _COMPLETED:
            block, synchronized = self.waiting.pop(row, (None, 0))
            if block is not None and synchronized == self.allocator.synchronized:
                self.allocator.free(block)
        elif kind == EventKind.SEGMENT_ALLOC:
            address, size = self._place(place)
            self.allocator.expect(address, size)
        elif kind in _GIVEN_BACK and (place == 0 or kinds[place - 1] not in _GIVEN_BACK):
            self._give_back(place, kinds)

    def _place(self, place: int) -> tuple[int, int]:
        row = int(self.rows[place])
        return self.places.get(row, -1), int(self.events["bytes"][row])

    def _is_asked_for(self, end: int, kinds: list[int]) -> bool:
        """Whether a release that ends before `end` was the user's: nobody was in need of memory.

        The allocator gives memory back before it asks for more, or fails. What is asked of the device
        just after can still be a coincidence: if all of it would have been less than was reserved at
        another time, if the cache had room for what was wanted, or if it is for a private pool, for
        which the cache is never given back (a graph's capture begins with an `empty_cache`).
        """
        if end == len(kinds) or kinds[end] not in (*_TAKEN, EventKind.OOM):
            return True
        level = self.allocator.reserved
        while end < len(kinds) and kinds[end] in _TAKEN:
            level += self._place(end)[1]
            end += 1
        if level <= self.most and kinds[end - 1] in _TAKEN:
            return True
        if end == len(kinds) or kinds[end] != _ALLOC:
            return False
        row = int(self.rows[end])
        size = self.requested[int(self.events["allocation"][row])]
        stream = max(int(self.events["stream"][row]), 0)
        if self.pools is not None and self.pools[end] is not None:
            return True
        return self.allocator.has_room(size, stream)

    def _give_back(self, first: int, kinds: list[int]) -> None:
        """Replay a run of releases that begins at `first`: of the cache, or of some segments."""
        end = first
        while end < len(kinds) and kinds[end] in _GIVEN_BACK:
            end += 1
        row = int(self.rows[first])
        if self.asked is not None:
            if row in self.asked:
                self.allocator.empty_cache()
            return
        if self._is_asked_for(end, kinds):
            self.found.add(row)
        whole = all(kind == EventKind.SEGMENT_FREE for kind in kinds[first:end])
        addresses = [self._place(place)[0] for place in range(first, end)]
        if not (whole and all(map(self.allocator.release_at, addresses))):
            self.allocator.empty_cache()


def _asked_for(data: RecordingData, device: int) -> set[int]:
    """Return the first events of the releases that were calls of `empty_cache`.

    Where the run is known to have had no retry all of them were.
    """
    events = data.events
    rows = np.flatnonzero(events["device"] == device)
    released = np.isin(events["kind"][rows], _GIVEN_BACK)
    if not released.any():
        return set()
    if _had_no_retry(data, device):
        first = released & ~np.concatenate(([False], released[:-1]))
        return set(rows[first].tolist())
    allocator = CachingAllocator(recorded_settings(data))
    run = _Run(data, device, allocator, seed_as_recorded(data, device, allocator), None)
    run.go()
    return run.found


def _had_no_retry(data: RecordingData, device: int) -> bool:
    """Whether the allocator's own statistics say that it never had to give back its cache."""
    mine = np.flatnonzero(data.readings["device"] == device)
    settings = recorded_settings(data)
    if (
        len(mine) < 2
        or settings.garbage_collection_threshold
        or settings.max_split_size < UNLIMITED
    ):
        return False
    names = [i for i, name in enumerate(data.strings) if name == "num_alloc_retries"]
    rows = np.flatnonzero(np.isin(data.statistics["name"], names))
    readings = data.statistics["reading"][rows].tolist()
    counted = dict(zip(readings, data.statistics["value"][rows].tolist(), strict=True))
    first, last = (counted.get(int(row), 0) for row in (mine[0], mine[-1]))
    return bool(first == last)


def _pools(data: RecordingData, device: int, rows: Array) -> list[Hashable] | None:
    """Return the private pool of each event's address, None where there is no private pool."""
    segments = data.segments
    private = np.flatnonzero((segments["device"] == device) & (segments["pool"] >= 0))
    if not len(private):
        return None
    pools = np.full(len(rows), None, dtype=object)
    address = data.events["address"][rows]
    for row in private:
        begin, size = segments["address"][row], segments["bytes"][row].astype(np.uint64)
        inside = (address >= begin) & (address < begin + size)
        inside &= (rows > segments["start"][row]) & (rows < segments["end"][row])
        pools[inside] = data.string(int(segments["pool"][row]))
    found: list[Hashable] = pools.tolist()
    return found


def _result(
    data: RecordingData,
    device: int,
    allocator: CachingAllocator,
    start: str,
    rows: Array | list[int],
    levels: tuple[list[int], list[int]],
    failed: int,
) -> Replay:
    at = [np.array(level or [0], dtype=np.int64) for level in levels]
    done = len(at[0]) - 1
    places = np.searchsorted(np.asarray(rows, dtype=np.int64)[:done], np.arange(data.cuts + 1))
    kind = data.events["kind"]
    counted = (kind == EventKind.ALLOC) | (kind == EventKind.FREE)
    settled = np.flatnonzero(counted & (data.events["device"] == device)) + 1
    return Replay(
        settings=allocator.settings,
        reserved=at[0][places],
        allocated=at[1][places],
        recorded=recorded_reserved(data, device),
        settled=settled if failed < 0 else settled[settled <= failed],
        start=start,
        retries=allocator.retries,
        failed=failed,
    )
