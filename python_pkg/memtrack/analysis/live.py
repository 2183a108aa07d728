"""What is alive at a cut, ranked by layer, by category and by line of the user's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.sites import sites
from memtrack.analysis.totals import alive, sum_by
from memtrack.recording import Category, RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Holder:
    """One holder of memory: its bytes and how many allocations they are."""

    name: str
    bytes: int
    allocations: int


@dataclass(frozen=True, slots=True)
class LiveSet:
    """The allocations alive at a cut, largest first in every ranking; each ranking sums to `bytes`.

    `rows` are rows of the allocations. A holder without a name is what has no layer or no stack.
    """

    cut: int
    bytes: int
    rows: Array
    by_layer: Sequence[Holder]
    by_category: Sequence[Holder]
    by_site: Sequence[Holder]


def live_set(data: RecordingData, device: int, cut: int) -> LiveSet:
    """Return what is alive on a device at a cut."""
    table = data.allocations
    rows = alive(data, device, cut)
    size = table["bytes"][rows]
    layers = [data.string(int(path)) for path in data.layers["path"]]
    site_codes, site_names = sites(data, table["stack"][rows])
    categories = [category.id for category in Category]
    return LiveSet(
        cut=cut,
        bytes=int(size.sum()),
        rows=rows[np.argsort(-size, kind="stable")],
        by_layer=_ranked(table["layer"][rows], size, layers),
        by_category=_ranked(table["category"][rows].astype(np.int64), size, categories),
        by_site=_ranked(site_codes, size, site_names),
    )


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
