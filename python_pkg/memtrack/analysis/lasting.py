"""Allocations that outlive the step after the one that made them, and which kinds of them pile up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.creep import LEAST_STEPS, WARM_UP_STEPS
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import sum_by
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

RISES_A_FALL = 3
"""A level that rises at least so often for each time it falls grows: what is replaced does not."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """Such allocations, as columns: `rows` of the allocations, in order.

    `group` tells those of one source line, layer and category apart, `made` is the step that made
    each, `last` the last one it saw end, of `steps` in all. `saved` are those that autograd kept.
    """

    rows: Array
    group: Array
    made: Array
    last: Array
    size: Array
    saved: Array
    steps: int

    @property
    def is_there(self) -> Array:
        """Which are still alive at the end of the last step."""
        return np.asarray(self.last == self.steps - 1)

    def of(self, chosen: Array) -> Lasting:
        """Return some of them."""
        names = ("rows", "group", "made", "last", "size", "saved")
        return Lasting(**{name: getattr(self, name)[chosen] for name in names}, steps=self.steps)

    def by_step(self) -> Array:
        """Return the bytes made in each step."""
        return sum_by(self.made, self.size, self.steps)


def lasting(data: RecordingData, device: int, start: Array, end: Array) -> Lasting:
    """Return what is alive two ends of steps after it was made; `start` and `end` are cuts of the steps."""
    table, steps = data.allocations, len(end)
    here = table["device"] == device
    rows = np.flatnonzero(here & (table["start"] >= start[0])) if steps > LEAST_STEPS else _NONE
    made = np.searchsorted(end, table["start"][rows], side="right")
    last = np.searchsorted(end, table["end"][rows], side="right") - 1
    lasts = last > made
    rows = rows[lasts]
    return Lasting(
        rows=rows,
        group=_grouped(data, rows),
        made=made[lasts],
        last=last[lasts],
        size=table["bytes"][rows],
        saved=np.isin(rows, data.saved["allocation"]),
        steps=steps,
    )


_NONE: Array = np.zeros(0, dtype=np.int64)


def _grouped(data: RecordingData, rows: Array) -> Array:
    """Return the same number for allocations of one source line, layer and category."""
    table = data.allocations
    site, _ = sites(data, table["stack"][rows])
    columns = (site, table["layer"][rows], table["category"][rows])
    keys = np.stack([column.astype(np.int64) for column in columns], axis=1)
    _, group = np.unique(keys, axis=0, return_inverse=True)
    return group.reshape(-1)


def growing_groups(found: Lasting) -> Array:
    """Return the groups that grow, in order.

    Their level, seen at the ends of the steps, rose in three steps at least, and in half of those
    after the warm-up; what was made once only is none of them.
    """
    if not len(found.rows):
        return _NONE
    # A step's change in a group is a group and a step in one number.
    width = found.steps + 1
    shift = found.group * width
    key, change = changes(shift + found.made, shift + found.last, found.size)
    where, step = np.divmod(key, width)
    groups = int(found.group.max()) + 1
    warm = (step > WARM_UP_STEPS) & (step < found.steps)
    rises = rose(where, change)
    all_rises, warm_rises, falls = (
        np.bincount(where[moved], minlength=groups)
        for moved in (rises & (step < found.steps), rises & warm, (change < 0) & warm)
    )
    half = max(1, (found.steps - 1 - WARM_UP_STEPS) // 2)
    grows = (all_rises >= LEAST_STEPS) & (warm_rises >= half)
    return np.flatnonzero(grows & (warm_rises >= RISES_A_FALL * falls))


def changes(made: Array, last: Array, size: Array) -> tuple[Array, Array]:
    """Return the ends of steps at which a level changes, and by how many bytes.

    What a step made shows at the end of the next; it is gone at the end after the last that saw it.
    """
    found, codes = np.unique(np.concatenate((made, last)) + 1, return_inverse=True)
    change = np.zeros(len(found), dtype=np.int64)
    np.add.at(change, codes, np.concatenate((size, -size)))
    return found, change


def rose(where: Array, change: Array) -> Array:
    """Return which changes take a group's level above all it had been since it was last cleared.

    `where` is the group of each, in order; its changes sum to 0. A full buffer whose entries differ in
    size goes up and down, but never beyond its bounds; a list that is emptied at the end of each epoch
    starts again. Cleared is what falls to less than half.
    """
    level = np.cumsum(change)
    cleared = (level < (level - change) // 2) | (np.diff(where, prepend=-1) != 0)
    _, rank = np.unique(level, return_inverse=True)
    height = np.cumsum(cleared) * len(level) + rank
    highest_before = np.maximum.accumulate(np.concatenate(([-1], height)))[:-1]
    return np.asarray((change > 0) & (height > highest_before))
