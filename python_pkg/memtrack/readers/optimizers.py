"""What the steps of an optimizer tell of blocks in a snapshot that says nothing of categories."""

from __future__ import annotations

import numpy as np

from memtrack.recording import Category, PhaseKind, Table


def with_optimizer_state(allocations: Table, phases: Table) -> Table:
    """Return the allocations with their phases, and the categories that these tell.

    What an optimizer's step makes and releases is a temporary of it. What its first step makes and
    keeps to the end is state: torch's optimizers make their state when they first step.
    """
    columns = dict(allocations.columns)
    start, end = columns["start"], columns["end"]
    phase = np.searchsorted(phases["start"], start, side="right") - 1
    columns["phase"] = np.where(start < 0, -1, phase)
    steps = np.flatnonzero(phases["kind"] == PhaseKind.OPTIMIZER)
    if len(steps):
        inside = (start >= 0) & (phases["kind"][phase] == PhaseKind.OPTIMIZER)
        brief = inside & (end < phases["end"][phase])
        kept = inside & (phase == steps[0]) & (end == phases["end"][-1])
        category = columns["category"].copy()
        category[brief] = int(Category.TEMPORARY)
        category[kept] = int(Category.OPTIMIZER_STATE)
        columns["category"] = category
    return Table("allocations", columns)
