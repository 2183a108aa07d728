"""A report with fewer layers, phases and marks, for where there is no room for all.

Sums still hold: the bytes of a layer that is left out count with its nearest parent that is not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from memtrack.analysis.layers import ADDITIVE
from memtrack.analysis.totals import sum_by
from memtrack.recording import PhaseKind
from memtrack.recording.tables import Array
from memtrack.reports.feweranswers import placed_answers
from memtrack.reports.report import (
    LayerColumns,
    LayerTree,
    MarkList,
    PhaseBands,
    Report,
    TimelineReport,
    View,
)
from memtrack.reports.rows import heaviest_layers


def with_fewer_layers(report: Report, most: int) -> Report:
    """Return the report with about `most` layers: the heaviest, and those that run at a peak."""
    layers = len(report.layers.parent)
    if layers <= most:
        return report
    kept = np.zeros(layers, dtype=bool)
    kept[report.layers.parent == -1] = True
    kept[heaviest_layers(report.views[0], most)] = True
    for view in report.views:
        _keep_with_parents(kept, report.layers.parent, view.peak.layer)
    rows = np.flatnonzero(kept)
    place = _places(kept, report.layers.parent)
    return dataclasses.replace(
        report,
        layers=_fewer_rows(report.layers, rows, place),
        views=[_fewer_in_view(view, rows, place) for view in report.views],
    )


def _keep_with_parents(kept: Array, parent: Array, layer: int) -> None:
    while layer >= 0:
        kept[layer] = True
        layer = int(parent[layer])


def _places(kept: Array, parent: Array) -> Array:
    """Return for each layer the new row of its nearest kept layer, itself if kept; last -1 for none."""
    nearest = np.where(kept, np.arange(len(kept)), parent)
    while not kept[nearest].all():
        nearest = np.where(kept[nearest], nearest, parent[nearest])
    new_row = np.cumsum(kept) - 1
    return np.append(new_row[nearest], -1).astype(np.int32)


def _fewer_rows(tree: LayerTree, rows: Array, place: Array) -> LayerTree:
    before = np.searchsorted(rows, rows)
    after = np.searchsorted(rows, rows + tree.subtree[rows])
    return LayerTree(
        parent=place[tree.parent[rows]],
        depth=tree.depth[rows],
        subtree=(after - before).astype(np.int32),
        name=_picked(tree.name, rows),
        path=_picked(tree.path, rows),
        type=_picked(tree.type, rows),
        aliases=_picked(tree.aliases, rows),
        tied=tree.tied[rows],
    )


def _fewer_in_view(view: View, rows: Array, place: Array) -> View:
    columns: dict[str, Array | Sequence[str]] = {}
    for name, column in view.layers.columns.items():
        if not isinstance(column, np.ndarray):
            columns[name] = _picked(column, rows)
        elif name in ADDITIVE:
            columns[name] = sum_by(place[:-1], column, len(rows))
        else:
            columns[name] = column[rows]
    return dataclasses.replace(
        placed_answers(view, place),
        peak=dataclasses.replace(view.peak, layer=int(place[view.peak.layer])),
        layers=LayerColumns(columns, view.layers.outside),
        timeline=_fewer_in_timeline(view.timeline, place),
    )


def _fewer_in_timeline(timeline: TimelineReport, place: Array) -> TimelineReport:
    points, allocations = dict(timeline.points), dict(timeline.allocations)
    for table in (points, allocations):
        table["layer"] = place[table["layer"]]
    return dataclasses.replace(timeline, points=points, allocations=allocations)


def _picked(values: Sequence[str], rows: Array) -> list[str]:
    return [values[row] for row in rows.tolist()]


def with_fewer_phases(report: Report, most: int) -> Report:
    """Return the report with at most `most` phases: all of the steps around the peak stay.

    Others become one phase of kind `other` for each step, or for several where there are many.
    """
    columns = report.phases.columns
    step = columns["step"].astype(np.int64)
    if len(step) <= most:
        return report
    nearest = abs(step - (report.views[0].peak.step_index if report.views else 0))
    whole = nearest < nearest[np.argsort(nearest, kind="stable")[most // 2]]
    steps = int(step.max()) + 1
    group_steps = -(-steps // max(1, most // 2 - 2))
    key = np.where(whole, steps + np.arange(len(step)), step // group_steps)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    last = np.append(first[1:], len(step)) - 1
    merged = {name: columns[name][first] for name in ("start", "start_ns", "step")}
    merged |= {name: columns[name][last] for name in ("end", "end_ns")}
    kind = np.where(first == last, columns["kind"][first], PhaseKind.OTHER)
    return dataclasses.replace(report, phases=PhaseBands({**merged, "kind": kind.astype(np.uint8)}))


def with_fewer_marks(report: Report, most: int) -> Report:
    """Return the report with at most `most` marks, the nearest to the peak."""
    marks = report.marks
    if len(marks.label) <= most:
        return report
    peak_cut = report.views[0].peak.cut if report.views else 0
    rows = np.sort(np.argsort(abs(marks.cut - peak_cut), kind="stable")[:most])
    fewer = MarkList(marks.cut[rows], marks.time_ns[rows], _picked(marks.label, rows))
    return dataclasses.replace(report, marks=fewer)
