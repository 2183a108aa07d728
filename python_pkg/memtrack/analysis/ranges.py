"""Many ranges over one column at once: the largest value in each, the best range over each point.

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
    return values[where_largest(values, first, last)]


def where_largest(values: Array, first: Array, last: Array) -> Array:
    """Return the earliest place of the largest value in each range, both ends included.

    >>> where_largest(np.array([3, 9, 4, 4]), np.array([0, 2]), np.array([1, 3])).tolist()
    [1, 2]
    """
    if not len(first):
        return np.zeros(0, dtype=np.int64)
    edges = _distinct(np.concatenate((first, last + 1)))
    places = _places_of_most(values[: edges[-1]], edges[:-1])
    low, high = np.searchsorted(edges, first), np.searchsorted(edges, last + 1)
    level = _power_of_two(high - low)
    found = np.empty(len(first), dtype=np.int64)
    for k in range(int(level.max()) + 1):
        chosen = level == k
        found[chosen] = _earlier_of_larger(
            values, places[low[chosen]], places[high[chosen] - (1 << k)]
        )
        places = _earlier_of_larger(values, places[: -(1 << k)], places[1 << k :])
    return found


def _distinct(values: Array) -> Array:
    """Return the distinct values in order; by sorting, as np.unique's hash table is ten times slower."""
    ordered = np.sort(values)
    return np.asarray(ordered[np.diff(ordered, prepend=ordered[0] - 1) != 0])


def _places_of_most(values: Array, starts: Array) -> Array:
    """Return the earliest place of the largest value of each block that begins at `starts`."""
    most = np.maximum.reduceat(values, starts)
    lengths = np.diff(starts, append=len(values))
    tail = values[starts[0] :]
    equal = np.flatnonzero(tail == np.repeat(most, lengths)) + starts[0]
    return np.asarray(equal[np.searchsorted(equal, starts)])


def _earlier_of_larger(values: Array, left: Array, right: Array) -> Array:
    return np.where(values[left] >= values[right], left, right)


def smallest_cover(points: Array, start: Array, end: Array) -> Array:
    """Return for each of the sorted `points` the row of the smallest [start, end) around it.

    Of equally small ranges the later row is taken; -1 where no range covers the point.
    """
    low, high = np.searchsorted(points, start), np.searchsorted(points, end)
    rows = np.flatnonzero(low < high)
    rows = rows[np.lexsort((-rows, (end - start)[rows]))]
    covering: Array = np.append(rows, -1)[first_cover(len(points), low[rows], high[rows])]
    return covering


def first_cover(points: int, low: Array, high: Array) -> Array:
    """Return for each of `points` places the first range [low, high) around it, by its number.

    Ranges stand in order of preference, none empty; a place that none covers gets their count.
    """
    none = len(low)
    best = np.full(points, none, dtype=np.int64)
    if not none:
        return best
    level = _power_of_two(high - low)
    for k in range(int(level.max()), -1, -1):
        best = _pushed_down(best, 1 << (k + 1))
        # Numbers fall along the way, so that of several ranges the first is written last.
        ranks = np.flatnonzero(level == k)[::-1]
        own = np.full(points, none, dtype=np.int64)
        own[low[ranks]] = ranks
        right = np.full(points, none, dtype=np.int64)
        right[high[ranks] - (1 << k)] = ranks
        best = np.minimum(best, np.minimum(own, right))
    return best


def _pushed_down(best: Array, length: int) -> Array:
    """Hand what covers `length` points from i on to the two halves that begin at i and after it."""
    half = length // 2
    shifted: Array = best.copy()
    shifted[half:] = np.minimum(best[half:], best[:-half])
    return shifted


def _power_of_two(lengths: Array) -> Array:
    """Return the largest k with 2^k <= length, for lengths of at least 1."""
    return np.asarray(np.frexp(lengths)[1] - 1)
