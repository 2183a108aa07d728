"""What stays behind, step after step: memory that grows although every step does the same.

Of an ordinary step all is gone by the end of the next one, at the latest when a variable such as
`loss` is given its next value; what lasts longer was made once, such as the state of an optimizer.
Growth is what lasts longer and comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.creep import LEAST_STEPS, WARM_UP_STEPS, Creep, creep
from memtrack.analysis.pace import finished_steps
from memtrack.analysis.peak import step_windows
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import allocated, sum_by
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

RISES_A_FALL = 3
"""A level that rises at least so often for each time it falls grows: what is replaced does not."""
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

    `kept` has for each the bytes made in it that were still there when the next one ended. `groups`
    are what grows, the most a step first; none where nothing does. Of too many the largest are given,
    `omitted` others hold `omitted_bytes` at the end of the last finished step. `creep` tells of
    reserved memory.
    """

    steps: int
    kept: Array
    groups: Sequence[GrowingGroup]
    omitted: int
    omitted_bytes: int
    creep: Creep | None

    @property
    def step_bytes(self) -> int:
        """Bytes added by a step in which all of `groups` grow."""
        return sum(group.step_bytes for group in self.groups)

    @property
    def bytes(self) -> int:
        """Bytes of all groups at the end of the last finished step."""
        return sum(group.bytes for group in self.groups) + self.omitted_bytes

    @property
    def keeps_graphs(self) -> bool:
        """Whether what grows includes graphs of autograd, as `losses.append(loss)` makes them."""
        return any(group.saved_bytes > 0 for group in self.groups)


def growth(data: RecordingData, device: int) -> Growth:
    """Return what grew on a device over the steps of a recording."""
    return growth_of(data, device, allocated(data, device))


def growth_of(data: RecordingData, device: int, levels: Array) -> Growth:
    """Return the growth from the levels of a device that are already known."""
    steps = finished_steps(data)
    start, end = (edge[:steps] for edge in step_windows(data))
    rows, made, last = _lasting(data, device, start, end)
    size = data.allocations["bytes"][rows]
    stays = _Stays(rows, made, last, size, steps)
    groups, omitted, omitted_bytes = _groups(data, stays)
    kept = sum_by(made, size, steps)
    return Growth(steps, kept, groups, omitted, omitted_bytes, creep(data, device, levels))


@dataclass(frozen=True, slots=True)
class _Stays:
    """Allocations that outlived the step after theirs: the step that made each, the last it saw end."""

    rows: Array
    made: Array
    last: Array
    size: Array
    steps: int

    def of(self, chosen: Array) -> _Stays:
        """Return some of them."""
        rows, made, last, size = (
            column[chosen] for column in (self.rows, self.made, self.last, self.size)
        )
        return _Stays(rows, made, last, size, self.steps)


def _lasting(
    data: RecordingData, device: int, start: Array, end: Array
) -> tuple[Array, Array, Array]:
    """Return the allocations alive two ends of steps after they were made, and their steps."""
    table = data.allocations
    if len(end) <= LEAST_STEPS:
        return (np.zeros(0, dtype=np.int64),) * 3
    rows = np.flatnonzero((table["device"] == device) & (table["start"] >= start[0]))
    made = np.searchsorted(end, table["start"][rows], side="right")
    last = np.searchsorted(end, table["end"][rows], side="right") - 1
    lasting = last > made
    return rows[lasting], made[lasting], last[lasting]


def _groups(data: RecordingData, stays: _Stays) -> tuple[list[GrowingGroup], int, int]:
    """Return the largest growing groups, and how many others hold how many bytes at the end."""
    if not len(stays.rows):
        return [], 0, 0
    table = data.allocations
    site, names = sites(data, table["stack"][stays.rows])
    columns = (site, table["layer"][stays.rows], table["category"][stays.rows])
    keys = np.stack([column.astype(np.int64) for column in columns], axis=1)
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    growing = _growing(group, stays)
    there = np.where(stays.last == stays.steps - 1, stays.size, 0)
    held = sum_by(group, there, int(group.max()) + 1)[growing]
    by_size = np.argsort(-held, kind="stable")
    chosen, left = by_size[:MOST_GROUPS], by_size[MOST_GROUPS:]
    order = np.argsort(group, kind="stable")
    first, end = (np.searchsorted(group[order], growing, side=side) for side in ("left", "right"))
    found = []
    for place in chosen.tolist():
        mine = order[first[place] : end[place]]
        at = int(site[mine[0]])
        found.append(_group(data, stays.of(mine), names[at] if at >= 0 else ""))
    found.sort(key=lambda one: (-one.step_bytes, -one.bytes))
    return found, len(left), int(held[left].sum())


def _growing(group: Array, stays: _Stays) -> Array:
    """Return the groups whose level rose in three steps at least, and in half of those after the warm-up."""
    key, change = _changes(group, stays)
    where, step = np.divmod(key, stays.steps + 1)
    groups = int(group.max()) + 1
    warm = (step > WARM_UP_STEPS) & (step < stays.steps)
    rose = _rose(where, change)
    rises, rises_warm, falls = (
        np.bincount(where[moved], minlength=groups)
        for moved in (rose & (step < stays.steps), rose & warm, (change < 0) & warm)
    )
    half = max(1, (stays.steps - 1 - WARM_UP_STEPS) // 2)
    grows = (rises >= LEAST_STEPS) & (rises_warm >= half) & (rises_warm >= RISES_A_FALL * falls)
    return np.flatnonzero(grows)


def _rose(where: Array, change: Array) -> Array:
    """Return which changes take a group's level above all it had been since it was last cleared.

    A full buffer whose entries differ in size goes up and down, but never beyond its bounds; a list
    that is emptied at the end of each epoch starts again. Cleared is what falls to less than half.
    """
    level = np.cumsum(change)  # the changes of a group sum to 0
    cleared = (level < (level - change) // 2) | (np.diff(where, prepend=-1) != 0)
    _, rank = np.unique(level, return_inverse=True)
    height = np.cumsum(cleared) * len(level) + rank
    highest_before = np.maximum.accumulate(np.concatenate(([-1], height)))[:-1]
    return np.asarray((change > 0) & (height > highest_before))


def _changes(group: Array, stays: _Stays) -> tuple[Array, Array]:
    """Return by how much what lasts in each group changes from end to end of the steps.

    A change is named group · (steps + 1) + the step at whose end it shows: the step after the one
    that made it, and the first at whose end it is gone.
    """
    key = group * (stays.steps + 1)
    keys = np.concatenate((key + stays.made + 1, key + stays.last + 1))
    found, codes = np.unique(keys, return_inverse=True)
    change = np.zeros(len(found), dtype=np.int64)
    np.add.at(change, codes, np.concatenate((stays.size, -stays.size)))
    return found, change


def _group(data: RecordingData, stays: _Stays, site: str) -> GrowingGroup:
    table, first = data.allocations, int(stays.rows[0])
    step, change = _changes(np.zeros(len(stays.rows), dtype=np.int64), stays)
    rises = _rose(np.zeros(len(step), dtype=np.int64), change) & (step < stays.steps)
    there = stays.last == stays.steps - 1
    rows, size = stays.rows[there], stays.size[there]
    return GrowingGroup(
        site=site,
        layer=int(table["layer"][first]),
        category=int(table["category"][first]),
        kept=sum_by(stays.made, stays.size, stays.steps),
        steps=int(rises.sum()),
        first_step=int(step[rises][0]) - 1,
        step_bytes=int(np.median(change[rises])),
        bytes=int(size.sum()),
        saved_bytes=int(size[np.isin(rows, data.saved["allocation"])].sum()),
        allocation=int(rows[np.argmax(size)]) if len(rows) else -1,
    )
