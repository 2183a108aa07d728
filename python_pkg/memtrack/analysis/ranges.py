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
    found = np.full(len(first), -1, dtype=np.int64)
    if not len(first):
        return found
    edge: Array = np.zeros(len(values) + 1, dtype=bool)
    edge[first] = edge[last + 1] = True
    number = np.cumsum(edge) - 1
    places = _places_of_most(values, np.flatnonzero(edge))
    low, high, rows = number[first], number[last + 1], np.arange(len(first))
    # A tree over the blocks between edges, from its leaves up: a range takes a node where the pair
    # it belongs to is not whole, and is done once its ends meet, which short ranges do at once.
    while len(rows):
        left, right = low % 2 == 1, high % 2 == 1
        for side, node in ((left, low), (right, high - 1)):
            taken = rows[side]
            found[taken] = _better(values, found[taken], places[node[side]])
        low, high = (low + 1) // 2, high // 2
        open_ = low < high
        low, high, rows = low[open_], high[open_], rows[open_]
        whole = len(places) // 2 * 2
        places = _better(values, places[:whole:2], places[1:whole:2])
    return found


def _places_of_most(values: Array, edges: Array) -> Array:
    """Return the earliest place of the largest value between each two of the edges."""
    starts = edges[:-1]
    within = values[edges[0] : edges[-1]]
    most = np.repeat(np.maximum.reduceat(within, starts - edges[0]), np.diff(edges))
    equal = np.flatnonzero(within == most) + edges[0]
    return np.asarray(equal[np.searchsorted(equal, starts)])


def _better(values: Array, one: Array, other: Array) -> Array:
    """Return the place of the larger value, of equals the earlier; -1 is no place."""
    here, there = values[one], values[other]
    takes_other = (one < 0) | (there > here) | ((there == here) & (other < one))
    return np.where(takes_other, other, one)


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
