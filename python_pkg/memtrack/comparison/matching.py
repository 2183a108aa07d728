"""Which layer of one recording is which of another: by name, and by structure where names changed.

#### How
From the roots down, children of a matched pair are matched by name, what is wrapped (by DDP, FSDP, LoRA,
`torch.compile`, …) with what it was before; those left by equal structure, in order (a block was
renamed); those left by class and place (a block was changed and renamed). Subtrees without a partner
after that are looked for anywhere in the other tree by their structure (a block was moved). What still
has none was added or removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memtrack.comparison.shapes import WRAPPERS, Tree, tree_of
from memtrack.recording import RecordingData

SAME, RETYPED, RENAMED, MOVED, ALIKE = "same", "retyped", "renamed", "moved", "alike"
"""Same name and class; same name, another class; same structure under another name; the same
elsewhere; another name and partly another structure, in the same place."""

_SURE = {SAME: 1.0, RETYPED: 0.8, RENAMED: 0.95, MOVED: 0.9, ALIKE: 0.5}
_ONE_OF_SEVERAL = 0.75
"""How sure a match by structure is where several have the same, relative to the only one."""
_PLACE_ALONE = 0.7
"""How sure, relative to `ALIKE`, where only class and order agree and parameters do not."""
_MOST_WRAPPERS = 5
"""Wrappers around one layer that are looked into."""


@dataclass(frozen=True, slots=True)
class LayerMatches:
    """For every layer of A its partner in B, -1 for none, how it was found and how sure that is.

    `partner` and `back` are rows; `sure` is between 0 and 1, 0 without a partner; `how` is `same`,
    `retyped`, `renamed`, `moved`, `alike` or "". `removed` and `added` are the rows of the topmost
    layers of A and of B that have no partner and none of whose layers inside has one.
    """

    partner: Sequence[int]
    back: Sequence[int]
    how: Sequence[str]
    sure: Sequence[float]
    removed: Sequence[int]
    added: Sequence[int]

    def changed_names(self) -> list[int]:
        """Return the topmost rows of A whose partner was found other than by its name."""
        return [row for row, how in enumerate(self.how) if how in (RENAMED, MOVED, ALIKE)]


def match_layers(a: RecordingData, b: RecordingData) -> LayerMatches:
    """Return which layer of `b` each layer of `a` is, in time linear in the number of layers."""
    return match_trees(tree_of(a), tree_of(b))


def match_trees(a: Tree, b: Tree) -> LayerMatches:
    """Return which layer of one tree is which of another."""
    found = _Matching(a, b)
    found.roots()
    found.anywhere()
    return LayerMatches(
        partner=found.partner,
        back=found.back,
        how=found.how,
        sure=found.sure,
        removed=_alone(a, found.partner),
        added=_alone(b, found.back),
    )


class _Matching:
    """Partners found so far."""

    def __init__(self, a: Tree, b: Tree) -> None:
        self.a, self.b = a, b
        self.partner, self.back = [-1] * len(a), [-1] * len(b)
        self.how, self.sure = [""] * len(a), [0.0] * len(a)

    def roots(self) -> None:
        """Match the roots, and all below them; a wrapper is no part of the model."""
        a, b = self.a.roots, self.b.roots
        if len(a) == len(b) == 1:
            # A label is the name of a variable: a model is the same one under another.
            row, other = a[0], b[0]
            if self.a.type[row] != self.b.type[other]:
                row, other = self._inside_wrappers(row, other)
            how = SAME if (row, other) == (a[0], b[0]) else MOVED
            self._below(*self._pair(row, other, how, 1.0))
        else:
            self._children(a, b, 1.0)

    def _below(self, row: int, other: int, sure: float) -> None:
        """Match everything inside a matched pair; `sure` is how sure the pair is."""
        waiting = [(row, other, sure)]
        while waiting:
            row, other, sure = waiting.pop()
            waiting += self._children(self.a.children[row], self.b.children[other], sure, wait=True)

    def _children(
        self, rows: Sequence[int], others: Sequence[int], sure: float, wait: bool = False
    ) -> list[tuple[int, int, float]]:
        """Match two lists of children; return the pairs whose insides are still to be matched."""
        pairs = [
            *self._unchanged(rows, others, sure),
            *self._by_name(*self._changed(rows, others), sure),
            *self._by(self.a.anonymous, self.b.anonymous, rows, others, RENAMED, sure),
            *self._by_name(rows, others, sure),
            *self._by(self.a.own, self.b.own, rows, others, ALIKE, sure),
            *self._by(self.a.type, self.b.type, rows, others, ALIKE, sure * _PLACE_ALONE),
        ]
        if not wait:
            for row, other, certain in pairs:
                self._below(row, other, certain)
        return pairs

    def _unchanged(
        self, rows: Sequence[int], others: Sequence[int], sure: float
    ) -> Iterable[tuple[int, int, float]]:
        """Match where both name and structure are equal."""
        alike = {(self.b.name[other], self.b.anonymous[other]): other for other in others}
        for row in rows:
            other = alike.get((self.a.name[row], self.a.anonymous[row]), -1)
            if other >= 0 and self.partner[row] < 0 and self.back[other] < 0:
                yield self._pair(row, other, SAME, sure)

    def _changed(self, rows: Sequence[int], others: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return what is not in the other list unchanged under another name.

        In a list into which something was put, every name behind it stands for another layer.
        """
        rows = [row for row in rows if self.partner[row] < 0]
        others = [other for other in others if self.back[other] < 0]
        mine = {self.a.anonymous[row] for row in rows}
        theirs = {self.b.anonymous[other] for other in others}
        return (
            [row for row in rows if self.a.anonymous[row] not in theirs],
            [other for other in others if self.b.anonymous[other] not in mine],
        )

    def _by_name(
        self, rows: Sequence[int], others: Sequence[int], sure: float
    ) -> Iterable[tuple[int, int, float]]:
        """Match what is left by name."""
        named = {self.b.name[other]: other for other in others if self.back[other] < 0}
        for row in rows:
            other = named.get(self.a.name[row], -1)
            if self.partner[row] >= 0 or other < 0:
                continue
            if self.a.type[row] == self.b.type[other]:
                yield self._pair(row, other, SAME, sure)
                continue
            pair = self._inside_wrappers(row, other)
            yield self._pair(*pair, RETYPED if pair == (row, other) else MOVED, sure)

    def _inside_wrappers(self, row: int, other: int) -> tuple[int, int]:
        """Return two layers of different classes without what one of them, or each, is wrapped in."""
        a, b = self.a, self.b
        inside = _wrapped(b, other, a.type[row], a.anonymous[row])
        if inside >= 0:
            return row, inside
        inside = _wrapped(a, row, b.type[other], b.anonymous[other])
        if inside >= 0:
            return inside, other
        return _unwrapped(a, row), _unwrapped(b, other)

    def _by(
        self,
        keys: Sequence[object],
        other_keys: Sequence[object],
        rows: Iterable[int],
        others: Iterable[int],
        how: str,
        sure: float,
    ) -> Iterable[tuple[int, int, float]]:
        """Match what is left of two lists where keys are equal, in order."""
        free: dict[object, list[int]] = defaultdict(list)
        for other in others:
            if self.back[other] < 0:
                free[other_keys[other]].append(other)
        for group in free.values():
            group.reverse()
        left = [row for row in rows if self.partner[row] < 0]
        several = _more_than_once(left, keys.__getitem__)
        for row in left:
            group = free.get(keys[row], [])
            if group:
                only = len(group) == 1 and keys[row] not in several
                yield self._pair(row, group.pop(), how, sure * (1.0 if only else _ONE_OF_SEVERAL))

    def anywhere(self) -> None:
        """Match subtrees that have no partner with equal ones elsewhere, the largest first.

        Layers without parameters are too alike to be looked for; they go with what they are in.
        """
        free: dict[bytes, list[int]] = defaultdict(list)
        for other in reversed(range(len(self.b))):
            if self.back[other] < 0:
                free[self.b.anonymous[other]].append(other)
        row = 0
        while row < len(self.a):
            group = free.get(self.a.anonymous[row], []) if self.partner[row] < 0 else []
            while group and self.back[group[-1]] >= 0:
                group.pop()
            if group and self.a.weight(row) > 0:
                several = len(group) > 1
                sure = _ONE_OF_SEVERAL if several else 1.0
                pair = self._pair(row, group.pop(), MOVED, sure)
                self._below(*pair)
                row += self.a.subtree[row]
            else:
                row += 1

    def _pair(self, row: int, other: int, how: str, sure: float) -> tuple[int, int, float]:
        certain = round(_SURE[how] * sure, 4)
        self.partner[row], self.back[other] = other, row
        self.how[row], self.sure[row] = how, certain
        return row, other, certain


def _wrapped(tree: Tree, row: int, kind: str, structure: bytes) -> int:
    """Return the layer of a class that a layer wraps, -1 for none: LoRA and FSDP wrap every block.

    It is kept under a wrapper's name, is the only one there, or has just the `structure` looked for.
    """
    for _ in range(_MOST_WRAPPERS):
        inside = tree.children[row]
        only = len(inside) == 1 and tree.elements[row] == 0
        kept = [one for one in inside if only or tree.name[one] in WRAPPERS]
        for one in inside:
            is_kept = one in kept or tree.anonymous[one] == structure
            if is_kept and tree.type[one] == kind:
                return one
        if len(kept) != 1:
            return -1
        row = kept[0]
    return -1


def _unwrapped(tree: Tree, row: int) -> int:
    """Return the layer inside wrappers that hold one layer and nothing else, itself without any."""
    inside = tree.children[row]
    while len(inside) == 1 and tree.name[inside[0]] in WRAPPERS and tree.elements[row] == 0:
        row = inside[0]
        inside = tree.children[row]
    return row


def _more_than_once(rows: Iterable[int], key: Callable[[int], object]) -> set[object]:
    count = Counter(map(key, rows))
    return {one for one, times in count.items() if times > 1}


def _alone(tree: Tree, partner: Sequence[int]) -> list[int]:
    """Return the topmost rows in whose whole subtree nothing has a partner."""
    taken = [partner[row] >= 0 for row in range(len(tree))]
    for row in reversed(range(len(tree))):
        above = tree.parent[row]
        if above >= 0 and taken[row]:
            taken[above] = True
    return [
        row
        for row in range(len(tree))
        if not taken[row] and (tree.parent[row] < 0 or taken[tree.parent[row]])
    ]
