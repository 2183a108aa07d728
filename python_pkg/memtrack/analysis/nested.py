"""Peaks within the peak: of every step, every phase, every layer and between the user's marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.largest import largest_layers
from memtrack.analysis.peak import (
    Peak,
    layer_peak_windows,
    layer_windows,
    peak,
    step_windows,
)
from memtrack.analysis.ranges import where_largest
from memtrack.analysis.totals import CategoryLevels, allocated, category_levels, cut_times
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class PeakTable:
    """Peaks of many windows, as columns of one length.

    `row` says whose window it is (see `NestedPeaks`), `start` and `end` are its first and last cut,
    `bytes` the most allocated in it, `cut` and `time_ns` the earliest moment of that. `category` is
    the code of the largest category then, `layer` the row of the layer whose own allocations were
    the most, each with its bytes; -1 and 0 where nothing was allocated, or nothing by a layer.
    """

    row: Array
    start: Array
    end: Array
    bytes: Array
    cut: Array
    time_ns: Array
    category: Array
    category_bytes: Array
    layer: Array
    layer_bytes: Array

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, slots=True)
class NestedPeaks:
    """Peaks of one device by what was under way.

    `steps`: `row` is the step. `phases`: a row of the phases. `layers`: a row of the layers, each once
    with the window of the call it peaked in; layers that never ran are left out. `marks`: `row` is
    the mark that the window begins with, -1 for what lies before the first; it ends with the next.
    """

    steps: PeakTable
    phases: PeakTable
    layers: PeakTable
    marks: PeakTable


def nested_peaks(data: RecordingData, device: int) -> NestedPeaks:
    """Return the peaks of every step, phase, layer and interval between marks of a device."""
    return nested_peaks_of(data, device, allocated(data, device), category_levels(data, device))


def nested_peaks_of(
    data: RecordingData, device: int, levels: Array, categories: CategoryLevels
) -> NestedPeaks:
    """Return the nested peaks from the levels of a device that are already known."""
    phases = data.phases
    windows = [
        (np.arange(data.steps), *step_windows(data)),
        (np.arange(len(phases)), phases["start"], phases["end"]),
        _layers(data, levels),
        mark_windows(data),
    ]
    lengths = np.cumsum([len(row) for row, _, _ in windows])[:-1]
    row, start, end = (np.concatenate(columns) for columns in zip(*windows, strict=True))
    cut = where_largest(levels, start, end)
    layer, layer_bytes = largest_layers(data, device, cut)
    by_category = categories.at(cut)
    most = by_category.max(axis=1, initial=0)
    columns = {
        "row": row,
        "start": start,
        "end": end,
        "bytes": levels[cut],
        "cut": cut,
        "time_ns": cut_times(data, cut),
        "category": np.where(most > 0, by_category.argmax(axis=1), -1),
        "category_bytes": most,
        "layer": layer,
        "layer_bytes": layer_bytes,
    }
    split = {name: np.split(column, lengths) for name, column in columns.items()}
    steps, of_phases, layers, marks = (
        PeakTable(**{name: parts[table] for name, parts in split.items()})
        for table in range(len(windows))
    )
    return NestedPeaks(steps, of_phases, layers, marks)


def mark_windows(data: RecordingData) -> tuple[Array, Array, Array]:
    """Return the mark each interval begins with (-1: none), its first and its last cut.

    No intervals where nothing was marked.
    """
    rows = np.argsort(data.marks["cut"], kind="stable")
    if not len(rows):
        return rows, rows, rows
    cuts = data.marks["cut"][rows]
    start, end = np.concatenate(([0], cuts)), np.append(cuts, data.cuts)
    return np.concatenate(([-1], rows)), start, end


def mark_peak(
    data: RecordingData, device: int, label: str, until: str | None = None
) -> Peak | None:
    """Return the peak from the first mark of a label to the next mark after it.

    With `until`, to the next mark of that label. Without such a mark after it, to the end of the
    recording. None where nothing has the label.
    """
    rows, start, _ = mark_windows(data)
    labels = [data.string(int(data.marks["label"][row])) for row in rows[1:]]
    if label not in labels:
        return None
    first = labels.index(label)
    after = [at for at, name in enumerate(labels) if at > first and until in (None, name)]
    return peak(data, device, int(start[first + 1]), int(start[after[0] + 1]) if after else None)


def _layers(data: RecordingData, levels: Array) -> tuple[Array, Array, Array]:
    first, last, _ = layer_windows(data)
    window, _ = layer_peak_windows(data, levels)
    rows = np.flatnonzero(window >= 0)
    return rows, first[window[rows]], last[window[rows]]
