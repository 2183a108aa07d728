"""Memory of two runs on one axis: steps, with the events of each step spread evenly over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.timeline import extreme_cuts
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

BUCKETS = 500


@dataclass(frozen=True, slots=True)
class Line:
    """Allocated bytes (int64) over steps (float64, in order): 1.5 is the middle of the second step.

    Every point is a real moment; the least and the most of each bucket are among them.
    """

    step: Array
    allocated: Array
    peak_at: float


def line_of(data: RecordingData, levels: Array, buckets: int = BUCKETS) -> Line:
    """Return bytes over the steps of a recording, from those at every cut as `allocated` gives them."""
    cuts, _ = extreme_cuts(levels, buckets)
    steps = steps_at(data, cuts)
    return Line(steps, levels[cuts], float(steps[np.argmax(levels[cuts])]))


def steps_at(data: RecordingData, cuts: Array) -> Array:
    """Return where each cut is on the axis of steps; a recording without steps is one step."""
    phases = data.phases
    if len(phases) == 0:
        return np.asarray(cuts / max(data.cuts, 1), dtype=np.float64)
    numbers = np.arange(int(phases["step"][-1]) + 1)
    first = phases["start"][np.searchsorted(phases["step"], numbers)].astype(np.float64)
    edges = np.append(first, float(data.cuts))
    # Steps without an event of their own would divide by zero; interpolation passes over them.
    return np.interp(cuts, edges, np.append(numbers, len(numbers)).astype(np.float64))
