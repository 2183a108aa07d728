"""From names to everything they keep alive: breadth first, so that each object has its shortest chain.

`gc.get_referents` gives what an object refers to without running any code of its type. Objects are
numbers here, in the order they were seen; each knows the number of the object it was first seen
from, and further references are kept aside. A walk holds all that it has seen: it is used inside one
call and closed.
"""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

import torch

from memtrack.capture.holders.graphs import behind_tensor, inside_node
from memtrack.capture.holders.kinds import (
    ATOM,
    CLASS,
    FRAME,
    MODULE,
    NODE,
    STORAGE,
    TENSOR,
    THING,
    Kinds,
)
from memtrack.capture.holders.storages import Found, found_on, storages_of

NOT_ENTERED = -1
_PATIENCE = 3
_LOOKS = 1024
"""Objects between two looks at the clock: well below a millisecond."""


class Root(NamedTuple):
    """A name and what it stands for; `kind` is of `diagnosis/holdings.py`."""

    kind: str
    name: str
    value: Any


class Held(NamedTuple):
    """A storage seen through the object of number `at`."""

    at: int
    found: Found


class Walk:
    """A search for what is on some devices, of at most `limit_s` seconds of this thread.

    Where other threads and programs are busy it may take `_PATIENCE` times as long by the clock.
    `barriers` are objects that are not entered, such as the namespaces that have names of their own.
    """

    def __init__(
        self, devices: Sequence[torch.device], limit_s: float, barriers: Iterable[Any]
    ) -> None:
        self._devices = devices
        self._deadline = time.thread_time() + limit_s
        self._latest = time.perf_counter() + _PATIENCE * limit_s
        self._barriers = list(barriers)
        self._number: dict[int, int] = {id(one): NOT_ENTERED for one in self._barriers}
        self._kinds = Kinds()
        self._next = 0
        self._behind: list[tuple[Any, int]] = []
        self._in_graphs = False
        self.roots: list[Root] = []
        self.objects: list[Any] = []
        self.parents = array("q")
        self.again_child, self.again_parent = array("q"), array("q")
        """References to objects seen before: (object, who refers to it too)."""
        self.held: list[Held] = []
        self.classes: list[type] = []
        self.first_in_graphs: list[int] = []
        """Of each stage the number of its first object that only autograd graphs lead to."""
        self.stage_ends: list[int] = []
        self.users_end = 0
        """Objects of lower numbers are kept alive by variables of the user's."""
        self.cut_short = False

    def stage(self, roots: Iterable[Root]) -> None:
        """Look at all that `roots` keep alive and no stage before did; graphs of autograd last."""
        self._in_graphs = False
        for root in roots:
            self.roots.append(root)
            self._look(root.value, -len(self.roots))
        self._drain()
        self._in_graphs = True
        self.first_in_graphs.append(len(self.objects))
        behind, self._behind = self._behind, []
        for node, parent in behind:
            self._look(node, parent)
        self._drain()
        self.stage_ends.append(len(self.objects))

    def __enter__(self) -> Walk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all that was seen."""
        for seen in (self.objects, self.held, self.roots, self.classes, self._barriers):
            seen.clear()
        self._number.clear()
        self._behind.clear()

    def number_of(self, thing: Any) -> int:
        """Return the number of an object, NOT_ENTERED if it was not seen."""
        return self._number.get(id(thing), NOT_ENTERED)

    def unseen(self) -> Iterator[torch.Tensor]:
        """Yield the tensors on the devices that Python knows and no stage came upon."""
        kinds, numbers = self._kinds, self._number
        for thing in gc.get_objects():
            if kinds[type(thing)] != TENSOR or id(thing) in numbers:
                continue
            if next(storages_of(thing, self._devices), None) is not None:
                yield thing

    def is_late(self) -> bool:
        """Tell whether the time is up."""
        if time.thread_time() > self._deadline or time.perf_counter() > self._latest:
            self.cut_short = True
        return self.cut_short

    def _look(self, thing: Any, parent: int) -> None:
        kind = self._kinds[type(thing)]
        if kind != ATOM:
            self._see(thing, kind, parent)

    def _drain(self) -> None:
        """Look into one object after the other. Tuned: a million of them are to be seen in a second."""
        objects, kinds, numbers = self.objects, self._kinds, self._number
        parents, referents, known = self.parents, gc.get_referents, self._number.get
        while self._next < len(objects):
            at = self._next
            if not at % _LOOKS and self.is_late():
                # Not entered, but numbered: their names stay true.
                self._next = len(objects)
                break
            self._next = at + 1
            thing = objects[at]
            kind = kinds[type(thing)]
            inside = referents(thing) if kind == THING else self._inside(thing, kind)
            for child in inside:
                kind = kinds[type(child)]
                if not kind:
                    continue
                key = id(child)
                number = known(key)
                if number is None and kind == THING:
                    numbers[key] = len(objects)
                    objects.append(child)
                    parents.append(at)
                elif number != NOT_ENTERED:
                    self._see(child, kind, at)

    def _see(self, thing: Any, kind: int, parent: int) -> None:
        """Number an object that `parent` refers to, or note that it does so too."""
        number = self._number.get(id(thing))
        if number is None:
            if kind >= NODE and not self._may_enter(thing, kind, parent):
                return
            number = self._number[id(thing)] = len(self.objects)
            self.objects.append(thing)
            self.parents.append(parent)
            if kind in (TENSOR, STORAGE):
                self._note(thing, kind, number)
        elif number >= 0:
            self.again_child.append(number)
            self.again_parent.append(parent)

    def _may_enter(self, thing: Any, kind: int, parent: int) -> bool:
        if kind == NODE and not self._in_graphs:
            self._behind.append((thing, parent))
            return False
        if kind == CLASS and parent >= 0:
            self._number[id(thing)] = NOT_ENTERED
            self.classes.append(thing)
            return False
        return kind != MODULE

    def _note(self, thing: Any, kind: int, number: int) -> None:
        find = storages_of if kind == TENSOR else found_on
        self.held += [Held(number, found) for found in find(thing, self._devices)]

    def _inside(self, thing: Any, kind: int) -> Iterable[Any]:
        """Return what an object that is no mere container refers to."""
        if kind == TENSOR:
            return [*gc.get_referents(thing), *behind_tensor(thing)]
        if kind == NODE:
            return [*gc.get_referents(thing), *inside_node(thing)]
        if kind == FRAME:
            # Who called it, is not held by name but by the call itself.
            callers = (FrameType,)
            return [one for one in gc.get_referents(thing) if type(one) not in callers]
        return gc.get_referents(thing)
