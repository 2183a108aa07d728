"""What one run is compared by: small, and all that is kept of a run whose recording is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.device import devices_in_order
from memtrack.analysis.layers import ADDITIVE, layer_table_of
from memtrack.analysis.pace import step_ns
from memtrack.analysis.peak import Peak, layer_peaks, peak_of, phase_peaks
from memtrack.analysis.reserved import segments_of
from memtrack.analysis.totals import alive, allocated, category_levels
from memtrack.comparison.axis import Line, line_of
from memtrack.comparison.settings import settings_of
from memtrack.comparison.shapes import Tree, tree_of
from memtrack.recording import Category, RecordingData
from memtrack.recording.tables import Array

COLUMNS = (
    *(f"total_{column}" for column in ADDITIVE),
    "peak",
    "output_bytes",
    "calls",
    "forward_ns",
    "backward_ns",
)
"""Columns of the layer table that are compared; bytes but for `calls`, elements and nanoseconds."""


@dataclass(frozen=True, slots=True)
class RunView:
    """One device of one run. `columns` are int64, a value for each layer of `tree`.

    `shares` are the bytes at the peak by category id and layer (-1: none), which sum to the peak.
    `phase_peaks` are the most bytes of each kind of phase. `reserved` and `step_ns` are None where
    unknown; `settings` is what surrounded the run, as text.
    """

    identifier: str
    label: str
    evidence: str
    state: str
    started: str
    device: str
    device_total: int
    peak: Peak
    reserved: int | None
    step_ns: int | None
    steps: int
    phase_peaks: Mapping[str, int]
    settings: Mapping[str, str]
    tree: Tree
    columns: Mapping[str, Array]
    shares: Mapping[tuple[str, int], int]
    line: Line

    @property
    def peak_layer(self) -> str:
        """Return the path of the layer that ran at the peak, "" for none."""
        return self.tree.path[self.peak.layer] if self.peak.layer >= 0 else ""

    @property
    def categories(self) -> Mapping[str, int]:
        """Return the bytes of each category at the peak, in the order of the categories."""
        found = {one.id: 0 for one in Category}
        for (category, _), size in self.shares.items():
            found[category] += size
        return {category: size for category, size in found.items() if size}


def view_of(data: RecordingData, device: int | None = None) -> RunView:
    """Return what a recording is compared by; of the device with the most at stake by default."""
    row = devices_in_order(data)[0] if device is None else device
    levels, categories = allocated(data, row), category_levels(data, row)
    peak = peak_of(data, levels)
    table = layer_table_of(data, row, peak, levels, categories, layer_peaks(data, levels))
    kind, name = (data.string(int(data.devices[column][row])) for column in ("kind", "name"))
    facts = data.facts
    return RunView(
        identifier=facts.identifier,
        label=facts.label,
        evidence=facts.evidence,
        state=facts.state,
        started=facts.started,
        device=name or kind,
        device_total=int(data.devices["total"][row]),
        peak=peak,
        reserved=_most_reserved(data, row),
        step_ns=step_ns(data),
        steps=data.steps,
        phase_peaks=phase_peaks(data, row),
        settings=settings_of(data, row),
        tree=tree_of(data),
        columns={one: np.asarray(table.columns[one], dtype=np.int64) for one in COLUMNS},
        shares=_shares(data, row, peak.cut),
        line=line_of(data, levels),
    )


def _shares(data: RecordingData, device: int, cut: int) -> dict[tuple[str, int], int]:
    """Return the bytes alive by category and layer (-1: none)."""
    table, rows = data.allocations, alive(data, device, cut)
    layers = len(data.layers) + 1
    key = table["category"][rows].astype(np.int64) * layers + table["layer"][rows] + 1
    found, code = np.unique(key, return_inverse=True)
    size: Array = np.zeros(len(found), dtype=np.int64)
    np.add.at(size, code, table["bytes"][rows])
    pairs = zip(found.tolist(), size.tolist(), strict=True)
    return {(Category(one // layers).id, one % layers - 1): value for one, value in pairs}


def _most_reserved(data: RecordingData, device: int) -> int | None:
    """Return the most bytes of segments held at once, None where there is no such history."""
    rows = segments_of(data, device)
    if not len(rows):
        return None
    table = data.segments
    start, end, size = (table[column][rows] for column in ("start", "end", "bytes"))
    change = np.zeros(data.cuts + 2, dtype=np.int64)
    np.add.at(change, start + 1, size)
    np.add.at(change, end + 1, -size)
    return int(np.cumsum(change)[: data.cuts + 1].max())
