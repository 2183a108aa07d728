"""The rows of a comparison as readers see them: how each was matched, and those that changed most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtrack.comparison import Comparison
from memtrack.comparison.matching import ALIKE, MOVED, RENAMED, RETYPED, SAME
from memtrack.recording.tables import Array

ADDED, REMOVED = 5, 6
STATUS = {SAME: 0, RETYPED: 1, RENAMED: 2, MOVED: 3, ALIKE: 4}
"""How a row was matched, as payloads have it; `ADDED` and `REMOVED` are in one run alone."""
AT_PEAK = "total_at_peak"
_BYTES = (
    AT_PEAK,
    "total_saved",
    "total_parameters",
    "total_buffers",
    "total_gradients",
    "total_optimizer",
)


def statuses(found: Comparison) -> Array:
    """Return the status of each merged row, uint8."""
    how = found.matches.how
    codes = [
        ADDED if row.a < 0 else REMOVED if row.b < 0 else STATUS[how[row.a]] for row in found.rows
    ]
    return np.array(codes, dtype=np.uint8)


def sureness(found: Comparison) -> Array:
    """Return how sure each match is, float64 between 0 and 1; 1 where there is none."""
    sure = found.matches.sure
    return np.array([1.0 if min(row.a, row.b) < 0 else sure[row.a] for row in found.rows])


def changes(found: Comparison, column: str) -> Array:
    """Return after minus before of a column, int64; what is not there counts as nothing."""
    before, after = found.columns[column]
    return np.maximum(after, 0) - np.maximum(before, 0)


def subtrees(parent: Sequence[int]) -> Array:
    """Return how many rows each subtree has, itself included, from the row above each (-1: none)."""
    count = np.ones(len(parent), dtype=np.int32)
    for row in range(len(parent) - 1, -1, -1):
        if parent[row] >= 0:
            count[parent[row]] += count[row]
    return count


def most_changed(found: Comparison, count: int) -> Sequence[int]:
    """Return the rows of the `count` that changed most, and those around them, in order.

    By the largest change of any bytes, the shallower first of equals; rows that were added, removed or
    found under another name come before those that are as they were.
    """
    if not len(found.rows):
        return ()
    largest = np.max([np.abs(changes(found, column)) for column in _BYTES], axis=0)
    status, depth = statuses(found), np.array([row.depth for row in found.rows])
    order = np.lexsort((depth, status == 0, -largest))
    kept: set[int] = set()
    for index in order.tolist():
        if len(kept) >= count:
            break
        while index >= 0 and index not in kept:
            kept.add(index)
            index = found.rows[index].parent
    return sorted(kept)


def changed_rows(found: Comparison, count: int) -> Sequence[int]:
    """Return at most about `count` rows in which anything changed, in order; none where all is as before."""
    status = statuses(found)
    moved = np.any([changes(found, column) != 0 for column in _BYTES], axis=0) | (status != 0)
    return [index for index in most_changed(found, count) if moved[index]]
