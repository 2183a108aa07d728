"""What is alive at a cut, ranked by whose it is, what made it, where it lies and how old it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.layout import ranges_at
from memtrack.analysis.running import phases_at, step_and_phase
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import alive, sum_by
from memtrack.recording import Category, PhaseKind, RecordingData
from memtrack.recording.tables import Array

AGES = ("this", "previous", "older")
"""Made in the step of the cut, in the one before it, or before that."""


@dataclass(frozen=True, slots=True)
class Holder:
    """One holder of memory: its bytes and how many allocations they are."""

    name: str
    bytes: int
    allocations: int


@dataclass(frozen=True, slots=True)
class LiveSet:
    """The allocations alive at a cut, largest first in every ranking; each ranking sums to `bytes`.

    `rows` are rows of the allocations. Holders are named by the path of a layer, the id of a category,
    a line such as `train.py:88 step`, the id of the phase it was made in, one of `AGES`, and the id of
    a `Pool`. One without a name is what has no layer, no stack or no known pool, or was made before
    the recording began.
    """

    cut: int
    bytes: int
    rows: Array
    by_layer: Sequence[Holder]
    by_category: Sequence[Holder]
    by_site: Sequence[Holder]
    by_phase: Sequence[Holder]
    by_age: Sequence[Holder]
    by_pool: Sequence[Holder]


@dataclass(frozen=True, slots=True)
class LiveAllocation:
    """One allocation as people know it; what is not known of it is "", its step then -1.

    `row` is that of the allocations, `bytes` what the allocator charged for `requested` bytes.
    """

    row: int
    bytes: int
    requested: int
    name: str
    category: str
    layer: str
    site: str
    step: int
    phase: str


def live_set(data: RecordingData, device: int, cut: int) -> LiveSet:
    """Return what is alive on a device at a cut."""
    table = data.allocations
    rows = alive(data, device, cut)
    size = table["bytes"][rows]
    layers = [data.string(int(path)) for path in data.layers["path"]]
    site_codes, site_names = sites(data, table["stack"][rows])
    categories = [category.id for category in Category]
    phase = table["phase"][rows]
    kinds = np.append(data.phases["kind"].astype(np.int64), -1)[phase]
    pools, pool_names = _pools(data, device, cut, rows)
    return LiveSet(
        cut=cut,
        bytes=int(size.sum()),
        rows=rows[np.argsort(-size, kind="stable")],
        by_layer=_ranked(table["layer"][rows], size, layers),
        by_category=_ranked(table["category"][rows].astype(np.int64), size, categories),
        by_site=_ranked(site_codes, size, site_names),
        by_phase=_ranked(kinds, size, [kind.id for kind in PhaseKind]),
        by_age=_ranked(_ages(data, cut, rows), size, AGES),
        by_pool=_ranked(pools, size, pool_names),
    )


def largest_allocations(
    data: RecordingData, found: LiveSet, count: int = 20
) -> list[LiveAllocation]:
    """Return the largest allocations of a live set, by all that is known of them."""
    table, rows = data.allocations, found.rows[:count]
    site, names = sites(data, table["stack"][rows])
    steps, kinds, paths = data.phases["step"], data.phases["kind"], data.layers["path"]
    described = []
    for row, at in zip(rows.tolist(), site.tolist(), strict=True):
        one = table.row(row)
        phase, layer = one["phase"], one["layer"]
        described.append(
            LiveAllocation(
                row=row,
                bytes=one["bytes"],
                requested=one["requested"],
                name=data.string(one["name"]),
                category=Category(one["category"]).id,
                layer=data.string(int(paths[layer])) if layer >= 0 else "",
                site=names[at] if at >= 0 else "",
                step=int(steps[phase]) if phase >= 0 else -1,
                phase=PhaseKind(kinds[phase]).id if phase >= 0 else "",
            )
        )
    return described


def _ages(data: RecordingData, cut: int, rows: Array) -> Array:
    """Return an index into `AGES` for each allocation; -1 for those from before the recording."""
    start = data.allocations["start"][rows]
    made = np.append(data.phases["step"], 0)[phases_at(data, start + 1)]
    age = np.clip(step_and_phase(data, cut)[0] - made, 0, len(AGES) - 1)
    return np.where(start < 0, -1, age)


def _pools(data: RecordingData, device: int, cut: int, rows: Array) -> tuple[Array, list[str]]:
    """Return for each allocation an index into the ids of pools, -1 where its segment is not known."""
    ranges = ranges_at(data, device, cut)
    codes = np.append(ranges.pool, -1)[ranges.around(data.allocations["address"][rows])]
    return codes, [pool.id for pool in ranges.pools]


def _ranked(codes: Array, size: Array, names: Sequence[str]) -> list[Holder]:
    """Return the holders, largest first; code -1 is the one without a name."""
    groups = len(names) + 1
    total = sum_by(codes + 1, size, groups)
    count = np.bincount(codes + 1, minlength=groups)
    order = np.argsort(-total, kind="stable")
    order = order[count[order] > 0]
    return [
        Holder(names[group - 1] if group else "", int(total[group]), int(count[group]))
        for group in order
    ]
