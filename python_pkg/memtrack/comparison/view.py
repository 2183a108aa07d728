"""What one run is compared by: small, and all that is kept of a run whose recording is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.analysis.device import devices_in_order
from memtrack.analysis.layers import ADDITIVE, layer_table_of
from memtrack.analysis.ledger import ledger_of
from memtrack.analysis.pace import phase_ns, step_ns
from memtrack.analysis.peak import Peak, layer_peaks, peak_of, phase_peaks
from memtrack.analysis.reserved import segments_of
from memtrack.analysis.totals import CategoryLevels, alive, allocated, category_levels
from memtrack.comparison.axis import Line, line_of, steps_at
from memtrack.comparison.lines import line_tree
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
MOST_MARKS = 200


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment the user named: where on the axis of steps, and the bytes allocated then."""

    step: float
    label: str
    bytes: int


@dataclass(frozen=True, slots=True)
class RunView:
    """One device of one run. `columns` are int64, a value for each layer of `tree`.

    `shares` are the bytes at the peak by category id and layer (-1: none), which sum to the peak;
    `ledger` are the parts of the device then, by id. `phase_peaks` are the most bytes of each kind of
    phase, `phase_ns` the median time of it in a step. `reserved` and `step_ns` are None where
    unknown; `settings` is what surrounded the run, as text, and `run` the same as it was recorded.
    With `by_lines` the rows of `tree` are lines of source, since no layer is known.
    """

    identifier: str
    label: str
    evidence: str
    state: str
    started: str
    device: str
    device_kind: str
    device_total: int
    peak: Peak
    reserved: int | None
    step_ns: int | None
    steps: int
    phase_peaks: Mapping[str, int]
    phase_ns: Mapping[str, int]
    ledger: Mapping[str, int]
    marks: Sequence[Mark]
    settings: Mapping[str, str]
    run: Mapping[str, Any]
    by_lines: bool
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
    kind, name = (data.string(int(data.devices[column][row])) for column in ("kind", "name"))
    facts = data.facts
    tree, columns, shares = _rows(data, row, peak, levels, categories)
    return RunView(
        identifier=facts.identifier,
        label=facts.label,
        evidence=facts.evidence,
        state=facts.state,
        started=facts.started,
        device=name or kind,
        device_kind=kind,
        device_total=int(data.devices["total"][row]),
        peak=peak,
        reserved=_most_reserved(data, row),
        step_ns=step_ns(data),
        steps=data.steps,
        phase_peaks=phase_peaks(data, row),
        phase_ns=phase_ns(data),
        ledger=_ledger(data, row, peak.cut, levels, categories),
        marks=_marks(data, levels),
        settings=settings_of(data, row),
        run=_plain(facts.extra.get("run")),
        by_lines=not len(data.layers),
        tree=tree,
        columns=columns,
        shares=shares,
        line=line_of(data, levels),
    )


def _rows(
    data: RecordingData, device: int, peak: Peak, levels: Array, categories: CategoryLevels
) -> tuple[Tree, Mapping[str, Array], Mapping[tuple[str, int], int]]:
    """Return the tree of layers, or of lines where there is none, its columns and its shares."""
    rows = alive(data, device, peak.cut)
    if len(data.layers):
        table = layer_table_of(data, device, peak, levels, categories, layer_peaks(data, levels))
        columns = {one: np.asarray(table.columns[one], dtype=np.int64) for one in COLUMNS}
        return tree_of(data), columns, _shares(data, rows, data.allocations["layer"][rows])
    tree, owner = line_tree(data, rows)
    columns = {one: np.full(len(tree), -1, dtype=np.int64) for one in COLUMNS}
    columns["total_at_peak"] = np.array(tree.elements, dtype=np.int64)
    return tree, columns, _shares(data, rows, owner)


def _shares(data: RecordingData, rows: Array, owner: Array) -> dict[tuple[str, int], int]:
    """Return the bytes of allocations by category and by whose they are (-1: nobody's)."""
    if not len(rows):
        return {}
    table = data.allocations
    owners = int(owner.max()) + 2
    key = table["category"][rows].astype(np.int64) * owners + owner + 1
    found, code = np.unique(key, return_inverse=True)
    size: Array = np.zeros(len(found), dtype=np.int64)
    np.add.at(size, code, table["bytes"][rows])
    pairs = zip(found.tolist(), size.tolist(), strict=True)
    return {(Category(one // owners).id, one % owners - 1): value for one, value in pairs}


def _ledger(
    data: RecordingData, device: int, cut: int, levels: Array, categories: CategoryLevels
) -> Mapping[str, int]:
    found = ledger_of(data, device, cut, levels, categories)
    return {part.id: part.bytes for part in found.parts}


def _marks(data: RecordingData, levels: Array) -> Sequence[Mark]:
    cuts = data.marks["cut"][:MOST_MARKS]
    places, labels = steps_at(data, cuts), data.marks["label"]
    return [
        Mark(float(place), data.string(int(label)), int(levels[cut]))
        for place, label, cut in zip(places, labels, cuts, strict=False)
    ]


def _plain(run: Any) -> Mapping[str, Any]:
    return run if isinstance(run, Mapping) else {}


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
