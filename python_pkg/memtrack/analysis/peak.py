"""The moment of the most allocated bytes: of the recording, of any window of it, of many at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.ranges import largest_in_ranges, where_largest
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
    _, cut = layer_peak_windows(data, levels)
    return np.where(cut >= 0, levels[cut], -1)


def layer_windows(data: RecordingData) -> tuple[Array, Array, Array]:
    """Return the first and last cut of every forward and backward of a call, and whose it is."""
    calls = data.calls
    first = np.concatenate((calls["start"], calls["backward_start"]))
    last = np.concatenate((calls["end"], calls["backward_end"]))
    # A window without a start was not seen, one without an end is still open on another thread.
    seen = (first >= 0) & (last >= first)
    return first[seen], last[seen], np.tile(calls["layer"], 2)[seen]


def layer_peak_windows(data: RecordingData, levels: Array) -> tuple[Array, Array]:
    """Return per layer the row of `layer_windows` that its peak lies in, and its cut; -1: never ran.

    The peak is the earliest of the highest. A list of layers has that of the layers inside it.
    """
    first, last, layer = layer_windows(data)
    cut = where_largest(levels, first, last)
    most = np.full(len(data.layers), -1, dtype=np.int64)
    np.maximum.at(most, layer, levels[cut])
    reached = np.flatnonzero(levels[cut] == most[layer])
    window = np.full(len(data.layers), -1, dtype=np.int64)
    latest_first = reached[np.argsort(cut[reached], kind="stable")[::-1]]
    window[layer[latest_first]] = latest_first
    window = _with_containers(data, window, levels[cut], cut)
    return window, np.append(cut, -1)[window]


def _with_containers(data: RecordingData, window: Array, size: Array, cut: Array) -> Array:
    """Give layers without a window of their own the best of those of the layers inside."""
    best, parent = window.tolist(), data.layers["parent"].tolist()
    was_called = (window >= 0).tolist()
    for row in range(len(parent) - 1, -1, -1):
        outer, mine = parent[row], best[row]
        if outer < 0 or mine < 0 or was_called[outer]:
            continue
        other = best[outer]
        if other < 0 or (size[mine], -cut[mine]) > (size[other], -cut[other]):
            best[outer] = mine
    return np.array(best, dtype=np.int64)


def step_windows(data: RecordingData) -> tuple[Array, Array]:
    """Return the first and the last cut of each step."""
    steps = np.arange(data.steps)
    first = np.searchsorted(data.phases["step"], steps)
    last = np.searchsorted(data.phases["step"], steps, side="right") - 1
    return data.phases["start"][first], data.phases["end"][last]


def step_peaks(data: RecordingData, device: int) -> Array:
    """Return the most allocated bytes of each step, in order."""
    return largest_in_ranges(allocated(data, device), *step_windows(data))


def phase_peaks(data: RecordingData, device: int) -> Mapping[str, int]:
    """Return the most allocated bytes of each kind of phase that occurs, by its id."""
    phases = data.phases
    most = largest_in_ranges(allocated(data, device), phases["start"], phases["end"])
    return {
        kind.id: int(most[phases["kind"] == kind].max())
        for kind in PhaseKind
        if (phases["kind"] == kind).any()
    }
