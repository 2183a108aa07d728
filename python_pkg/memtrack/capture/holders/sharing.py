"""Which names lead to each storage: the nearest, whose it is, and the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import torch

from memtrack.capture.holders.walk import Walk
from memtrack.recording.tables import Array

_PASSES = 8
"""Rounds in which names are handed down; a chain that winds back more often is cut."""


class Sharing:
    """The roots that lead to each object that a storage was seen through."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._again = _Again(walk)
        self._places: dict[int, int] = {}
        self._bits: dict[int, int] = {}
        self._hand_down(self._above())

    def roots_of(self, numbers: Iterable[int]) -> list[int]:
        """Return the roots (places in `Walk.roots`) that lead to any of these objects."""
        bits = 0
        for number in numbers:
            bits |= self._bits.get(number, 0)
        return [root for root, place in self._places.items() if bits >> place & 1]

    def _bit(self, parent: int) -> int:
        root = -parent - 1
        return 1 << self._places.setdefault(root, len(self._places))

    def _above(self) -> list[int]:
        """Return everything that leads to a storage, in the order of numbers."""
        waiting = list({held.at for held in self._walk.held})
        above = set(waiting)
        while waiting:
            for parent in self._parents(waiting.pop()):
                if parent >= 0 and parent not in above:
                    above.add(parent)
                    waiting.append(parent)
        return sorted(above)

    def _parents(self, number: int) -> list[int]:
        return [self._walk.parents[number], *self._again.parents(number)]

    def _hand_down(self, above: list[int]) -> None:
        bits, parents = self._bits, {number: self._parents(number) for number in above}
        for _ in range(_PASSES):
            changed = False
            for number in above:
                found = bits.get(number, 0)
                for parent in parents[number]:
                    found |= bits.get(parent, 0) if parent >= 0 else self._bit(parent)
                if found != bits.get(number, 0):
                    bits[number] = found
                    changed = True
            if not changed:
                return


class _Again:
    """The references to objects that had been seen before, by the object they refer to."""

    def __init__(self, walk: Walk) -> None:
        child = np.frombuffer(walk.again_child, dtype="q") if walk.again_child else _NONE
        parent = np.frombuffer(walk.again_parent, dtype="q") if walk.again_parent else _NONE
        order = np.argsort(child, kind="stable")
        self._child, self._parent = child[order], parent[order]

    def parents(self, number: int) -> list[int]:
        first, last = np.searchsorted(self._child, [number, number + 1])
        return [int(one) for one in self._parent[first:last]]


_NONE: Array = np.zeros(0, dtype="q")


def by_storage(walk: Walk, device: torch.device) -> dict[int, list[int]]:
    """Return by storage of a device the objects it was seen through, the nearest first."""
    found: dict[int, list[int]] = defaultdict(list)
    for held in walk.held:
        if held.found.device == device:
            found[held.found.key].append(held.at)
    return found
