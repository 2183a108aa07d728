"""What the caching allocator holds beyond what is in use, and why it may not serve a request.

Blocks are reused within their pool only (private pool, small or large, stream), a gap within its
segment only. A request fails, with free memory in sight, when no single gap of its pool is large
enough; `empty_cache` gives back whole segments, or whole pages of expandable ones. What it cannot
give back are the splinters: torch's `inactive_split`, counted for expandable segments as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memtrack.allocator import Settings
from memtrack.allocator.rules import page_size
from memtrack.analysis.layout import Layout, layout_at
from memtrack.analysis.reserved import DEFAULT_POOL
from memtrack.analysis.service import Service, serve
from memtrack.analysis.totals import sum_by
from memtrack.recording import EventKind, RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class PoolState:
    """One pool at a cut, in bytes: `reserved` is allocated + pending + free, free is splinters + releasable.

    `pool`, `small` and `stream` say which (see `Pool`). `pending` was freed but waits for a stream.
    `free` lies in `free_blocks` gaps, the largest of `largest_free`. `splinters` share their segment
    (an expandable one's page) with a block in use; `releasable` is the rest: what `empty_cache`
    gives back, from a private pool only once nothing uses the pool. `segments` counts segments,
    each run of an expandable one's mapped pages as one, `whole_free_segments` those without a block.
    """

    pool: str
    small: bool
    stream: int
    reserved: int
    allocated: int
    pending: int
    free: int
    free_blocks: int
    largest_free: int
    splinters: int
    releasable: int
    segments: int
    whole_free_segments: int
    expandable: bool


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """The pools of a device at a cut, largest first; their `reserved` sum to what is reserved.

    `unplaced` are bytes in use that lie in no known segment. `served` answers for `request`.
    """

    cut: int
    pools: Sequence[PoolState]
    unplaced: int
    served: Service | None
    _layout: Layout = field(repr=False, compare=False)
    _settings: Settings = field(repr=False, compare=False)

    @property
    def reserved(self) -> int:
        """Bytes held from the device."""
        return sum(state.reserved for state in self.pools)

    @property
    def splinters(self) -> int:
        """Free bytes that `empty_cache` cannot give back, private pools left out."""
        return sum(state.splinters for state in self.pools if state.pool == DEFAULT_POOL)

    @property
    def releasable(self) -> int:
        """Bytes that `empty_cache` gives back: those of private pools are not among them."""
        return sum(state.releasable for state in self.pools if state.pool == DEFAULT_POOL)

    @property
    def private(self) -> int:
        """Free bytes inside private pools, which nothing outside them can use."""
        return sum(state.free for state in self.pools if state.pool != DEFAULT_POOL)

    @property
    def pending(self) -> int:
        """Bytes that were freed and still wait for a stream."""
        return sum(state.pending for state in self.pools)

    def largest_free_for(self, request: int, stream: int = 0, pool: str = DEFAULT_POOL) -> Service:
        """Return how a request of `request` bytes would be served on a stream, after torch's rules."""
        return serve(self._layout, self._settings, request, stream, pool)


def fragmentation(
    data: RecordingData, device: int, cut: int, request: int | None = None
) -> Fragmentation | None:
    """Return the pools of a device at a cut, and how they would serve a request of some bytes.

    None where the allocator held nothing or no history of its segments was recorded.
    """
    layout = layout_at(data, device, cut)
    if not len(layout.ranges.start):
        return None
    settings = allocator_settings(data)
    unplaced = layout.blocks[(layout.block_range < 0) & ~layout.pending]
    return Fragmentation(
        cut=cut,
        pools=_pool_states(data, layout, settings),
        unplaced=int(data.allocations["bytes"][unplaced].sum()),
        served=None if request is None else serve(layout, settings, request),
        _layout=layout,
        _settings=settings,
    )


def fragmentation_when_full(data: RecordingData, device: int) -> Fragmentation | None:
    """Return the pools of a device at its last failed request, and how they met it (`served`).

    By then the allocator had given its cache back. None where no request failed, or no history of
    segments was recorded.
    """
    events = data.events
    failed = np.flatnonzero((events["kind"] == EventKind.OOM) & (events["device"] == device))
    found = fragmentation(data, device, int(failed[-1])) if len(failed) else None
    if found is None:
        return None
    size, stream = (int(events[column][failed[-1]]) for column in ("bytes", "stream"))
    return replace(found, served=found.largest_free_for(size, max(stream, 0)))


def allocator_settings(data: RecordingData) -> Settings:
    """Return the settings the recorded allocator had, torch's defaults where unknown."""
    known = data.facts.extra.get("allocator_settings")
    return Settings.from_snapshot(known if isinstance(known, Mapping) else None)


def _pool_states(data: RecordingData, layout: Layout, settings: Settings) -> list[PoolState]:
    ranges, count = layout.ranges, len(layout.ranges.pools)
    size = data.allocations["bytes"][layout.blocks]
    holder = np.append(ranges.pool, -1)[layout.block_range]
    gap_pool = ranges.pool[layout.gap_range]
    whole = _is_empty(layout, size)
    releasable = _releasable(layout, whole, settings)
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, gap_pool, layout.gap_bytes)
    columns = {
        "reserved": sum_by(ranges.pool, (ranges.end - ranges.start).astype(np.int64), count),
        "allocated": sum_by(np.where(layout.pending, -1, holder), size, count),
        "pending": sum_by(np.where(layout.pending, holder, -1), size, count),
        "free": sum_by(gap_pool, layout.gap_bytes, count),
        "free_blocks": np.bincount(gap_pool, minlength=count),
        "largest_free": largest,
        "splinters": sum_by(gap_pool, layout.gap_bytes - releasable, count),
        "releasable": sum_by(gap_pool, releasable, count),
        "segments": np.bincount(ranges.pool, minlength=count),
        "whole_free_segments": np.bincount(ranges.pool[whole], minlength=count),
    }
    expandable = np.bincount(ranges.pool[ranges.expandable], minlength=count) > 0
    states = [
        PoolState(
            pool=pool.private,
            small=pool.small,
            stream=pool.stream,
            expandable=bool(expandable[row]),
            **{name: int(values[row]) for name, values in columns.items()},
        )
        for row, pool in enumerate(ranges.pools)
    ]
    return sorted(states, key=lambda state: -state.reserved)


def _is_empty(layout: Layout, size: Array) -> Array:
    """Return for each range whether no block, in use or pending, lies in it."""
    empty: Array = np.ones(len(layout.ranges.start) + 1, dtype=bool)
    empty[layout.block_range[size > 0]] = False
    return empty[:-1]


def _releasable(layout: Layout, whole: Array, settings: Settings) -> Array:
    """Return of each gap the bytes that can go back: all of an empty segment, else whole pages."""
    ranges, row = layout.ranges, layout.gap_range
    small = np.array([pool.small for pool in ranges.pools], dtype=bool)[ranges.pool[row]]
    page = np.where(small, page_size(True, settings), page_size(False, settings))
    begin = (layout.gap_start - ranges.start[row]).astype(np.int64)
    first, end = -(-begin // page), (begin + layout.gap_bytes) // page
    pages = np.maximum(end - first, 0) * page
    return np.where(whole[row], layout.gap_bytes, np.where(ranges.expandable[row], pages, 0))
