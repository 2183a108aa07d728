"""What storages followed one by one are for: the names that outrank others are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from memtrack.capture.blocks import Blocks, plain_tensors
from memtrack.capture.hindsight import PRECEDENCE
from memtrack.capture.moments import Moments
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import Category
from memtrack.recording.tables import Array

NONE = -1
FOREIGN_RANK = PRECEDENCE[Category.GRADIENT]
"""A parameter nobody named outranks only what has no name."""


class StorageNames:
    """Names rows of `Blocks`, and notes what autograd saves."""

    def __init__(self, builder: RecordingBuilder, blocks: Blocks, moments: Moments) -> None:
        self._table = builder["allocations"]
        self._strings = builder.strings
        self._saved = builder["saved"]
        self._blocks = blocks
        self._moments = moments
        self._ranks: dict[int, int] = {}
        self._targets: list[tuple[int, int]] = []
        self._saves: set[tuple[int, int]] = set()

    def claim(
        self, tensor: torch.Tensor, category: Category, layer: int = NONE, name: str = ""
    ) -> None:
        """Name what a tensor's storage is for, unless it is known for something that outranks it."""
        rank = PRECEDENCE[category]
        if self._ranks.get(self._blocks.row_of(tensor), 0) >= rank:
            return
        for plain in plain_tensors(tensor):
            row = self._blocks.sight(plain)
            if row < 0 or self._ranks.get(row, 0) >= rank or self._is_made_by_layer(row, category):
                continue
            self._ranks[row] = rank
            values = {"category": int(category)}
            if layer >= 0 or category is not Category.OUTPUT:
                values["layer"] = layer
            if name:
                values["name"] = self._strings.add(name)
            self._table.set(row, **values)

    def claim_foreign(self, parameter: torch.Tensor) -> None:
        """Name a parameter of a model that runs untracked; its own model may name it better."""
        for plain in plain_tensors(parameter):
            row = self._blocks.sight(plain)
            if row >= 0 and row not in self._ranks:
                self._ranks[row] = FOREIGN_RANK
                self._table.set(row, category=int(Category.PARAMETER))

    def save(self, tensor: torch.Tensor, call: int, forward_ns: int) -> None:
        """Note that autograd keeps a tensor for `call`.

        `forward_ns` is when the forward before it began, for a constant that no layer made: it may
        be the target of the loss. Else -1.
        """
        for plain in plain_tensors(tensor):
            row = self._blocks.sight(plain)
            if row < 0:
                continue
            if forward_ns >= 0:
                self._targets.append((row, forward_ns))
            if (call, row) not in self._saves:
                self._saves.add((call, row))
                self._saved.append((call, row, self._moments.cut()))

    def target_candidates(self) -> tuple[Array, Array]:
        """Return constants that a loss keeps: their rows, and when the forward before it began."""
        rows, times = zip(*self._targets, strict=True) if self._targets else ((), ())
        return np.array(rows, dtype="i8"), np.array(times, dtype="i8")

    def owner(self, parameter: Any) -> tuple[int, str]:
        """Return the layer and name of a parameter by its storage."""
        for plain in plain_tensors(parameter):
            row = self._blocks.row_of(plain)
            if row >= 0 and self._table.get(row, "category") == Category.PARAMETER:
                name = self._table.get(row, "name")
                return self._table.get(row, "layer"), self._strings.get(name)
        return NONE, ""

    def _is_made_by_layer(self, row: int, category: Category) -> bool:
        """Tell whether a batch is what another tracked model has made: its output, not a batch."""
        return category is Category.INPUT and self._table.get(row, "call") >= 0
