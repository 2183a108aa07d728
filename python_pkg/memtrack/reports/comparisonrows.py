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


def folded(found: Comparison) -> tuple[Array, Array]:
    """Return how many alike siblings each row stands for, itself included, and which rows are folded.

    Siblings that follow each other with the same class, fate and figures in their whole subtrees, such
    as the blocks of a transformer, are one line to readers: the first of them.
    """
    signature = _signatures(found)
    parent = [row.parent for row in found.rows]
    size = subtrees(parent)
    alike = np.ones(len(parent), dtype=np.int32)
    hidden = np.zeros(len(parent), dtype=bool)
    first: dict[int, int] = {}
    for row, above in enumerate(parent):
        before = first.get(above, -1)
        if before >= 0 and above >= 0 and signature[row] == signature[before]:
            alike[before] += 1
            hidden[row : row + size[row]] = True
        else:
            first[above] = row
    return alike, hidden


def _signatures(found: Comparison) -> list[int]:
    """Return a number for each row, equal where class, fate and figures of the subtrees are."""
    figures = [found.columns[column][side] for column in _BYTES for side in (0, 1)]
    own = zip(found.type, statuses(found).tolist(), *(one.tolist() for one in figures), strict=True)
    made = list(own)
    inside: list[list[int]] = [[] for _ in made]
    numbers: dict[object, int] = {}
    found_at = [0] * len(made)
    for row in range(len(made) - 1, -1, -1):
        found_at[row] = numbers.setdefault((made[row], tuple(inside[row])), len(numbers))
        above = found.rows[row].parent
        if above >= 0:
            inside[above].append(found_at[row])
    return found_at


def most_changed(found: Comparison, count: int, hidden: Array | None = None) -> Sequence[int]:
    """Return the rows of the `count` that changed most, and those around them, in order; none hidden.

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
        if hidden is not None and hidden[index]:
            continue
        while index >= 0 and index not in kept:
            kept.add(index)
            index = found.rows[index].parent
    return sorted(kept)


def changed_rows(found: Comparison, count: int, hidden: Array) -> Sequence[int]:
    """Return at most about `count` rows that changed, in order; none of those that are hidden."""
    status = statuses(found)
    moved = np.any([changes(found, column) != 0 for column in _BYTES], axis=0) | (status != 0)
    return [index for index in most_changed(found, count, hidden) if moved[index]]
