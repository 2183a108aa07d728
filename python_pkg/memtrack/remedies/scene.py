"""Blocks with their lives, as a remedy changes them; their peak, and a recording of them.

A scene is immutable: what changes it gives a new one, so that remedies can be put one on another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from memtrack.allocator.rules import MIN_BLOCK
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import LASTING, OLDER, Ground, at_event, cut_of

COLUMNS = ("start", "end", "bytes", "requested", "category", "layer", "call", "row", "stream")
"""`start` and `end` are positions, sizes bytes; `row` is the allocation it stands for, -1: added."""
STATES = (
    Category.PARAMETER,
    Category.BUFFER,
    Category.GRADIENT,
    Category.OPTIMIZER_STATE,
    Category.CAST_WEIGHT,
    Category.WORKSPACE,
    Category.COMMUNICATION,
)
"""Categories whose sizes do not depend on the batch."""


@dataclass(frozen=True)
class Scene:
    """The blocks of one device in a window of a run."""

    ground: Ground
    columns: Mapping[str, Array]

    @classmethod
    def of(cls, ground: Ground) -> Scene:
        """Return the blocks as they were."""
        table = ground.data.allocations
        inside = (table["start"] < ground.last) & (table["end"] >= ground.first)
        rows = np.flatnonzero(inside & (table["device"] == ground.device) & (table["bytes"] > 0))
        start, end = table["start"][rows], table["end"][rows]
        columns = {
            "start": np.where(start < ground.first, OLDER, at_event(start)),
            "end": np.where(end >= ground.last, LASTING, at_event(end)),
            "row": rows,
        }
        for name in ("bytes", "requested", "category", "layer", "call", "stream"):
            columns[name] = table[name][rows].astype(np.int64)
        columns["requested"] = np.where(
            columns["requested"] > 0, columns["requested"], columns["bytes"]
        )
        return cls(ground, columns)

    def __len__(self) -> int:
        return len(self["start"])

    def __getitem__(self, column: str) -> Array:
        return self.columns[column]

    # ------------------------------------------------------------------ what blocks are

    @cached_property
    def born_in(self) -> Array:
        """The PhaseKind each was made in, -1 before the window."""
        return self.ground.kind_at(self["start"])

    def of_category(self, *categories: Category) -> Array:
        """Return which blocks are of some categories."""
        return np.isin(self["category"], [int(one) for one in categories])

    @cached_property
    def is_saved(self) -> Array:
        """Which blocks autograd kept for backward."""
        return np.append(self.ground.is_saved, False)[self["row"]]

    def kept_by(self, kinds: Array) -> Array:
        """Return which blocks layers of some kinds keep for backward; `kinds` has a flag a layer."""
        data = self.ground.data
        layer = data.calls["layer"][data.saved["call"]]
        rows = data.saved["allocation"][kinds[layer]]
        found = np.zeros(len(data.allocations) + 1, dtype=bool)
        found[rows] = True
        return found[self["row"]]

    @cached_property
    def is_weight_shaped(self) -> Array:
        """Which are temporaries of backward of a parameter's size: gradients on their way."""
        sizes = np.fromiter(self.ground.parameter_sizes, dtype=np.int64)
        alike = np.isin(self["bytes"], sizes) & self.of_category(Category.TEMPORARY)
        alike &= ~self.ground.is_weightless[self["layer"]]
        return np.asarray(alike & (self.born_in == PhaseKind.BACKWARD))

    @cached_property
    def grows_with_batch(self) -> Array:
        """Which blocks are as large as the batch makes them."""
        of_model = self.of_category(*STATES) | self.is_weight_shaped
        in_step = (self.born_in == PhaseKind.FORWARD) | (self.born_in == PhaseKind.BACKWARD)
        of_batch = self.of_category(
            Category.ACTIVATION, Category.OUTPUT, Category.INPUT, Category.RECOMPUTED
        )
        between = (self.born_in == PhaseKind.OTHER) & ~self.of_category(Category.OTHER)
        return np.asarray(~of_model & (in_step | of_batch | between))

    # ------------------------------------------------------------------ changes

    def only(self, kept: Array) -> Scene:
        """Return the scene with some of its blocks."""
        return Scene(self.ground, {name: self[name][kept] for name in COLUMNS})

    def having(self, **columns: Any) -> Scene:
        """Return the scene with columns replaced; what then has no life is left out."""
        changed = Scene(self.ground, {**self.columns, **columns})
        alive = (changed["start"] < changed["end"]) & (changed["requested"] > 0)
        return changed if alive.all() else changed.only(alive)

    def resized(self, chosen: Array, factor: float | Array) -> Scene:
        """Return the scene with some blocks of `factor` times their requested bytes, rounded as on the device."""
        requested = np.where(chosen, self["requested"] * factor, self["requested"]).astype(np.int64)
        requested = np.where(chosen & (self["requested"] > 0), np.maximum(requested, 1), requested)
        size = np.where(chosen, self.rounded(requested), self["bytes"])
        return self.having(requested=requested, bytes=size)

    def rounded(self, requested: Array) -> Array:
        """Return what the device charges for requests."""
        if not self.ground.is_cached:
            return requested
        return np.asarray(-(-requested // MIN_BLOCK) * MIN_BLOCK)

    def ending(self, chosen: Array, position: Array | int) -> Scene:
        """Return the scene with some blocks gone at a position, if they were there longer."""
        end = np.where(chosen, np.minimum(self["end"], position), self["end"])
        return self.having(end=end)

    def lasting(self, chosen: Array, position: Array | int) -> Scene:
        """Return the scene with some blocks there until a position at least."""
        end = np.where(chosen, np.maximum(self["end"], position), self["end"])
        return self.having(end=end)

    def adding(self, **columns: Any) -> Scene:
        """Return the scene with more blocks: `start`, `end`, `requested` and what else is known of them."""
        start = np.atleast_1d(np.asarray(columns["start"], dtype=np.int64))
        more = {name: np.full(len(start), -1, dtype=np.int64) for name in COLUMNS}
        more["category"][:] = int(Category.TEMPORARY)
        more["stream"][:] = 0
        for name, values in columns.items():
            more[name] = np.broadcast_to(np.asarray(values, dtype=np.int64), start.shape)
        more["bytes"] = self.rounded(more["requested"])
        joined = {name: np.concatenate((self[name], more[name])) for name in COLUMNS}
        return Scene(self.ground, joined).having()

    # ------------------------------------------------------------------ answers

    @cached_property
    def edges(self) -> tuple[Array, Array, Array]:
        """Where something begins or ends: positions in order, which block, +1 or -1. Ends come first."""
        begins = np.flatnonzero(self["start"] > OLDER)
        ends = np.flatnonzero(self["end"] < LASTING)
        position = np.concatenate((self["end"][ends], self["start"][begins]))
        block = np.concatenate((ends, begins))
        sign = np.concatenate((np.full(len(ends), -1), np.ones(len(begins), dtype=np.int64)))
        order = np.argsort(position, kind="stable")
        return position[order], block[order], sign[order]

    @cached_property
    def levels(self) -> Array:
        """Bytes in use at the beginning and after each edge."""
        _, block, sign = self.edges
        older = int(self["bytes"][self["start"] <= OLDER].sum())
        return older + np.concatenate(([0], np.cumsum(sign * self["bytes"][block])))

    @property
    def peak(self) -> int:
        """Most bytes in use."""
        return int(self.levels.max())

    @cached_property
    def peak_position(self) -> int:
        """Where that is, the first time."""
        place = int(np.argmax(self.levels))
        return int(self.edges[0][place - 1]) if place else OLDER

    @property
    def peak_cut(self) -> int:
        """The cut of the recording nearest to it."""
        if self.peak_position <= OLDER:
            return self.ground.first
        return min(max(cut_of(self.peak_position), self.ground.first), self.ground.last)

    @property
    def peak_phase(self) -> PhaseKind:
        """What the loop was doing then."""
        kind = int(self.ground.kind_at(np.array([self.peak_position]))[0])
        return PhaseKind(kind) if kind >= 0 else PhaseKind.OTHER

    def alive_at(self, position: int) -> Array:
        """Return which blocks are there just after a position."""
        return np.asarray((self["start"] <= position) & (position < self["end"]))

    @cached_property
    def at_peak(self) -> Array:
        """Which blocks are there at the peak."""
        return self.alive_at(self.peak_position)
