"""Many ranges over one column at once: the largest value in each, the smallest range over each point.

Both are sparse tables over powers of two, one level at a time, so that no Python loop runs per
range or per value.
"""

from __future__ import annotations

import numpy as np

from memtrack.recording.tables import Array


def largest_in_ranges(values: Array, first: Array, last: Array) -> Array:
    """Return the largest of `values[first[i]]` to `values[last[i]]`, both included, for every i.

    >>> largest_in_ranges(np.array([3, 9, 4, 1]), np.array([0, 2]), np.array([1, 3])).tolist()
    [9, 4]
    """
    if not len(first):
        return np.zeros(0, dtype=values.dtype)
    edges = np.unique(np.concatenate((first, last + 1)))
    blocks = np.maximum.reduceat(values[: edges[-1]], edges[:-1])
    low, high = np.searchsorted(edges, first), np.searchsorted(edges, last + 1)
    level = _power_of_two(high - low)
    largest = np.empty(len(first), dtype=values.dtype)
    for k in range(int(level.max()) + 1):
        chosen = level == k
        largest[chosen] = np.maximum(blocks[low[chosen]], blocks[high[chosen] - (1 << k)])
        blocks = np.maximum(blocks[: -(1 << k)], blocks[1 << k :])
    return largest


def smallest_cover(points: Array, start: Array, end: Array) -> Array:
    """Return for each of the sorted `points` the row of the smallest [start, end) around it.

    Of equally small ranges the later row is taken; -1 where no range covers the point.
    """
    low, high = np.searchsorted(points, start), np.searchsorted(points, end)
    rows = np.flatnonzero(low < high)
    rows = rows[np.lexsort((-rows, (end - start)[rows]))]
    low, high = low[rows], high[rows]
    none = len(rows)
    best = np.full(len(points), none, dtype=np.int64)
    if none:
        level = _power_of_two(high - low)
        for k in range(int(level.max()), -1, -1):
            best = _pushed_down(best, 1 << (k + 1))
            # Ranks fall along the way, so that of several ranges the smallest is written last.
            ranks = np.flatnonzero(level == k)[::-1]
            own = np.full(len(points), none, dtype=np.int64)
            own[low[ranks]] = ranks
            right = np.full(len(points), none, dtype=np.int64)
            right[high[ranks] - (1 << k)] = ranks
            best = np.minimum(best, np.minimum(own, right))
    covering: Array = np.append(rows, -1)[best]
    return covering


def _pushed_down(best: Array, length: int) -> Array:
    """Hand what covers `length` points from i on to the two halves that begin at i and after it."""
    half = length // 2
    shifted: Array = best.copy()
    shifted[half:] = np.minimum(best[half:], best[:-half])
    return shifted


def _power_of_two(lengths: Array) -> Array:
    """Return the largest k with 2^k <= length, for lengths of at least 1."""
    return np.asarray(np.frexp(lengths)[1] - 1)
