"""Bytes in use over the cuts of a recording, in all and by category. Exact, in int64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.recording import Category, EventKind, RecordingData
from memtrack.recording.tables import Array


def allocated(data: RecordingData, device: int) -> Array:
    """Return the bytes in use on a device at every cut (int64, `data.cuts + 1` of them)."""
    edges, signed = _changes(data, device)
    levels = np.zeros(data.cuts + 1, dtype=np.int64)
    levels[0] = _before(data, device).sum()
    levels[edges + 1] = signed
    return np.cumsum(levels, out=levels)


def by_category(data: RecordingData, device: int, cuts: Array) -> Array:
    """Return the bytes of each category at each of `cuts`: int64[len(cuts), len(Category)].

    Rows sum to what `allocated` gives at the same cut.
    """
    return category_levels(data, device).at(cuts)


@dataclass(frozen=True, slots=True)
class CategoryLevels:
    """The bytes of every category on one device, as steps: a step is an event that changes it.

    Steps of category k stand at `first[k]` to `first[k + 1]`; `event` is in order in each.
    """

    before: Array
    first: Array
    event: Array
    level: Array

    def at(self, cuts: Array) -> Array:
        """Return the bytes at each of `cuts`: int64[len(cuts), len(Category)]."""
        columns = [self._one_at(category, cuts) for category in Category]
        return np.stack(columns, axis=1)

    def peak_cut(self, category: Category) -> int:
        """Return the earliest cut at which a category is largest."""
        event, level = self._steps(category)
        highest = int(np.argmax(level))
        return int(event[highest - 1]) + 1 if highest else 0

    def _one_at(self, category: Category, cuts: Array) -> Array:
        event, level = self._steps(category)
        return level[np.searchsorted(event, cuts)]

    def _steps(self, category: Category) -> tuple[Array, Array]:
        """Return the events that change a category, and its bytes before all and after each."""
        part = slice(self.first[category], self.first[category + 1])
        before = self.before[category : category + 1]
        return self.event[part], np.concatenate((before, self.level[part]))


def category_levels(data: RecordingData, device: int) -> CategoryLevels:
    """Return the levels of every category on a device, for many questions about them."""
    edges, signed = _changes(data, device)
    category = data.allocations["category"][data.events["allocation"][edges]]
    order = np.argsort(category, kind="stable")
    count = np.bincount(category, minlength=len(Category))
    first = np.concatenate(([0], np.cumsum(count)))
    mine = np.flatnonzero(data.allocations["device"] == device)
    before = sum_by(data.allocations["category"][mine], _before(data, device), len(Category))
    level = np.cumsum(signed[order])
    carried = np.concatenate(([0], level))[first[:-1]] - before
    return CategoryLevels(before, first, edges[order], level - np.repeat(carried, count))


def alive(data: RecordingData, device: int, cut: int) -> Array:
    """Return the rows of the allocations of a device that are in use at a cut."""
    table = data.allocations
    here = (table["start"] < cut) & (cut <= table["end"]) & (table["device"] == device)
    return np.flatnonzero(here)


def sum_by(group: Array, values: Array, groups: int) -> Array:
    """Return the sum of `values` in each group (int64); rows of group -1 are left out.

    Sums pass through float64, exact below 2^53: bytes in use at one moment are.
    """
    inside = group >= 0
    sums = np.bincount(group[inside], weights=values[inside], minlength=groups)
    return sums.astype(np.int64)


def cut_times(data: RecordingData, cuts: Array) -> Array:
    """Return when each cut is reached, in nanoseconds: the time of the event before it."""
    times = np.concatenate(([0], data.events["time_ns"]))
    return times[cuts]


def _changes(data: RecordingData, device: int) -> tuple[Array, Array]:
    """Return the events that change what is in use on a device, and by how many bytes."""
    kind = data.events["kind"]
    moves = (kind == EventKind.ALLOC) | (kind == EventKind.FREE)
    edges = np.flatnonzero(moves & (data.events["device"] == device))
    size = data.events["bytes"][edges]
    return edges, np.where(kind[edges] == EventKind.ALLOC, size, -size)


def _before(data: RecordingData, device: int) -> Array:
    """Return for each allocation of a device its bytes if it is older than the recording, else 0."""
    table = data.allocations
    mine = table["device"] == device
    return np.where(table["start"][mine] == -1, table["bytes"][mine], 0)
