"""The moment of the most allocated bytes: of the recording, of any window of it, of many at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.ranges import largest_in_ranges
from memtrack.analysis.running import layer_behind, step_and_phase
from memtrack.analysis.totals import allocated, cut_times
from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Peak:
    """The most bytes allocated at any cut, and what ran then.

    `step` counts from 0; `phase` is the id of a `PhaseKind`; `layer` is a row of the layers, -1
    where none is behind it.
    """

    bytes: int
    cut: int
    time_ns: int
    step: int
    phase: str
    layer: int


def peak(data: RecordingData, device: int, start: int = 0, end: int | None = None) -> Peak:
    """Return the earliest cut of `[start, end]` with the most allocated bytes on a device."""
    return peak_of(data, allocated(data, device), start, end)


def peak_of(data: RecordingData, levels: Array, start: int = 0, end: int | None = None) -> Peak:
    """Return the peak of `levels`, which are the bytes at every cut as `allocated` gives them."""
    last = data.cuts if end is None else end
    cut = start + int(np.argmax(levels[start : last + 1]))
    step, phase = step_and_phase(data, cut)
    return Peak(
        bytes=int(levels[cut]),
        cut=cut,
        time_ns=int(cut_times(data, np.array([cut]))[0]),
        step=step,
        phase=phase,
        layer=layer_behind(data, cut),
    )


def layer_peaks(data: RecordingData, levels: Array) -> Array:
    """Return per layer the most bytes at any cut while one of its calls ran; -1 if none did.

    A call runs from its first to its last cut, both included, in forward and in backward. A layer
    that is never called itself, such as a list of layers, runs while one inside it does.
    """
    calls = data.calls
    first = np.concatenate((calls["start"], calls["backward_start"]))
    last = np.concatenate((calls["end"], calls["backward_end"]))
    # A window without a start was not seen, one without an end is still open on another thread.
    seen = (first >= 0) & (last >= first)
    peaks = np.full(len(data.layers), -1, dtype=np.int64)
    most = largest_in_ranges(levels, first[seen], last[seen])
    np.maximum.at(peaks, np.tile(calls["layer"], 2)[seen], most)
    return _with_containers(data, peaks)


def _with_containers(data: RecordingData, peaks: Array) -> Array:
    highest, parent = peaks.tolist(), data.layers["parent"].tolist()
    was_called = (peaks >= 0).tolist()
    for row in range(len(parent) - 1, -1, -1):
        outer = parent[row]
        if outer >= 0 and not was_called[outer]:
            highest[outer] = max(highest[outer], highest[row])
    return np.array(highest, dtype=np.int64)


def step_peaks(data: RecordingData, device: int) -> Array:
    """Return the most allocated bytes of each step, in order."""
    steps = np.arange(data.steps)
    first = np.searchsorted(data.phases["step"], steps)
    last = np.searchsorted(data.phases["step"], steps, side="right") - 1
    start, end = data.phases["start"][first], data.phases["end"][last]
    return largest_in_ranges(allocated(data, device), start, end)


def phase_peaks(data: RecordingData, device: int) -> Mapping[str, int]:
    """Return the most allocated bytes of each kind of phase that occurs, by its id."""
    phases = data.phases
    most = largest_in_ranges(allocated(data, device), phases["start"], phases["end"])
    return {
        kind.id: int(most[phases["kind"] == kind].max())
        for kind in PhaseKind
        if (phases["kind"] == kind).any()
    }
