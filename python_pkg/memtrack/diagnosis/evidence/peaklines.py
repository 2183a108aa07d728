"""What is in use at a peak, and what brought it there: lines of evidence for capacity."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.totals import alive, by_category, sum_by
from memtrack.diagnosis.evidence.origins import kinds_of_allocations
from memtrack.diagnosis.evidence.place import place_of
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.units import format_bytes
from memtrack.words import CATEGORIES, joined

MOST_PARTS = 4
LEAST_SHARE = 0.05
GREW = 1.5
"""Times as large: then the batch or the sequence has grown."""


def phase_lines(now: Situation) -> list[Text]:
    """Tell what the phase that failed has to do with it."""
    phase = place_of(now).phase
    if phase == PhaseKind.OPTIMIZER.id:
        return _first_step(now)
    if phase == PhaseKind.BACKWARD.id and now.passes.last >= 0:
        return _backward(now)
    return []


def _first_step(now: Situation) -> list[Text]:
    """Tell that the optimizer makes its state just now, and how much it has made so far."""
    data = now.data
    kinds, begun = kinds_of_allocations(data), data.allocations["start"]
    before = (kinds == PhaseKind.OPTIMIZER) & (begun < now.passes.last)
    rows = alive(data, now.device, now.cut)
    state = int(data.allocations["bytes"][rows[kinds[rows] == PhaseKind.OPTIMIZER]].sum())
    if before.any() or not state:
        return []
    return [
        text(
            "It is the optimizer's first step: it has made {bytes} of state so far, which stays as long"
            " as it trains",
            bytes=format_bytes(state),
        )
    ]


def _backward(now: Situation) -> list[Text]:
    """Tell how much the forward had left, which backward then wanted more than."""
    kinds = kinds_of_allocations(now.data)
    rows = now.data.allocations["start"]
    forward = rows[(kinds == PhaseKind.FORWARD) & (rows >= now.passes.last) & (rows < now.cut)]
    if not len(forward):
        return []
    level = int(now.levels[int(forward.max()) + 1])
    return [
        text(
            "The forward of this step ended with {level} in use; backward came to {used} and asked for"
            " more",
            level=format_bytes(level),
            used=format_bytes(now.allocated),
        )
    ]


def made_of(now: Situation) -> list[Text]:
    """Tell what is in use: by category, or by when it was made where no categories are known."""
    if not now.allocated:
        return []
    parts = _categories(now) or _kinds(now)
    large = [(name, size) for name, size in parts if size >= LEAST_SHARE * now.allocated]
    large.sort(key=lambda part: -part[1])
    told = [
        text("{name} {bytes}", name=name, bytes=format_bytes(size))
        for name, size in large[:MOST_PARTS]
    ]
    return [text("In use: {parts}", parts=joined(told))] if told else []


def _categories(now: Situation) -> list[tuple[Text, int]]:
    sizes = by_category(now.data, now.device, np.array([now.cut]))[0]
    if 2 * int(sizes[Category.UNKNOWN]) >= int(sizes.sum()):
        return []
    known = [one for one in Category if one.id in CATEGORIES]
    return [(CATEGORIES[one.id], int(sizes[one])) for one in known]


def _kinds(now: Situation) -> list[tuple[Text, int]]:
    """Return what is in use by when it was made, for a recording without categories."""
    rows = alive(now.data, now.device, now.cut)
    kinds = kinds_of_allocations(now.data)[rows].astype(np.int64)
    size = sum_by(kinds, now.data.allocations["bytes"][rows], len(PhaseKind)).tolist()
    names = {
        PhaseKind.FORWARD: text("made in the forward"),
        PhaseKind.BACKWARD: text("made in the backward"),
        PhaseKind.OPTIMIZER: text("made by the optimizer"),
        PhaseKind.OTHER: text("made outside of the model's passes"),
    }
    return [(names[kind], size[kind]) for kind in PhaseKind]


def grew(now: Situation) -> list[Text]:
    """Tell that this pass makes larger tensors than the one before it at the same lines."""
    ratio = growth_of_shapes(now)
    if ratio < GREW:
        return []
    return [
        text(
            "The same lines made tensors {times} times as large as in the pass before: the batch or"
            " the sequence has grown",
            times=f"{ratio:.1f}",
        )
    ]


def growth_of_shapes(now: Situation) -> float:
    """Return how many times as large this pass's forward tensors are as the last one's, by line; 0.0: unknown."""
    if now.passes.count < 1 or now.passes.last < 0:
        return 0.0
    table = now.data.allocations
    forward = kinds_of_allocations(now.data) == PhaseKind.FORWARD
    start, stack, size = (table[name] for name in ("start", "stack", "bytes"))
    before = forward & (start >= now.passes.start[-1]) & (start < now.passes.end[-1])
    this = forward & (start >= now.passes.last) & (start < now.cut)
    count = len(now.data.stacks)
    means = []
    for chosen in (before, this):
        held = np.bincount(stack[chosen] + 1, weights=size[chosen], minlength=count + 1)
        means.append(held / np.maximum(np.bincount(stack[chosen] + 1, minlength=count + 1), 1))
    both = (means[0] > 0) & (means[1] > 0)
    return float(np.median(means[1][both] / means[0][both])) if both.any() else 0.0
