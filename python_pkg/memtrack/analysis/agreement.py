"""Where the sums of the ledger are not what allocator and driver said, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.ledger import Ledger, ledger_of
from memtrack.analysis.totals import allocated, category_levels
from memtrack.recording import RecordingData


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many figures of a device's samples were compared, and those that differ."""

    compared: int
    differ: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of one sample (its row): `reserved`, `process` or `used`, told and summed, bytes."""

    sample: int
    figure: str
    told: int
    sum: int


def agreement(data: RecordingData, device: int) -> Agreement:
    """Compare the sums of the ledger with all that was told at each sample of a device.

    Of several samples at one cut the last is taken: a cut has one ledger.
    """
    samples = data.samples
    mine = np.flatnonzero(samples["device"] == device)
    last = {int(samples["cut"][row]): int(row) for row in mine}
    levels, categories = allocated(data, device), category_levels(data, device)
    compared, differ = 0, []
    for cut, row in last.items():
        found = ledger_of(data, device, cut, levels, categories)
        for figure, total in _sums(found):
            told = int(samples[figure][row])
            compared += told >= 0
            if told >= 0 and told != total:
                differ.append(Difference(row, figure, told, total))
    return Agreement(compared, tuple(differ))


def _sums(found: Ledger) -> Iterator[tuple[str, int]]:
    yield "reserved", found.reserved
    yield "process", found.process
    yield "used", found.total - sum(part.bytes for part in found.parts if part.id == "free")
