"""What piled up over the steps or passes before the failure, and who made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.lasting import growing_groups, lasting
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import sum_by
from memtrack.diagnosis.evidence.origins import kinds_of_allocations
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.recording import PhaseKind
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source that made some of it."""

    site: str
    bytes: int
    allocations: int


@dataclass(frozen=True, slots=True)
class Piling:
    """Allocations that outlive the step they were made in, of kinds that come again in each.

    `bytes` are in use at the failure, `step_bytes` of each step or pass in the median, of `steps` of
    them. `forward_bytes` were made in a model's forward, on `forward_lines` lines; `saved_bytes`
    autograd is known to keep. `hooks` is the function of a hook that made them, "" without. `lines`
    are largest first.
    """

    rows: Array
    bytes: int
    step_bytes: int
    steps: int
    forward_bytes: int
    forward_lines: int
    saved_bytes: int
    hook: str
    lines: Sequence[Line]


def piling(now: Situation) -> Piling | None:
    """Return what piled up until the failure, None where nothing did or too few passes tell."""
    data, windows = now.data, now.passes
    if not windows.count:
        return None
    found = lasting(data, now.device, windows.start, windows.end)
    grows = found.of(np.isin(found.group, growing_groups(found)))
    table = data.allocations
    grows = grows.of((table["end"][grows.rows] >= now.cut) & (table["start"][grows.rows] < now.cut))
    rows, size = grows.rows, grows.size
    if not len(rows):
        return None
    each = sum_by(grows.made, size, windows.count)[:-1]
    forward = kinds_of_allocations(data)[rows] == PhaseKind.FORWARD
    codes, names = sites(data, table["stack"][rows])
    return Piling(
        rows=rows,
        bytes=int(size.sum()),
        step_bytes=int(np.median(each[each > 0])) if (each > 0).any() else 0,
        steps=int((each > 0).sum()),
        forward_bytes=int(size[forward].sum()),
        forward_lines=len(np.unique(codes[forward])),
        saved_bytes=int(size[grows.saved].sum()),
        hook=_hook(now, rows),
        lines=_lines(codes, names, size),
    )


def _lines(codes: Array, names: list[str], size: Array) -> list[Line]:
    total = sum_by(codes, size, len(names))
    count = np.bincount(codes + 1, minlength=len(names) + 1)[1:]
    order = np.argsort(-total, kind="stable")
    return [Line(names[row], int(total[row]), int(count[row])) for row in order.tolist()]


def _hook(now: Situation, rows: Array) -> str:
    """Return the function of a hook that is around all of the lines, "" where there is none."""
    found = ""
    for stack in np.unique(now.data.allocations["stack"][rows]).tolist():
        named = [
            function
            for file, function, _ in now.data.stack_frames(stack)
            if "hook" in function.lower() and "/torch/" not in file
        ]
        if not named:
            return ""
        found = found or named[0]
    return found
