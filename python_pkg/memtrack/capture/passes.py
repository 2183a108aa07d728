"""Which forward passes are watched: all of them, or only those that do something new.

Where the allocator's own history tells what was allocated, a pass that repeats earlier ones needs
no hooks at all: `repeats` finds that it allocated the same, and takes over what is known. Hooks cost
a launch-bound model a third of its time, so they are there until passes of a kind (the same model,
the same shapes, the same modes) agree in what they allocate, and again when one does not.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from memtrack.capture.moments import Moments
from memtrack.capture.tensors import shape_of, tensors_in
from memtrack.recording.tables import Array

AGREEMENTS = 2
"""Watched passes that allocated just like the one before, until passes of that kind go unwatched."""
Counts = tuple[int, int]
_LOGGED = ("start_ns", "kind", "watched")


@dataclass(slots=True)
class _Kind:
    """What passes of one kind have done; `left` agreements are wanted still."""

    number: int
    left: int = AGREEMENTS
    allocated: Counts | None = None


class Passes:
    """Decides whether the pass that begins is watched, and logs the passes.

    `counts` tells how many allocations there have been and of how many bytes together; it is asked
    at the ends of a pass, from its forward to the end of its backward. None where every pass is
    watched.
    """

    def __init__(self, moments: Moments, counts: Callable[[], Counts] | None) -> None:
        self._moments = moments
        self._counts = counts
        self._kinds: dict[tuple[Any, ...], _Kind] = {}
        self._current: _Kind | None = None
        self._before: Counts = (0, 0)
        self._watching = True
        self._log = array("q")

    def begin(self, root: int, training: bool, args: Any, kwargs: Any) -> bool:
        """A forward of a root begins outside any other. Return whether it is watched."""
        if self._counts is None:
            return True
        if self._current is not None:  # no backward came: nothing ends such a pass unwatched
            self._current.left = AGREEMENTS
        modes = (torch.is_grad_enabled(), training, torch.is_autocast_enabled())
        inputs = [*tensors_in(args), *tensors_in(kwargs)]
        key = (root, modes, *((shape_of(tensor), tensor.dtype) for tensor in inputs))
        kind = self._kinds.setdefault(key, _Kind(len(self._kinds)))
        self._current, self._before = kind, self._counts()
        self._watching = kind.left > 0
        self._log.extend((self._moments.now_ns(), kind.number, self._watching))
        return self._watching

    def backward_ended(self) -> None:
        """The pass under way has had its backward: it repeats the one before, or is new."""
        kind, self._current = self._current, None
        if kind is None or self._counts is None:
            return
        counts = self._counts()
        allocated = (counts[0] - self._before[0], counts[1] - self._before[1])
        if allocated == kind.allocated:
            kind.left = max(0, kind.left - 1)
        else:
            kind.left = AGREEMENTS
        if self._watching:
            kind.allocated = allocated

    def forget(self) -> None:
        """An exception or the end of a cell has cut the pass short."""
        self._current = None

    def columns(self) -> dict[str, Array]:
        """Return the passes in order: `start_ns`, `kind`, `watched`."""
        values = np.array(self._log, dtype="i8")
        width = len(_LOGGED)
        rows = values[: len(values) // width * width].reshape(-1, width)
        return {name: rows[:, place] for place, name in enumerate(_LOGGED)}
