"""Passes through the model in a recording without steps, such as a snapshot made by torch.

A pass begins where a block is made in a module's forward after one that was not, at the line that
begins most of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.pace import finished_steps
from memtrack.analysis.peak import step_windows
from memtrack.diagnosis.evidence.origins import kinds_of_allocations, knows_phases
from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Passes:
    """Windows of cuts, one after the other: those of `finished` steps or passes; `inferred` ones are passes.

    `last` is the first cut of the one that was under way at the failure, -1 where none was.
    """

    start: Array
    end: Array
    inferred: bool
    last: int

    @property
    def count(self) -> int:
        """How many were gone through to their end."""
        return len(self.start)


def passes(data: RecordingData, device: int, cut: int) -> Passes:
    """Return the steps of a recording up to a cut, or else the passes that its stacks tell of."""
    begin = np.zeros(0, dtype=np.int64) if knows_phases(data) else _begins(data, device)
    begin = begin[begin < cut]
    if data.steps_run and len(begin) < 2:
        start, end = step_windows(data)
        done = min(finished_steps(data), int((end <= cut).sum()))
        last = int(start[done]) if done < len(start) else -1
        return Passes(start[:done], end[:done], inferred=False, last=last)
    last = int(begin[-1]) if len(begin) else -1
    return Passes(begin[:-1], begin[1:], inferred=True, last=last)


def _begins(data: RecordingData, device: int) -> Array:
    """Return the events that begin a pass."""
    table = data.allocations
    mine = np.flatnonzero((table["device"] == device) & (table["start"] >= 0))
    rows = mine[np.argsort(table["start"][mine], kind="stable")]
    forward = kinds_of_allocations(data)[rows] == PhaseKind.FORWARD
    first = np.flatnonzero(forward & ~np.concatenate(([False], forward[:-1])))
    if not len(first):
        return first
    lines, which, count = np.unique(
        table["stack"][rows[first]], return_inverse=True, return_counts=True
    )
    most = np.flatnonzero(count == count.max())
    # Of lines that begin equally many, the one that came first.
    chosen = which[np.isin(which, most)][0]
    del lines
    return np.asarray(table["start"][rows[first[which == chosen]]])
