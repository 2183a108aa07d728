"""Two recordings compared: peaks, what moved them, layer by layer, and what was different around them.

Exact: the changes of `parts` sum to the change of the peak, those of the additive columns of a layer's
children and its own to the layer's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.device import devices_in_order
from memtrack.analysis.layers import ADDITIVE, LayerTable, layer_table
from memtrack.analysis.pace import step_ns
from memtrack.analysis.peak import Peak, peak
from memtrack.analysis.reserved import segments_of
from memtrack.analysis.totals import by_category
from memtrack.comparison.axis import Line, line_of
from memtrack.comparison.matching import LayerMatches, match_trees
from memtrack.comparison.peaks import Mover, PeakPart, movers, peak_parts
from memtrack.comparison.rows import MergedRow, merged_rows
from memtrack.comparison.settings import SettingChange, setting_changes, settings_of
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
class Side:
    """One of the two runs. `reserved` is the most reserved, `step_ns` the median step; None: unknown."""

    label: str
    evidence: str
    device: str
    peak: Peak
    peak_layer: str
    reserved: int | None
    step_ns: int | None
    steps: int
    line: Line


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from A to B. `columns` are (before, after) per merged row, -1 where not there."""

    a: Side
    b: Side
    matches: LayerMatches
    rows: Sequence[MergedRow]
    path: Sequence[str]
    former_path: Sequence[str]
    type: Sequence[str]
    columns: Mapping[str, tuple[Array, Array]]
    categories: Mapping[str, tuple[int, int]]
    parts: Sequence[PeakPart]
    movers: Sequence[Mover]
    settings: Sequence[SettingChange]

    @property
    def peak_change(self) -> int:
        """Return the bytes by which the peak of allocated memory changed."""
        return self.b.peak.bytes - self.a.peak.bytes


def compare(
    a: RecordingData, b: RecordingData, devices: tuple[int, int] | None = None
) -> Comparison:
    """Return what changed from recording `a` to recording `b`.

    `devices` are rows of the devices; by default of each the one with the most at stake.
    """
    first, second = devices or (devices_in_order(a)[0], devices_in_order(b)[0])
    trees = tree_of(a), tree_of(b)
    matches = match_trees(*trees)
    sides = _side(a, first, trees[0]), _side(b, second, trees[1])
    ends = (a, first, sides[0].peak.cut), (b, second, sides[1].peak.cut)
    parts = peak_parts(*ends, matches)
    rows = merged_rows(*trees, matches)
    return Comparison(
        a=sides[0],
        b=sides[1],
        matches=matches,
        rows=rows,
        path=[trees[1].path[row.b] if row.b >= 0 else trees[0].path[row.a] for row in rows],
        former_path=[trees[0].path[row.a] if row.a >= 0 else "" for row in rows],
        type=[trees[1].type[row.b] if row.b >= 0 else trees[0].type[row.a] for row in rows],
        columns=_columns(rows, layer_table(a, first), layer_table(b, second)),
        categories=_categories(*ends),
        parts=parts,
        movers=movers(parts, *trees),
        settings=setting_changes(settings_of(a, first), settings_of(b, second)),
    )


def _side(data: RecordingData, device: int, tree: Tree) -> Side:
    found = peak(data, device)
    kind, name = (data.string(int(data.devices[column][device])) for column in ("kind", "name"))
    return Side(
        label=data.facts.label,
        evidence=data.facts.evidence,
        device=name or kind,
        peak=found,
        peak_layer=tree.path[found.layer] if found.layer >= 0 else "",
        reserved=_most_reserved(data, device),
        step_ns=step_ns(data),
        steps=data.steps,
        line=line_of(data, device),
    )


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


def _columns(
    rows: Sequence[MergedRow], a: LayerTable, b: LayerTable
) -> Mapping[str, tuple[Array, Array]]:
    mine = np.array([row.a for row in rows], dtype=np.int64)
    theirs = np.array([row.b for row in rows], dtype=np.int64)
    return {column: (_taken(a, column, mine), _taken(b, column, theirs)) for column in COLUMNS}


def _taken(table: LayerTable, column: str, rows: Array) -> Array:
    values = np.append(np.asarray(table.columns[column], dtype=np.int64), -1)
    return values[rows]


def _categories(
    a: tuple[RecordingData, int, int], b: tuple[RecordingData, int, int]
) -> Mapping[str, tuple[int, int]]:
    """Return the bytes of each category at both peaks, those that are nowhere left out."""
    before, after = (by_category(data, device, np.array([cut]))[0] for data, device, cut in (a, b))
    return {
        one.id: (int(before[one]), int(after[one])) for one in Category if before[one] or after[one]
    }
