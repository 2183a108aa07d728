"""Where the bytes of one device are at one moment: parts that sum to the whole device.

Categories sum to what is allocated; with the cache they sum to what is reserved, with the context
and the rest of the process to what the driver tells of the process, with the others to what is in
use, and with what is free to the device. At a sample these are the very figures that were read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.parts import DRAW_ORDER, ESTIMATED, MEASURED, Part, cache_part, tensor_parts
from memtrack.analysis.surroundings import Surroundings, surroundings
from memtrack.analysis.totals import CategoryLevels, alive, allocated, category_levels
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

__all__ = ["DRAW_ORDER", "Ledger", "Part", "ledger", "ledger_of"]

_ALLOCATOR = frozenset({*(category.id for category in DRAW_ORDER), "cache"})
_PROCESS = _ALLOCATOR | {"context", "process"}


@dataclass(frozen=True, slots=True)
class Ledger:
    """Parts in draw order, none of them 0, which sum to `total`.

    `rounding` is how much of `allocated` was charged beyond what was asked for.
    """

    total: int
    allocated: int
    parts: Sequence[Part]
    rounding: int = 0

    @property
    def reserved(self) -> int:
        """Bytes of tensors and cache: what the allocator held."""
        return sum(part.bytes for part in self.parts if part.id in _ALLOCATOR)

    @property
    def process(self) -> int:
        """Bytes known to be this process's; its context is not among them where it is `outside`."""
        return sum(part.bytes for part in self.parts if part.id in _PROCESS)


def ledger(data: RecordingData, device: int, cut: int) -> Ledger:
    """Return the ledger of a device at a cut.

    Between samples what surrounds the allocator is taken to be as at the last one, an estimate. What
    no sample tells is left out: with nothing known of other processes, their memory is part of what
    counts as free. Where all in use is known but not what is this process's, context and other
    processes are one part, `outside`.
    """
    return ledger_of(data, device, cut, allocated(data, device), category_levels(data, device))


def ledger_of(
    data: RecordingData, device: int, cut: int, levels: Array, categories: CategoryLevels
) -> Ledger:
    """Return the ledger from the levels of a device that are already known."""
    rows = alive(data, device, cut)
    parts = tensor_parts(data, rows, categories.at(np.array([cut]))[0])
    around = surroundings(data, device, cut, levels)
    if around.cache > 0:
        exact = data.facts.source == "allocator" and around.fits
        certainty = MEASURED if exact else ESTIMATED
        parts.append(cache_part(data, device, cut, around.cache, certainty))
    if around.total >= 0:
        parts += _driver_parts(data, device, around)
    present = [part for part in parts if part.bytes > 0]
    return Ledger(
        total=sum(part.bytes for part in present),
        allocated=int(levels[cut]),
        parts=present,
        rounding=_rounding(data, rows),
    )


def _driver_parts(data: RecordingData, device: int, around: Surroundings) -> list[Part]:
    """Return what the device holds beside the allocator, and what it has left."""
    others = "others" if around.knows_process else "outside"
    return [
        *_rest_of_process(data, device, around),
        Part(others, around.others, _certainty(around.others_measured and around.knows_process)),
        Part("free", around.free, _certainty(around.free_measured)),
    ]


def _rest_of_process(data: RecordingData, device: int, around: Surroundings) -> list[Part]:
    """Return the context and what else the process holds.

    With a caching allocator it is all context, unless the size of that is known by itself.
    """
    context = int(data.devices["context"][device])
    if context < 0:
        known = around.beside if around.has_allocator else 0
    else:
        known = min(context, around.beside)
    whole = known in (0, around.beside)
    certainty = _certainty(around.beside_measured and whole)
    return [Part("context", known, certainty), Part("process", around.beside - known, certainty)]


def _rounding(data: RecordingData, rows: Array) -> int:
    """Return what was charged for some allocations beyond what was asked for, where that is known."""
    charged, asked = data.allocations["bytes"][rows], data.allocations["requested"][rows]
    return int(np.where(asked >= 0, charged - asked, 0).sum())


def _certainty(measured: bool) -> str:
    return MEASURED if measured else ESTIMATED
