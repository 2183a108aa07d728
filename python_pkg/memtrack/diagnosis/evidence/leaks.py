"""Rules on what is kept without need: graphs, results, old references, activations of inference."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.totals import alive
from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.dtypes import is_training
from memtrack.diagnosis.evidence.facts import HeldFact
from memtrack.diagnosis.evidence.origins import kinds_of_allocations
from memtrack.diagnosis.evidence.piling import Piling, piling
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.holdings import DEBUGGER, EXCEPTION, FRAME, GRAPH, OUTPUT
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text, text
from memtrack.recording import PhaseKind
from memtrack.units import MIB, format_bytes, format_percent
from memtrack.words import joined

MOST_LINES = 3
GRAPH_LINES = 3
"""A graph holds what several lines of a model made; a list of results what one line did."""
LEAST_HELD = 64 * MIB
MANY_BLOCKS = 8
LEAST_SHARE = 0.1
"""Of what is in use: a graph that is kept and holds less is not why it did not fit."""
NUMBER = 16
"""Bytes: one number of any type."""
NOT_STEPS = 0.55
OLD = frozenset({EXCEPTION, OUTPUT, DEBUGGER, FRAME})
"""Kinds of references that nobody means to keep; a variable of the notebook may be needed."""


def leak(now: Situation) -> Cause | None:
    """Each step keeps more than it gives back."""
    grown = piling(now)
    if grown is None or grown.bytes < now.needed:
        return None
    share = grown.bytes / max(now.allocated, 1)
    if share < 0.05:
        return None
    confidence = 0.9 if share >= 0.3 else 0.7 if share >= 0.15 else 0.4
    if not _are_steps(now):
        confidence = min(confidence, NOT_STEPS)
    cause = _what_grows(now, grown)
    return Cause(cause, confidence, title(cause), [*_growth_lines(now, grown), *_why(cause, grown)])


def _are_steps(now: Situation) -> bool:
    """Tell whether passes are those of a loop over batches, not over the layers of one forward.

    Each of the former ends in a loss, a single number, or in a backward.
    """
    windows, table = now.passes, now.data.allocations
    if not windows.inferred:
        return True
    number = (table["requested"] >= 0) & (table["requested"] <= NUMBER)
    ends = number | (kinds_of_allocations(now.data) == PhaseKind.BACKWARD)
    made = table["start"][ends & (table["start"] >= windows.start[0])]
    step = np.unique(np.searchsorted(windows.end, made, side="right"))
    return 2 * int((step < windows.count).sum()) >= windows.count


def _what_grows(now: Situation, grown: Piling) -> str:
    if grown.hook:
        return "hook_leak"
    if grown.saved_bytes or (
        grown.forward_lines >= GRAPH_LINES and 2 * grown.forward_bytes >= grown.bytes
    ):
        return "graph_retention"
    if not is_training(now):
        return "eval_accumulation"
    return "exception_traceback_or_stale_reference"


def _growth_lines(now: Situation, grown: Piling) -> list[Text]:
    values = {
        "each": format_bytes(grown.step_bytes),
        "bytes": format_bytes(grown.bytes),
        "percent": format_percent(grown.bytes, now.allocated),
        "steps": grown.steps,
    }
    first = (
        text(
            "Each pass through the model kept about {each} more, over the {steps} passes before:"
            " {bytes}, {percent} of what is in use",
            **values,
        )
        if now.passes.inferred
        else text(
            "Each step kept about {each} more, over the {steps} steps before: {bytes}, {percent} of"
            " what is in use",
            **values,
        )
    )
    told = [
        text("{site} ({bytes})", site=line.site, bytes=format_bytes(line.bytes))
        for line in grown.lines[:MOST_LINES]
    ]
    return (
        [first, text("What is kept was made at: {sites}", sites=joined(told))] if told else [first]
    )


def _why(cause: str, grown: Piling) -> list[Text]:
    if cause == "hook_leak":
        return [text("All of it was made inside the hook {hook}", hook=grown.hook)]
    if cause == "graph_retention" and grown.saved_bytes:
        return [
            text(
                "Autograd keeps {bytes} of it for a backward", bytes=format_bytes(grown.saved_bytes)
            )
        ]
    if cause == "graph_retention":
        return [
            text(
                "{bytes} of it are intermediate results of the forward, from {lines} lines of the"
                " model: only a graph that is kept holds these",
                bytes=format_bytes(grown.forward_bytes),
                lines=grown.forward_lines,
            )
        ]
    return []


def held(now: Situation) -> Cause | None:
    """Old references of the notebook hold as much as was missing."""
    old = [one for one in now.facts.held if one.kind in OLD and one.bytes > 0]
    total = sum(one.bytes for one in old)
    if total < max(LEAST_HELD, now.needed):
        return None
    share = total / max(now.allocated, 1)
    cause = "exception_traceback_or_stale_reference"
    lines = [
        text("{name} keeps {bytes} alive", name=one.name, bytes=format_bytes(one.bytes))
        for one in sorted(old, key=lambda one: -one.bytes)[:MOST_LINES]
    ]
    return Cause(cause, 0.9 if share >= 0.3 else 0.65 if share >= 0.1 else 0.4, title(cause), lines)


def kept_graph(now: Situation) -> Cause | None:
    """A variable of the notebook keeps the graphs of several forwards."""
    kept = [one for one in now.facts.held if one.kind == GRAPH]
    if not kept:
        return None
    largest = max(kept, key=lambda one: (one.bytes, one.passes))
    share = largest.bytes / max(now.allocated, 1)
    if 0 < largest.bytes and share < LEAST_SHARE:
        return None
    confidence = 0.85 if share >= 0.3 else 0.65
    cause = "graph_retention"
    return Cause(cause, confidence, title(cause), _lines_of_graph(now, largest))


def _lines_of_graph(now: Situation, one: HeldFact) -> list[Text]:
    values = {"name": one.name, "passes": one.passes}
    line = (
        text(
            "`{name}` keeps the autograd graphs of {passes} forward passes alive: {bytes}, {percent} of"
            " what is in use",
            bytes=format_bytes(one.bytes),
            percent=format_percent(one.bytes, now.allocated),
            **values,
        )
        if one.bytes
        else text("`{name}` keeps the autograd graphs of {passes} forward passes alive", **values)
    )
    return [
        line,
        text(
            "A loop over the time steps of one sequence needs them until its backward; a loop over"
            " batches does not"
        ),
    ]


def without_no_grad(now: Situation) -> Cause | None:
    """Several passes and never a backward, yet intermediate results of the forward are kept."""
    if now.passes.count < 2 or is_training(now):
        return None
    data = now.data
    rows = alive(data, now.device, now.cut)
    made = rows[kinds_of_allocations(data)[rows] == PhaseKind.FORWARD]
    size = int(data.allocations["bytes"][made].sum())
    if len(made) < MANY_BLOCKS or size < now.allocated // 4:
        return None
    cause = "missing_no_grad"
    line = text(
        "{passes} passes and no backward, yet {bytes} in {blocks} blocks made in the forward are kept",
        passes=now.passes.count,
        bytes=format_bytes(size),
        blocks=len(made),
    )
    return Cause(cause, 0.45, title(cause), (line,))
