"""What moved the peak: the bytes at both peaks by category and layer, whose changes sum to the whole."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.comparison.matching import LayerMatches
from memtrack.comparison.shapes import Tree
from memtrack.comparison.view import RunView

_MOST = 0.8
"""The part of a change that a group of layers must explain to be named for it."""
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


@dataclass(frozen=True, slots=True)
class PeakPart:
    """One category of one layer at both peaks; `a` and `b` are rows of the layers, -1 for none."""

    category: str
    a: int
    b: int
    before: int
    after: int

    @property
    def change(self) -> int:
        """Return the bytes after minus the bytes before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Mover:
    """The bytes by which one category moved the peak in the layers that most of it lies in.

    `where` is a path of A or of B, in which `*` stands for the numbers of `layers` like layers; it is
    "" where no group of layers has most of it. What the category moved elsewhere is a mover of its
    own, the `rest`.
    """

    category: str
    change: int
    where: str
    layers: int
    rest: bool = False


def pattern_of(path: str) -> str:
    """Return a path with `*` for its numbers: like layers of a list have the same.

    >>> pattern_of("gpt2.h.12.attn.c_attn")
    'gpt2.h.*.attn.c_attn'
    """
    return _NUMBER.sub("*", path)


def peak_parts(a: RunView, b: RunView, matches: LayerMatches) -> Sequence[PeakPart]:
    """Return what both peaks are made of, the largest change first; the changes sum to the peak's."""
    before, after = a.shares, b.shares
    keys = {(category, matches.back[row] if row >= 0 else -1, row) for category, row in after}
    for category, row in before:
        keys.add((category, row, matches.partner[row] if row >= 0 else -1))
    parts = [
        PeakPart(
            category,
            row,
            other,
            before.get((category, row), 0) if row >= 0 or other < 0 else 0,
            after.get((category, other), 0) if other >= 0 or row < 0 else 0,
        )
        for category, row, other in keys
    ]
    return sorted(parts, key=lambda one: (-abs(one.change), one.category, one.a, one.b))


def movers(parts: Sequence[PeakPart], a: Tree, b: Tree) -> Sequence[Mover]:
    """Return what moved the peak, the largest change first; the changes sum to the peak's."""
    by_category: dict[str, list[PeakPart]] = defaultdict(list)
    for part in parts:
        if part.change:
            by_category[part.category].append(part)
    found = []
    for category, group in by_category.items():
        change = sum(part.change for part in group)
        named = _named(category, group, change, a, b)
        found.append(named)
        if named.where:
            found.append(Mover(category, change - named.change, "", 0, rest=True))
    moved = [one for one in found if one.change]
    return sorted(moved, key=lambda one: (-abs(one.change), one.category, one.rest))


def _named(category: str, parts: Sequence[PeakPart], change: int, a: Tree, b: Tree) -> Mover:
    """Return the deepest group of like layers with most of a category's change, else all of it."""
    inside: dict[str, int] = defaultdict(int)
    members: dict[str, set[str]] = defaultdict(set)
    for part in parts:
        tree, row = (b, part.b) if part.b >= 0 else (a, part.a)
        while row >= 0:
            path = tree.path[row]
            pattern = pattern_of(path)
            inside[pattern] += part.change
            members[pattern].add(path)
            row = tree.parent[row]
    enough = [one for one, size in inside.items() if size * change > 0 and _most(size, change)]
    if not enough:
        return Mover(category, change, "", 0)
    # A path with the number itself says more than one with a star that stands for it alone.
    deepest = max(enough, key=lambda one: (one.count("."), abs(inside[one])))
    names = members[deepest]
    where = min(names) if len(names) == 1 else deepest
    return Mover(category, inside[deepest], where, len(names))


def _most(size: int, change: int) -> bool:
    return _MOST * abs(change) <= abs(size) <= abs(change) / _MOST
