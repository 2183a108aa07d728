"""What ran at a cut: the step, the phase and the innermost layer whose call was under way."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.ranges import smallest_cover
from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array


def phases_at(data: RecordingData, cuts: Array) -> Array:
    """Return the row of the phase each cut belongs to; -1 in a recording without phases.

    A cut on a boundary belongs to the phase whose event made it so, the first cut to the first.
    """
    rows = np.searchsorted(data.phases["start"], np.maximum(cuts - 1, 0), side="right") - 1
    return np.asarray(np.minimum(rows, len(data.phases) - 1))


def step_and_phase(data: RecordingData, cut: int) -> tuple[int, str]:
    """Return the step (from 0) and the id of the phase a cut belongs to."""
    row = int(phases_at(data, np.array([cut]))[0])
    if row < 0:
        return 0, PhaseKind.OTHER.id
    return int(data.phases["step"][row]), PhaseKind(data.phases["kind"][row]).id


def layers_at(data: RecordingData, cuts: Array) -> Array:
    """Return for each of the sorted `cuts` the innermost layer that ran then; -1 for none.

    A call runs during its forward and during its backward; of the windows that contain the event
    before the cut, the smallest is the innermost.
    """
    calls = data.calls
    start = np.concatenate((calls["start"], calls["backward_start"]))
    end = np.concatenate((calls["end"], calls["backward_end"]))
    rows = smallest_cover(cuts - 1, start, end)
    layers = np.append(np.tile(calls["layer"], 2), -1)
    return layers[rows]


def layer_behind(data: RecordingData, cut: int) -> int:
    """Return the layer that ran at a cut, else the one the last allocated block belongs to, else -1."""
    layer = int(layers_at(data, np.array([cut]))[0])
    if layer >= 0 or cut == 0:
        return layer
    allocation = int(data.events["allocation"][cut - 1])
    return int(data.allocations["layer"][allocation]) if allocation >= 0 else -1


def call_steps(data: RecordingData) -> Array:
    """Return the step each call belongs to; 0 where its phase is unknown."""
    phase = data.calls["phase"]
    steps = np.append(data.phases["step"], 0)
    return steps[phase]
