"""Memory over a window of cuts, reduced to the points that bound each bucket.

Nothing is averaged: every point is a real cut, with exact bytes in every category.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.reserved import held_by, reserved, segments_of
from memtrack.analysis.running import layers_at
from memtrack.analysis.totals import CategoryLevels, allocated, category_levels, cut_times
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

BUCKETS = 1000
MOST_ALLOCATIONS = 20_000


@dataclass(frozen=True, slots=True)
class Timeline:
    """Points in order of their cuts, the first and last cut of the window and its peak among them.

    So is the earliest moment of the most reserved, where the allocator's segments tell it exactly.
    `by_category` is int64[points, Category] and sums to `allocated`. `layer` is the innermost that
    ran, -1 for none. `rows` are the allocations alive at a point at least, the largest if they are
    too many; `omitted` others have at most `omitted_bytes` together at any point.
    """

    cut: Array
    time_ns: Array
    allocated: Array
    by_category: Array
    layer: Array
    reserved: Array | None
    peak_point: int
    bucket_events: int
    rows: Array
    omitted: int
    omitted_bytes: int


def timeline(
    data: RecordingData, device: int, start: int = 0, end: int | None = None, buckets: int = BUCKETS
) -> Timeline:
    """Return the cuts of `[start, end]` with the least and most bytes in each of `buckets`."""
    last = data.cuts if end is None else end
    levels, categories = allocated(data, device), category_levels(data, device)
    return timeline_of(data, device, (start, last), buckets, levels, categories)


def timeline_of(
    data: RecordingData,
    device: int,
    window: tuple[int, int],
    buckets: int,
    levels: Array,
    categories: CategoryLevels,
    most_allocations: int = MOST_ALLOCATIONS,
) -> Timeline:
    """Return the timeline from the levels of a device that are already known."""
    first, last = window
    cut, bucket_events = extreme_cuts(levels[first : last + 1], buckets)
    cut = np.union1d(cut + first, _most_reserved(data, device, first, last))
    in_use = levels[cut]
    table = data.allocations
    mine = np.flatnonzero(table["device"] == device)
    start, end, size = (table[column][mine] for column in ("start", "end", "bytes"))
    rows, omitted, omitted_bytes = alive_at(cut, start, end, size, most_allocations)
    return Timeline(
        cut=cut,
        time_ns=cut_times(data, cut),
        allocated=in_use,
        by_category=categories.at(cut),
        layer=layers_at(data, cut),
        reserved=reserved(data, device, cut, levels),
        peak_point=int(np.argmax(in_use)),
        bucket_events=bucket_events,
        rows=mine[rows],
        omitted=omitted,
        omitted_bytes=omitted_bytes,
    )


def _most_reserved(data: RecordingData, device: int, first: int, last: int) -> Array:
    segments = segments_of(data, device)
    if not len(segments):
        return segments
    held = held_by(data, segments)[first : last + 1]
    return np.array([first + int(np.argmax(held))])


def extreme_cuts(levels: Array, buckets: int) -> tuple[Array, int]:
    """Return where `levels` is least and most in each bucket, with both ends, and the bucket's size.

    >>> extreme_cuts(np.array([0, 5, 2, 9, 1, 4]), 2)
    (array([0, 1, 3, 4, 5]), 3)
    """
    size = -(-len(levels) // buckets)
    rest = -len(levels) % size
    # The padding repeats the last value: the first of equals is found, so it is never chosen.
    table = np.concatenate((levels, np.repeat(levels[-1:], rest))).reshape(-1, size)
    offset = np.arange(len(table)) * size
    found = (offset + table.argmin(axis=1), offset + table.argmax(axis=1), [0, len(levels) - 1])
    return np.unique(np.concatenate(found)), size


def alive_at(
    cut: Array, start: Array, end: Array, size: Array, most: int
) -> tuple[Array, int, int]:
    """Return which lives hold at one of the sorted cuts, only the `most` largest of them.

    Then how many others there are, and the most bytes these have together at any of the cuts.
    """
    first = np.searchsorted(cut, start, side="right")
    after = np.searchsorted(cut, end, side="right")
    rows = np.flatnonzero(first < after)
    if len(rows) <= most:
        return rows, 0, 0
    largest = _largest(size[rows], most)
    kept, left = rows[largest], rows[~largest]
    together = np.zeros(len(cut) + 1, dtype=np.int64)
    np.add.at(together, first[left], size[left])
    np.subtract.at(together, after[left], size[left])
    return kept, len(left), int(np.cumsum(together).max())


def _largest(size: Array, most: int) -> Array:
    """Return which are the `most` largest sizes, of equals the first, without sorting them all."""
    if not most:
        return np.zeros(len(size), dtype=bool)
    least = np.partition(size, len(size) - most)[len(size) - most]
    chosen: Array = size > least
    chosen[np.flatnonzero(size == least)[: most - int(chosen.sum())]] = True
    return chosen
