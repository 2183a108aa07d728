"""What each allocation was for, told once its whole life is known.

What was seen by name (parameters, buffers, gradients, optimizer state, the batch) keeps its
category. The rest is told by its life: saved for backward or kept past its forward, it is an
activation; made and released within one phase, it is a temporary.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtrack.capture.libraries import Sizes
from memtrack.recording.categories import CallKind, Category, PhaseKind
from memtrack.recording.tables import Array

PRECEDENCE = {
    Category.PARAMETER: 8,
    Category.BUFFER: 7,
    Category.OPTIMIZER_STATE: 6,
    Category.GRADIENT: 5,
    Category.CAST_WEIGHT: 4,
    Category.INPUT: 3,
    Category.OUTPUT: 2,
    Category.OTHER: 1,
    Category.UNKNOWN: 0,
}
"""When a storage is seen in two roles, the one with the higher number is kept."""

Columns = Mapping[str, Array]


def phases_of(starts: Array, phases: Columns) -> Array:
    """Return the phase of each event; -1 for events before the recording."""
    found: Array = np.searchsorted(phases["start"], starts, side="right") - 1
    return np.asarray(np.where(starts < 0, -1, found))


def categories(
    tables: Mapping[str, Columns], events: int, libraries: Sizes, older: Category
) -> Array:
    """Return the category of each allocation from what was named and from its life.

    `libraries` has the sizes of what libraries keep, in bytes; `older` is the category of what was
    there before the recording and has no name.
    """
    blocks, phases, calls = tables["allocations"], tables["phases"], tables["calls"]
    category = blocks["category"].copy()
    unnamed = category == Category.UNKNOWN
    is_saved = np.zeros(len(category), dtype=bool)
    is_saved[tables["saved"]["allocation"]] = True
    phase, end = blocks["phase"], blocks["end"]
    kind = np.where(phase < 0, -1, phases["kind"][np.maximum(phase, 0)].astype(np.int64))
    phase_end = phases["end"][np.maximum(phase, 0)]
    brief = (end < phase_end) | ((end == events) & (phase_end == events))
    in_call = blocks["call"] >= 0
    forward = (kind == PhaseKind.FORWARD) | (in_call & (kind != PhaseKind.BACKWARD))
    made_again, outlives = _recomputed(blocks, calls)
    lasting = end == events
    choices = (
        *((lasting & ~is_saved & _is_sized(blocks, sizes), c) for c, sizes in libraries.items()),
        (made_again & outlives, Category.RECOMPUTED),
        (is_saved & ~made_again, Category.ACTIVATION),
        (phase < 0, older),
        (brief, Category.TEMPORARY),
        (forward, Category.ACTIVATION),
    )
    masks, codes = [mask for mask, _ in choices], [int(code) for _, code in choices]
    told = np.select(masks, codes, int(Category.OTHER))
    category[unnamed] = told[unnamed]
    return np.asarray(category)


def _is_sized(blocks: Columns, sizes: frozenset[int]) -> Array:
    return np.isin(blocks["requested"], list(sizes))


def _recomputed(blocks: Columns, calls: Columns) -> tuple[Array, Array]:
    """Return which blocks were made while checkpointing ran a forward again, and which outlive that.

    What the backward of such a call makes afterwards is not among them.
    """
    again = np.append(calls["kind"] == CallKind.RECOMPUTE, False)
    outermost = np.arange(len(again))
    parent = np.append(calls["parent"], -1)
    while True:
        inner = again & again[parent[outermost]] & (parent[outermost] >= 0)
        if not inner.any():
            break
        outermost[inner] = parent[outermost[inner]]
    until = np.append(calls["end"], 0)[outermost][blocks["call"]]
    return again[blocks["call"]] & (blocks["start"] < until), blocks["end"] > until


def targets(blocks: Columns, candidates: Array, forward_ns: Array, event_times: Array) -> Array:
    """Return which of `candidates` the loop made before the forward: targets of the loss.

    Candidates are constants that the loss keeps; `forward_ns` is when its forward began.
    """
    start = blocks["start"][candidates]
    unnamed = (blocks["category"][candidates] == Category.UNKNOWN) & (
        blocks["call"][candidates] < 0
    )
    before = (
        (start >= 0) & (event_times[np.maximum(start, 0)] < forward_ns)
        if len(event_times)
        else start < -1
    )
    return np.asarray(candidates[unnamed & before])


def with_inner_backward(calls: Columns) -> dict[str, Array]:
    """Return the calls, each one's backward window widened to hold those of calls inside it."""
    columns = dict(calls)
    parent = columns["parent"].tolist()
    for suffix in ("", "_ns"):
        first, last = f"backward_start{suffix}", f"backward_end{suffix}"
        start, end = columns[first].tolist(), columns[last].tolist()
        for call in range(len(parent) - 1, -1, -1):
            outer = parent[call]
            if outer < 0 or start[call] < 0:
                continue
            if start[outer] < 0 or start[call] < start[outer]:
                start[outer] = start[call]
            end[outer] = max(end[outer], end[call])
        columns[first], columns[last] = np.array(start, dtype="i8"), np.array(end, dtype="i8")
    return columns
