"""The layers of two recordings as rows of one table, in the order of the second with what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.comparison.matching import LayerMatches
from memtrack.comparison.shapes import Tree


@dataclass(frozen=True, slots=True)
class MergedRow:
    """A layer that is in A (row `a`), in B (row `b`) or in both; -1 for not there.

    `parent` is the index of the merged row above, -1 for a root; `depth` counts from 0.
    """

    a: int
    b: int
    parent: int
    depth: int


def merged_rows(a: Tree, b: Tree, matches: LayerMatches) -> Sequence[MergedRow]:
    """Return every layer of both once, in pre-order.

    A layer of A without a partner stands last in the partner of the nearest layer around it that has
    one; what was inside it and has a partner stands with that.
    """
    gone, gone_roots = _gone(a, matches)
    rows: list[MergedRow] = []
    waiting = [(root, -1, -1, 0) for root in reversed(gone_roots)]
    waiting += [(matches.back[root], root, -1, 0) for root in reversed(b.roots)]
    while waiting:
        row, other, parent, depth = waiting.pop()
        index = len(rows)
        rows.append(MergedRow(row, other, parent, depth))
        left = gone.get(row, ())
        waiting += [(one, -1, index, depth + 1) for one in reversed(left)]
        inside = b.children[other] if other >= 0 else ()
        waiting += [(matches.back[one], one, index, depth + 1) for one in reversed(inside)]
    return rows


def _gone(a: Tree, matches: LayerMatches) -> tuple[dict[int, list[int]], list[int]]:
    """Return the layers without a partner below each layer of A, and those with none above them."""
    below: dict[int, list[int]] = {}
    roots = []
    for row in range(len(a)):
        if matches.partner[row] >= 0:
            continue
        above = a.parent[row]
        if above < 0:
            roots.append(row)
        else:
            below.setdefault(above, []).append(row)
    return below, roots
