"""The allocator's statistics at the moments they were read, as a recording keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.moments import Moment, moments_of
from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array

_COUNTS_ALLOCATIONS = "allocation.all.allocated"


@dataclass(frozen=True, slots=True)
class Statistics:
    """All readings of a device at once: `values` is int64[moments, names], sorted by name."""

    moments: Sequence[Moment]
    names: Sequence[str]
    values: Array

    @property
    def columns(self) -> Mapping[str, Array]:
        """A value a moment: `cut`, `time_ns`, `kind` (ReadingKind), `step`, `phase` (PhaseKind).

        And `number`, which tells moments of the same name apart, as in `Moment`.
        """
        return {
            "cut": np.array([moment.cut for moment in self.moments], dtype=np.int64),
            "time_ns": np.array([moment.time_ns for moment in self.moments], dtype=np.int64),
            "kind": np.array([moment.kind for moment in self.moments], dtype=np.uint8),
            "step": np.array([moment.step for moment in self.moments], dtype=np.int32),
            "phase": np.array(
                [PhaseKind[moment.phase.upper()] for moment in self.moments], dtype=np.uint8
            ),
            "number": np.array([moment.number for moment in self.moments], dtype=np.int32),
        }


def devices_read(data: RecordingData) -> list[int]:
    """Return the devices (rows) that have readings, in order."""
    return [int(device) for device in np.unique(data.readings["device"]) if device >= 0]


def summaries(data: RecordingData, device: int) -> Sequence[Moment]:
    """Return the moments at which a device's statistics were read, in order."""
    return moments_of(data, device)


def summary(data: RecordingData, device: int, reading: int) -> Mapping[str, int]:
    """Return the statistics of one reading (a row) of a device, bytes and counts by name.

    Names are those of `torch.cuda.memory_stats`; what is 0 is left out. Raises ValueError for a
    reading of another device.
    """
    if int(data.readings["device"][reading]) != device:
        raise ValueError(f"reading {reading} is not of device {device}")
    rows = np.flatnonzero(data.statistics["reading"] == reading)
    names, values = data.statistics["name"][rows], data.statistics["value"][rows]
    figures = zip(names.tolist(), values.tolist(), strict=True)
    return {data.string(name): value for name, value in figures}


def offered(data: RecordingData, device: int) -> frozenset[str] | None:
    """Return the statistics that a device's allocator keeps; None when it keeps them all.

    Recordings leave zeros out, so that a figure which is nowhere can be 0 or not kept. PyTorch's own
    allocator, which alone counts allocations, keeps them all; of others what was seen once.
    """
    names = np.unique(data.statistics["name"][_rows_of(data, device)])
    seen = frozenset(data.string(int(name)) for name in names)
    return None if _COUNTS_ALLOCATIONS in seen or not seen else seen


def statistics(data: RecordingData, device: int) -> Statistics | None:
    """Return every reading of a device as one matrix; None where there is none."""
    moments = moments_of(data, device)
    if not moments:
        return None
    rows = _rows_of(data, device)
    strings, column = np.unique(data.statistics["name"][rows], return_inverse=True)
    spelled = [data.string(int(string)) for string in strings]
    order = sorted(range(len(spelled)), key=spelled.__getitem__)
    place = np.argsort(np.array(order, dtype=np.int64))
    readings = np.array([moment.row for moment in moments], dtype=np.int64)
    by_row = np.argsort(readings)
    line = by_row[np.searchsorted(readings, data.statistics["reading"][rows], sorter=by_row)]
    values = np.zeros((len(moments), len(spelled)), dtype=np.int64)
    values[line, place[column]] = data.statistics["value"][rows]
    return Statistics(moments, [spelled[one] for one in order], values)


def _rows_of(data: RecordingData, device: int) -> Array:
    """Return the rows of `statistics` that belong to a device."""
    of_device = np.append(data.readings["device"] == device, False)
    return np.flatnonzero(of_device[data.statistics["reading"]])
