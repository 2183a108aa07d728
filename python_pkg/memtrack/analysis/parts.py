"""A part of a device, and what the tensors and the cache at one moment are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.fragmentation import PoolState, fragmentation
from memtrack.analysis.reserved import DEFAULT_POOL
from memtrack.analysis.totals import sum_by
from memtrack.recording import Category, PhaseKind, RecordingData
from memtrack.recording.tables import Array

DRAW_ORDER = (
    Category.PARAMETER,
    Category.BUFFER,
    Category.GRADIENT,
    Category.OPTIMIZER_STATE,
    Category.CAST_WEIGHT,
    Category.ACTIVATION,
    Category.RECOMPUTED,
    Category.OUTPUT,
    Category.INPUT,
    Category.TEMPORARY,
    Category.COMMUNICATION,
    Category.WORKSPACE,
    Category.OTHER,
    Category.UNKNOWN,
)
"""Categories as every view stacks and lists them: from the most lasting to the least known."""

MEASURED, ESTIMATED = "measured", "estimated"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a device: a category, `cache`, `context`, `process`, `outside`, `others` or `free`.

    `certainty` is `measured` or `estimated`. `details` split a part and sum to it: `temporary` by
    the phase its tensors were made in (`temporary.forward`), `cache` into `cache.small` and
    `cache.large` (what `empty_cache` would give back, of the default pools), `cache.splinters` (what
    it cannot), `cache.private` (free inside private pools) and `cache.pending` (freed, but waiting
    for a stream). No detail is 0; none where nothing tells.
    """

    id: str
    bytes: int
    certainty: str = MEASURED
    details: Sequence[Part] = ()


def tensor_parts(data: RecordingData, rows: Array, by_category: Array) -> list[Part]:
    """Return a part for every category in draw order; `rows` are the allocations in use."""
    details = {Category.TEMPORARY: _by_phase(data, rows, Category.TEMPORARY)}
    return [
        Part(category.id, int(by_category[category]), details=details.get(category, ()))
        for category in DRAW_ORDER
    ]


def cache_part(data: RecordingData, device: int, cut: int, size: int, certainty: str) -> Part:
    """Return the part of the allocator's cache, `size` bytes, by pool where its history tells."""
    found = fragmentation(data, device, cut)
    details = [] if found is None else _by_pool(found.pools)
    # Where history and blocks contradict each other, nothing is said rather than something wrong.
    agrees = sum(part.bytes for part in details) == size
    return Part("cache", size, certainty, details if agrees else ())


def _by_phase(data: RecordingData, rows: Array, category: Category) -> list[Part]:
    """Return the bytes of a category by the phase they were made in; `other` if before the recording."""
    table = data.allocations
    mine = rows[table["category"][rows] == category]
    kinds = np.append(data.phases["kind"], PhaseKind.OTHER)[table["phase"][mine]]
    sums = sum_by(kinds.astype(np.int64), table["bytes"][mine], len(PhaseKind))
    return _details(category.id, {kind.id: int(sums[kind]) for kind in PhaseKind})


def _by_pool(pools: Sequence[PoolState]) -> list[Part]:
    sums = dict.fromkeys(("small", "large", "splinters", "private", "pending"), 0)
    for pool in pools:
        sums["pending"] += pool.pending
        if pool.pool == DEFAULT_POOL:
            sums["small" if pool.small else "large"] += pool.releasable
            sums["splinters"] += pool.splinters
        else:
            sums["private"] += pool.free
    return _details("cache", sums)


def _details(whole: str, sums: dict[str, int]) -> list[Part]:
    return [Part(f"{whole}.{name}", size) for name, size in sums.items() if size]
