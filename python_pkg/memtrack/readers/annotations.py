"""Moments that `torch.profiler.record_function` named in a snapshot, as rows of the marks table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from memtrack.readers.trace import whole
from memtrack.recording import Table
from memtrack.recording.builder import StringBuilder
from memtrack.recording.tables import Array

MOST_MARKS = 200
"""More lines than this do not help in a timeline. Labels that come the most often go first, such as
those that every optimizer writes for every step."""


def read_marks(annotations: Any, begin_ns: int, times_ns: Array, strings: StringBuilder) -> Table:
    """Return a mark where each annotation starts.

    `begin_ns` is the first event since the epoch, `times_ns` are all since that one. What was before
    the first event, or has no name or time, is left out.
    """
    entries = annotations if isinstance(annotations, list | tuple) else ()
    found = [(_label(entry), whole(entry.get("time_us"))) for entry in entries if _starts(entry)]
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


def _starts(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("stage") == "START" and bool(_label(entry))


def _label(entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    return name if isinstance(name, str) else ""
