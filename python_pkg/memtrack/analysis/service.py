"""How the allocator would serve a request at one moment, after torch's rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.allocator import Settings
from memtrack.allocator.rules import is_small, page_size, round_size, segment_size
from memtrack.analysis.layout import Layout
from memtrack.analysis.reserved import DEFAULT_POOL, Pool
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Service:
    """How the allocator would serve a request of `request` bytes, `rounded` to a block.

    `pool`, `small` and `stream` say from which pool. `block` is the gap it would take, -1 when none
    fits; then it takes `from_device` bytes from the device (0 otherwise), the least in an expandable
    segment. `largest_free` and `free` are those of the pool, for comparison.
    """

    request: int
    rounded: int
    pool: str
    small: bool
    stream: int
    block: int
    largest_free: int
    free: int
    from_device: int

    @property
    def fits(self) -> bool:
        """Whether a free block serves it."""
        return self.block >= 0

    @property
    def is_fragmented(self) -> bool:
        """Whether the pool has enough free bytes for it, but in no single piece."""
        return not self.fits and self.free >= self.rounded


def serve(
    layout: Layout,
    settings: Settings,
    request: int,
    stream: int = 0,
    private: str = DEFAULT_POOL,
) -> Service:
    """Return how a request is served on a stream, from the default pool or a `private` one."""
    rounded = round_size(request, settings)
    wanted = Pool(private, is_small(rounded), stream)
    gaps, tail = _gaps_of(layout, wanted)
    fitting = gaps[_fits(gaps, rounded, settings)]
    block = int(fitting.min()) if len(fitting) else -1
    return Service(
        request=request,
        rounded=rounded,
        pool=private,
        small=wanted.small,
        stream=stream,
        block=block,
        largest_free=int(gaps.max(initial=0)),
        free=int(gaps.sum()),
        from_device=0 if block >= 0 else _from_device(rounded, tail, settings),
    )


def _gaps_of(layout: Layout, pool: Pool) -> tuple[Array, int]:
    """Return the gaps of a pool, and the largest one at the end of an expandable range."""
    ranges = layout.ranges
    if pool not in ranges.pools:
        return layout.gap_bytes[:0], 0
    mine = ranges.pool[layout.gap_range] == list(ranges.pools).index(pool)
    gaps, row = layout.gap_bytes[mine], layout.gap_range[mine]
    reaches_end = layout.gap_start[mine] + gaps.astype(np.uint64) == ranges.end[row]
    return gaps, int(gaps[reaches_end & ranges.expandable[row]].max(initial=0))


def _fits(gaps: Array, rounded: int, settings: Settings) -> Array:
    """Return which gaps may serve a block: large ones are not broken up for small requests."""
    fits = gaps >= rounded
    if rounded < settings.max_split_size:
        return fits & (gaps < settings.max_split_size)
    return fits & (gaps < rounded + settings.max_non_split_rounding)


def _from_device(rounded: int, tail: int, settings: Settings) -> int:
    if not settings.expandable_segments:
        return segment_size(rounded, settings)
    page = page_size(is_small(rounded), settings)
    return -(-(rounded - min(tail, rounded)) // page) * page
