"""What stays behind, step after step: memory that grows although every step does the same.

Of an ordinary step all is gone by the end of the next one, at the latest when a variable such as
`loss` is given its next value; what lasts longer was made once, such as the state of an optimizer.
Growth is what lasts longer and comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.creep import WARM_UP_STEPS, Creep, creep, creep_over_time
from memtrack.analysis.lasting import Lasting, changes, growing_groups, lasting, rose
from memtrack.analysis.pace import finished_steps
from memtrack.analysis.peak import step_windows
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import allocated, sum_by
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

MOST_GROUPS = 100
"""Groups are given one by one up to this number."""


@dataclass(frozen=True, slots=True)
class GrowingGroup:
    """Allocations of one source line, layer and category that pile up.

    `site` is `train.py:88 step` or "" where unknown, `layer` a row of the layers or -1, `category`
    a code. `kept` has for each finished step the bytes made in it that were still there when the
    next one ended (0 for the last). `steps` of them took the level above all it had been since it was
    last cleared, the first of them `first_step`, by `step_bytes` in the median. `bytes` are there at
    the end of the last finished step, not counting what that step made; `saved_bytes` of them
    autograd keeps for a backward: a graph is held. `allocation` is the largest of them, a row of the
    allocations, or -1.
    """

    site: str
    layer: int
    category: int
    kept: Array
    steps: int
    first_step: int
    step_bytes: int
    bytes: int
    saved_bytes: int
    allocation: int


@dataclass(frozen=True, slots=True)
class Growth:
    """How a device's memory grew over the finished steps, `steps` of them.

    `kept` has for each the bytes made in it that were still there when the next one ended, `growing`
    how much of that is of what grows. The latter are `groups`, the most a step first, none where
    nothing grows; of too many the largest are given, `omitted` others hold `omitted_bytes`. `bytes`
    of all of them are there at the end of the last finished step, not counting what that made;
    `saved_bytes` of these autograd keeps.

    `creep` tells of reserved memory step by step; without steps `creep_over_time` does so of parts of
    the recording with equally many events, which its `steps` then count.
    """

    steps: int
    kept: Array
    growing: Array
    groups: Sequence[GrowingGroup]
    omitted: int
    omitted_bytes: int
    bytes: int
    saved_bytes: int
    creep: Creep | None
    creep_over_time: Creep | None

    @property
    def step_bytes(self) -> int:
        """Bytes by which a step after the first two grows memory on average."""
        told = self.growing[WARM_UP_STEPS:-1]
        return round(float(told.mean())) if len(told) else 0

    @property
    def keeps_graphs(self) -> bool:
        """Whether what grows includes graphs of autograd, as `losses.append(loss)` makes them."""
        return self.saved_bytes > 0


def growth(data: RecordingData, device: int) -> Growth:
    """Return what grew on a device over the steps of a recording."""
    return growth_of(data, device, allocated(data, device))


def growth_of(data: RecordingData, device: int, levels: Array) -> Growth:
    """Return the growth from the levels of a device that are already known."""
    steps = finished_steps(data)
    start, end = (edge[:steps] for edge in step_windows(data))
    found = lasting(data, device, start, end)
    growing = growing_groups(found)
    grows = found.of(np.isin(found.group, growing))
    groups, omitted, omitted_bytes = _groups(data, grows, growing)
    return Growth(
        steps=steps,
        kept=found.by_step(),
        growing=grows.by_step(),
        groups=groups,
        omitted=omitted,
        omitted_bytes=omitted_bytes,
        bytes=int(grows.size[grows.is_there].sum()),
        saved_bytes=int(grows.size[grows.is_there & grows.saved].sum()),
        creep=creep(data, device, levels),
        creep_over_time=None if data.steps_run else creep_over_time(data, device, levels),
    )


def _groups(
    data: RecordingData, grows: Lasting, growing: Array
) -> tuple[list[GrowingGroup], int, int]:
    """Return the largest of the growing groups, and how many others hold how many bytes at the end."""
    there = np.where(grows.is_there, grows.size, 0)
    held = sum_by(np.searchsorted(growing, grows.group), there, len(growing))
    by_size = np.argsort(-held, kind="stable")
    chosen, left = by_size[:MOST_GROUPS], by_size[MOST_GROUPS:]
    order = np.argsort(grows.group, kind="stable")
    first = np.searchsorted(grows.group[order], growing)
    end = np.append(first[1:], len(order))
    found = [_group(data, grows.of(order[first[row] : end[row]])) for row in chosen.tolist()]
    found.sort(key=lambda one: (-one.step_bytes, -one.bytes))
    return found, len(left), int(held[left].sum())


def _group(data: RecordingData, stays: Lasting) -> GrowingGroup:
    table, first = data.allocations, stays.rows[:1]
    step, change = changes(stays.made, stays.last, stays.size)
    rises = rose(np.zeros(len(step), dtype=np.int64), change) & (step < stays.steps)
    rows, size = stays.rows[stays.is_there], stays.size[stays.is_there]
    site, names = sites(data, table["stack"][first])
    return GrowingGroup(
        site=names[0] if site[0] >= 0 else "",
        layer=int(table["layer"][first[0]]),
        category=int(table["category"][first[0]]),
        kept=stays.by_step(),
        steps=int(rises.sum()),
        first_step=int(step[rises][0]) - 1,
        step_bytes=int(np.median(change[rises])),
        bytes=int(size.sum()),
        saved_bytes=int(size[stays.saved[stays.is_there]].sum()),
        allocation=int(rows[np.argmax(size)]) if len(rows) else -1,
    )
