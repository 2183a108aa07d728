"""Several ranks of one run side by side: how unequal their peaks are, and what makes them so.

Each rank is taken at its own peak, of the kind of device that has the most at stake; parts of a rank
sum to its peak exactly, so the differences of the parts sum to that of the peaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.device import devices_in_order
from memtrack.analysis.peak import Peak, peak_of
from memtrack.analysis.reserved import reserved
from memtrack.analysis.totals import alive, allocated, by_category, sum_by
from memtrack.recording import Category, RecordingData

MOST_LAYERS = 20


@dataclass(frozen=True, slots=True)
class RankPeak:
    """One rank at its peak. `categories` and `layers` (own bytes by path, "" outside) each sum to it.

    `device` is a row of devices. `reserved` is the most of the run, -1 where it is not known.
    """

    device: int
    peak: Peak
    reserved: int
    categories: Mapping[str, int]
    layers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Share:
    """One category or layer: bytes for each rank, and by how much the fullest is above the mean."""

    name: str
    bytes: Sequence[int]
    difference: int


@dataclass(frozen=True, slots=True)
class Imbalance:
    """How unequal ranks are; `fullest` is a place in the sequence of ranks. `ratio` is max / mean."""

    fullest: int
    most: int
    mean: float
    ratio: float
    categories: Sequence[Share]
    layers: Sequence[Share]


def rank_peak(data: RecordingData) -> RankPeak | None:
    """Return a rank at its peak, None where it saw no memory."""
    devices = devices_in_order(data)
    if not devices or not len(data.devices):
        return None
    device = devices[0]
    levels = allocated(data, device)
    found = peak_of(data, levels)
    categories = by_category(data, device, np.array([found.cut]))[0].tolist()
    held = reserved(data, device, np.arange(len(levels)), levels)
    return RankPeak(
        device=device,
        peak=found,
        reserved=-1 if held is None else int(held.max()),
        categories={one.id: categories[one] for one in Category if categories[one]},
        layers=_by_layer(data, device, found.cut),
    )


def imbalance(ranks: Sequence[RankPeak]) -> Imbalance:
    """Compare ranks, at least one of them; the first of the fullest stands for all."""
    peaks = [one.peak.bytes for one in ranks]
    most, mean = max(peaks), sum(peaks) / len(peaks)
    fullest = peaks.index(most)
    return Imbalance(
        fullest=fullest,
        most=most,
        mean=mean,
        ratio=most / mean if mean else 1.0,
        categories=_shares([one.categories for one in ranks], fullest),
        layers=_shares([one.layers for one in ranks], fullest)[:MOST_LAYERS],
    )


def _shares(parts: Sequence[Mapping[str, int]], fullest: int) -> list[Share]:
    names = list(dict.fromkeys(name for part in parts for name in part))
    shares = []
    for name in names:
        sizes = [part.get(name, 0) for part in parts]
        shares.append(Share(name, sizes, round(sizes[fullest] - sum(sizes) / len(sizes))))
    return sorted(shares, key=lambda share: (-abs(share.difference), -max(share.bytes), share.name))


def _by_layer(data: RecordingData, device: int, cut: int) -> dict[str, int]:
    rows = alive(data, device, cut)
    layer = data.allocations["layer"][rows]
    count = len(data.layers)
    sums = sum_by(np.where(layer < 0, count, layer), data.allocations["bytes"][rows], count + 1)
    found: dict[str, int] = {}
    for row in np.flatnonzero(sums).tolist():
        path = data.string(int(data.layers["path"][row])) if row < count else ""
        found[path] = found.get(path, 0) + int(sums[row])
    return found
