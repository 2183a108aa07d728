"""What each allocation was for, told once its whole life is known.

What was seen by name (parameters, buffers, gradients, optimizer state, the batch) keeps its
category. The rest is told by its life: saved for backward or kept past its forward, it is an
activation; made and released within one phase, it is a temporary.
"""

from __future__ import annotations

import numpy as np

from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import Category, PhaseKind
from memtrack.recording.tables import Array, Table

PRECEDENCE = {
    Category.PARAMETER: 6,
    Category.BUFFER: 5,
    Category.OPTIMIZER_STATE: 4,
    Category.GRADIENT: 3,
    Category.INPUT: 2,
    Category.UNKNOWN: 0,
}
"""When a storage is seen in two roles, the one with the higher number is kept."""


def finished_tables(builder: RecordingBuilder) -> dict[str, Table]:
    """Return the allocation table with ends, phases and categories filled in."""
    events, phases = len(builder["events"]), builder["phases"].build()
    columns = dict(builder["allocations"].build().columns)
    end = columns["end"].copy()
    end[end < 0] = events
    phase = _phase_of(columns["start"], phases)
    category = _categories(columns, end, phase, phases, builder["saved"].build(), events)
    columns.update(end=end, phase=phase, category=category)
    return {
        "allocations": Table("allocations", columns),
        "calls": _with_inner_backward(builder["calls"].build()),
    }


def _with_inner_backward(calls: Table) -> Table:
    """Widen each call's backward window to hold those of the calls made inside it."""
    columns = dict(calls.columns)
    parent = columns["parent"].tolist()
    for first, last in (
        ("backward_start", "backward_end"),
        ("backward_start_ns", "backward_end_ns"),
    ):
        start, end = columns[first].tolist(), columns[last].tolist()
        for call in range(len(parent) - 1, -1, -1):
            outer = parent[call]
            if outer < 0 or start[call] < 0:
                continue
            if start[outer] < 0 or start[call] < start[outer]:
                start[outer] = start[call]
            end[outer] = max(end[outer], end[call])
        columns[first], columns[last] = np.array(start), np.array(end)
    return Table("calls", columns)


def _phase_of(events: Array, phases: Table) -> Array:
    """Return the phase each event is in; -1 for events before the recording."""
    found: Array = np.searchsorted(phases["start"], events, side="right") - 1
    return np.asarray(np.where(events < 0, -1, found))


def _categories(
    columns: dict[str, Array], end: Array, phase: Array, phases: Table, saved: Table, events: int
) -> Array:
    category = columns["category"].copy()
    unnamed = category == Category.UNKNOWN
    is_saved = np.zeros(len(category), dtype=bool)
    is_saved[saved["allocation"]] = True
    kind = np.where(phase < 0, -1, phases["kind"][np.maximum(phase, 0)].astype(np.int64))
    phase_end = phases["end"][np.maximum(phase, 0)]
    brief = (end < phase_end) | ((end == events) & (phase_end == events))
    in_call = columns["call"] >= 0
    forward = (kind == PhaseKind.FORWARD) | in_call
    choices = (
        (is_saved, Category.ACTIVATION),
        (phase < 0, Category.OTHER),
        (brief, Category.TEMPORARY),
        (forward, Category.ACTIVATION),
    )
    told = np.select(
        [mask for mask, _ in choices], [int(c) for _, c in choices], int(Category.OTHER)
    )
    category[unnamed] = told[unnamed]
    return np.asarray(category)
