"""Where the bytes of one device are at one moment: parts that sum to the whole device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.reserved import latest_sample, reserved
from memtrack.analysis.totals import CategoryLevels, allocated, category_levels
from memtrack.recording import Category, RecordingData
from memtrack.recording.tables import Array

DRAW_ORDER = (
    Category.PARAMETER,
    Category.BUFFER,
    Category.GRADIENT,
    Category.OPTIMIZER_STATE,
    Category.CAST_WEIGHT,
    Category.ACTIVATION,
    Category.RECOMPUTED,
    Category.OUTPUT,
    Category.INPUT,
    Category.TEMPORARY,
    Category.COMMUNICATION,
    Category.WORKSPACE,
    Category.OTHER,
    Category.UNKNOWN,
)
"""Categories as every view stacks and lists them: from the most lasting to the least known."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a device: a category, `cache`, `context`, `process`, `others` or `free`.

    `certainty` is `measured` or `estimated`.
    """

    id: str
    bytes: int
    certainty: str = "measured"


@dataclass(frozen=True, slots=True)
class Ledger:
    """Parts in draw order, none of them 0, which sum to `total`."""

    total: int
    allocated: int
    parts: Sequence[Part]


def ledger(data: RecordingData, device: int, cut: int) -> Ledger:
    """Return the ledger of a device at a cut.

    What the samples do not tell is left out: with nothing known of other processes, their memory
    is part of what counts as free, which is then an estimate.
    """
    return ledger_of(data, device, cut, allocated(data, device), category_levels(data, device))


def ledger_of(
    data: RecordingData, device: int, cut: int, levels: Array, categories: CategoryLevels
) -> Ledger:
    """Return the ledger from the levels of a device that are already known."""
    in_use = int(levels[cut])
    by_category = categories.at(np.array([cut]))[0]
    parts = [Part(category.id, int(by_category[category])) for category in DRAW_ORDER]
    total = int(data.devices["total"][device])
    around = _around(data, device, cut, levels)
    if total < 0:
        parts += [part for part in around if part.id == "cache"]
    else:
        parts += _fitted(around, max(0, total - in_use))
    present = [part for part in parts if part.bytes > 0]
    return Ledger(sum(part.bytes for part in present), in_use, present)


def _around(data: RecordingData, device: int, cut: int, levels: Array) -> list[Part]:
    """Return what is taken besides tensors: the cache, the rest of this process, other processes."""
    held = reserved(data, device, np.array([cut]), levels)
    exact = "measured" if data.facts.source == "allocator" else "estimated"
    parts = []
    if held is not None:
        parts.append(Part("cache", int(held[0] - levels[cut]), exact))
    sample = latest_sample(data, device, "process", cut)
    context = int(data.devices["context"][device])
    if sample >= 0:
        parts += _rest_of_process(data, device, sample, levels, context, held is not None)
    elif context >= 0:
        parts.append(Part("context", context, "estimated"))
    parts += _other_processes(
        data, device, cut, sum(part.bytes for part in parts) + int(levels[cut])
    )
    return parts


def _rest_of_process(
    data: RecordingData, device: int, sample: int, levels: Array, context: int, cached: bool
) -> list[Part]:
    """Return what this process held at a sample beyond its tensors (and their cache).

    With a caching allocator that is the context, all of it unless its size is known by itself.
    """
    at = np.array([data.samples["cut"][sample]])
    held = reserved(data, device, at, levels) if cached else levels[at]
    assert held is not None
    rest = max(0, int(data.samples["process"][sample] - held[0]))
    known = rest if cached and context < 0 else min(max(context, 0), rest)
    return [Part("context", known, "estimated"), Part("process", rest - known, "estimated")]


def _other_processes(data: RecordingData, device: int, cut: int, own: int) -> list[Part]:
    """Return what the device had in use beyond this process, by the last sample that tells."""
    sample = latest_sample(data, device, "used", cut)
    if sample < 0:
        return []
    used, process = (int(data.samples[column][sample]) for column in ("used", "process"))
    return [Part("others", max(0, used - (process if process >= 0 else own)), "estimated")]


def _fitted(parts: list[Part], room: int) -> list[Part]:
    """Cut estimates that together exceed the device, the last ones first, and add what is free."""
    fitted = []
    for part in parts:
        taken = min(part.bytes, room)
        fitted.append(Part(part.id, taken, part.certainty))
        room -= taken
    return [*fitted, Part("free", room, "estimated")]
