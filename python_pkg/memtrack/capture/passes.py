"""Which forward passes are watched in detail.

Where the allocator's own history tells what was allocated, a pass that repeats earlier ones needs
no look at what autograd saves: `repeats` finds that it allocated the same, and takes over what is
known. Looking costs a launch-bound model a fifth of its time, so it is done for the first passes of
each kind: the same model, the same shapes, the same modes.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any

import numpy as np
import torch

from memtrack.capture.moments import Moments
from memtrack.capture.tensors import shape_of, tensors_in
from memtrack.recording.tables import Array

DETAILED = 3
"""Passes of a kind watched in detail: memory is steady from the second on, and one may be disturbed."""


class Passes:
    """Tells whether the pass that begins is looked at in detail, and logs the passes."""

    def __init__(self, moments: Moments, always: bool) -> None:
        self._moments = moments
        self._always = always
        self._seen: Counter[tuple[Any, ...]] = Counter()
        self._kinds: dict[tuple[Any, ...], int] = {}
        self._log = array("q")

    def begin(self, root: int, training: bool, args: Any, kwargs: Any) -> bool:
        """A root's forward begins outside any other. Return whether it is watched in detail."""
        if self._always:
            return True
        modes = (torch.is_grad_enabled(), training, torch.is_autocast_enabled())
        inputs = [*tensors_in(args), *tensors_in(kwargs)]
        shapes = tuple((shape_of(tensor), tensor.dtype) for tensor in inputs)
        kind = (root, modes, shapes)
        self._seen[kind] += 1
        detailed = self._seen[kind] <= DETAILED
        number = self._kinds.setdefault(kind, len(self._kinds))
        self._log.extend((self._moments.now_ns(), number, detailed))
        return detailed

    def columns(self) -> dict[str, Array]:
        """Return the passes in order: `start_ns`, `kind`, `detailed`."""
        values = np.array(self._log, dtype="i8")
        rows = values[: len(values) // 3 * 3].reshape(-1, 3)
        return {name: rows[:, place] for place, name in enumerate(("start_ns", "kind", "detailed"))}
