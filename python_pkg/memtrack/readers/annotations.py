"""What `torch.profiler.record_function` named in a snapshot: the optimizer's steps, and other moments.

torch itself names every step of an optimizer so, in the snapshots it makes since 2.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from memtrack.readers.trace import whole
from memtrack.recording import PhaseKind, Table
from memtrack.recording.builder import StringBuilder
from memtrack.recording.tables import Array

MOST_MARKS = 200
"""More lines than this do not help in a timeline. Labels that come the most often go first."""
_STEP = "Optimizer.step#"
_OF_TORCH = (_STEP, "Optimizer.zero_grad#")


def read_marks(annotations: Any, begin_ns: int, times_ns: Array, strings: StringBuilder) -> Table:
    """Return a mark where each annotation starts.

    `begin_ns` is the first event since the epoch, `times_ns` are all since that one. What was before
    the first event, or has no name or time, is left out.
    """
    entries = annotations if isinstance(annotations, list | tuple) else ()
    found = [
        (_label(entry), whole(entry.get("time_us")))
        for entry in entries
        if _is(entry, "START") and not _label(entry).startswith(_OF_TORCH)
    ]
    counts = Counter(label for label, _ in found)
    while sum(counts.values()) > MOST_MARKS:
        del counts[counts.most_common(1)[0][0]]
    marks = [
        (time_us * 1000 - begin_ns, strings.add(label))
        for label, time_us in found
        if label in counts and begin_ns <= time_us * 1000 < 1 << 62
    ]
    marks.sort(key=lambda mark: mark[0])
    times = np.array([time for time, _ in marks], dtype=np.int64)
    columns = {
        "cut": np.searchsorted(times_ns, times),
        "time_ns": times,
        "label": np.array([label for _, label in marks], dtype=np.int32),
    }
    return Table("marks", columns)


def read_phases(annotations: Any, begin_ns: int, times_ns: Array) -> Table:
    """Return the phases: the steps of optimizers, and what lies between them.

    A step of the loop ends with that of its optimizer. Where torch has named none, or only one, all
    is one phase.
    """
    entries = annotations if isinstance(annotations, list | tuple) else ()
    start, end = (_times(entries, stage, begin_ns) for stage in ("START", "END"))
    count, last_ns = len(times_ns), int(times_ns[-1]) if len(times_ns) else 0
    end = end[np.searchsorted(end, start[0], side="right") :] if len(start) else end
    if len(end) == len(start) - 1:  # the trace ends inside a step
        end = np.append(end, max(last_ns, int(start[-1])))
    if len(start) < 2 or len(start) != len(end) or not _alternate(start, end):
        start = end = np.zeros(0, dtype=np.int64)
    inner = np.stack((start, end), axis=1).ravel()
    cuts = np.concatenate(([0], np.searchsorted(times_ns, inner), [count]))
    cuts[-2:-1][inner[-1:] >= last_ns] = count
    moments = np.concatenate(([0], inner, [max(last_ns, int(inner[-1:].sum()))]))
    kinds = np.full(len(cuts) - 1, int(PhaseKind.OTHER))
    kinds[1::2] = int(PhaseKind.OPTIMIZER)
    columns = {
        "kind": kinds,
        "step": np.arange(len(kinds)) // 2,
        "start": cuts[:-1],
        "end": cuts[1:],
        "start_ns": moments[:-1],
        "end_ns": moments[1:],
    }
    kept = (columns["start"] < columns["end"]) | (kinds == PhaseKind.OPTIMIZER)
    kept[0] = True
    return Table("phases", {name: values[kept] for name, values in columns.items()})


def _times(entries: Any, stage: str, begin_ns: int) -> Array:
    """Return when steps of optimizers start or end, nanoseconds since the first event, in order."""
    times = [
        whole(entry.get("time_us")) * 1000 - begin_ns
        for entry in entries
        if _is(entry, stage) and _label(entry).startswith(_STEP)
    ]
    return np.sort(np.array([time for time in times if 0 <= time < 1 << 62], dtype=np.int64))


def _alternate(start: Array, end: Array) -> bool:
    """Tell whether each step ends before the next one starts: those of nested optimizers do not."""
    return bool((start <= end).all() and (end[:-1] <= start[1:]).all())


def _is(entry: Any, stage: str) -> bool:
    return isinstance(entry, dict) and entry.get("stage") == stage and bool(_label(entry))


def _label(entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    return name if isinstance(name, str) else ""
