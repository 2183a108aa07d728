"""How long a step takes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array


def step_ns(data: RecordingData) -> int | None:
    """Return the median duration of the complete steps after the first, nanoseconds; None without one.

    A step lasts from the start of its first forward to the end of its last phase that is not
    `other`, so that the time between two cells is not part of it; where no forward is known, as in
    a snapshot of torch's, from the end of the step before. The last step is complete when
    it went through all that the one before it did. A prediction has none: how long it took to
    compute is no figure of the run.
    """
    if data.facts.evidence == "predicted":
        return None
    spans, whole = _steps(data)
    durations = spans[1:][whole[1:]]
    return int(np.median(durations)) if len(durations) else None


def finished_steps(data: RecordingData) -> int:
    """Return how many steps were gone through to their end; an unfinished one can only be the last."""
    if not data.steps_run:
        return 0
    whole = _steps(data)[1]
    return int(data.steps if whole[-1] else data.steps - 1)


def _steps(data: RecordingData) -> tuple[Array, Array]:
    """Return the nanoseconds of each step, and whether it is complete."""
    phases, steps = data.phases, data.steps
    working = np.flatnonzero(phases["kind"] != PhaseKind.OTHER)
    step = phases["step"][working]
    begin = np.full(steps, np.iinfo(np.int64).max)
    finish = np.full(steps, np.iinfo(np.int64).min)
    knows_forward = bool((phases["kind"] == PhaseKind.FORWARD).any())
    timed = working if knows_forward else np.arange(len(phases))
    np.minimum.at(begin, phases["step"][timed], phases["start_ns"][timed])
    np.maximum.at(finish, step, phases["end_ns"][working])
    went_through: Array = np.zeros((steps, len(PhaseKind)), dtype=bool)
    went_through[step, phases["kind"][working]] = True
    whole = np.asarray(went_through.any(axis=1))
    if steps and data.facts.state != "complete":
        whole[-1] = False
    if steps > 1:
        whole[-1] &= bool((went_through[-1] >= went_through[-2]).all())
    return finish - begin, whole


def phase_ns(data: RecordingData) -> Mapping[str, int]:
    """Return the median nanoseconds that a complete step spends in each kind of phase, by its id.

    Of the steps after the first where there are any, as `step_ns`. `other` is what lies between
    phases, in a notebook also the time between two cells.
    """
    phases, steps = data.phases, data.steps
    if not data.steps_run or data.facts.evidence == "predicted":
        return {}
    spent = np.zeros((steps, len(PhaseKind)), dtype=np.int64)
    np.add.at(spent, (phases["step"], phases["kind"]), phases["end_ns"] - phases["start_ns"])
    whole = _steps(data)[1]
    later = spent[1:][whole[1:]]
    counted = later if len(later) else spent
    return {kind.id: int(np.median(counted[:, kind])) for kind in PhaseKind if spent[:, kind].any()}
