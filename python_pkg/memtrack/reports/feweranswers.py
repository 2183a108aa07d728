"""The answers of a report with fewer rows or shorter names, for where there is no room for all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from memtrack.recording import PhaseKind, ReadingKind
from memtrack.recording.tables import Array
from memtrack.reports.answers import LineReport, PeaksReport, SummaryReport
from memtrack.reports.memorymap import placed_blocks, with_fewer_blocks
from memtrack.reports.report import Report, View

MOST_FINDINGS = 20
ROWS_A_READING = 20
"""A reading has a hundred figures: so many rows of other tables it may cost."""
_FIRST_TO_STAY = (
    ReadingKind.START,
    ReadingKind.END,
    ReadingKind.MARK,
    ReadingKind.STEP,
    ReadingKind.PHASE,
)


def with_fewer_answers(report: Report, most: int) -> Report:
    """Return the report with at most `most` rows in each of the answers of its views."""
    return dataclasses.replace(report, views=[_fewer(view, most) for view in report.views])


def _fewer(view: View, most: int) -> View:
    pools = sorted(view.pools, key=lambda pool: -pool.reserved)[:most]
    return dataclasses.replace(
        view,
        pools=[pool for pool in view.pools if pool in pools],
        growth=view.growth[: min(most, MOST_FINDINGS)],
        peaks=view.peaks and _fewer_peaks(view.peaks, most),
        summary=view.summary and _fewer_readings(view.summary, most // ROWS_A_READING),
        lines=view.lines and _fewer_lines(view.lines, most),
        # Its segments name their pools by row.
        map=view.map
        and (with_fewer_blocks(view.map, most) if len(pools) == len(view.pools) else None),
    )


def _fewer_peaks(peaks: PeaksReport, most: int) -> PeaksReport:
    """Return the highest of the peaks, in their order; whole steps, so that none seems to lack a phase."""
    step, size = peaks.phases["step"].astype(np.int64), peaks.phases["bytes"]
    highest = np.zeros(int(step.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(highest, step, size)
    steps = np.argsort(-highest, kind="stable")[: max(1, most // len(PhaseKind))]
    rows = np.flatnonzero(np.isin(step, steps)) if len(step) > most else np.arange(len(step))
    marks = np.sort(np.argsort(-peaks.marks["bytes"], kind="stable")[:most])
    return PeaksReport(
        phases={name: column[rows] for name, column in peaks.phases.items()},
        label=[peaks.label[row] for row in marks.tolist()],
        marks={name: column[marks] for name, column in peaks.marks.items()},
    )


def _fewer_readings(summary: SummaryReport, most: int) -> SummaryReport | None:
    """Return the readings that people ask for first, spread evenly where a kind has too many."""
    kind = summary.readings["kind"]
    if len(kind) <= most:
        return summary
    kept = np.zeros(0, dtype=np.int64)
    for wanted in _FIRST_TO_STAY:
        rows = np.flatnonzero(kind == wanted)
        room = max(0, most - len(kept))
        chosen = np.linspace(0, len(rows) - 1, min(room, len(rows))).astype(np.int64)
        kept = np.concatenate((kept, rows[chosen]))
    rows = np.sort(kept)
    return (
        SummaryReport(
            readings={name: column[rows] for name, column in summary.readings.items()},
            label=[summary.label[row] for row in rows.tolist()],
            names=summary.names,
            values=summary.values[rows],
        )
        if len(rows)
        else None
    )


def _fewer_lines(lines: LineReport, most: int) -> LineReport:
    rest = lines.columns["bytes"][most:]
    return LineReport(
        site=lines.site[:most],
        columns={name: column[:most] for name, column in lines.columns.items()},
        omitted=lines.omitted + len(rest),
        omitted_bytes=lines.omitted_bytes + int(rest.sum()),
    )


def placed_answers(view: View, place: Array) -> View:
    """Return the view with layers of its answers renumbered: `place[row]` is the new row."""
    peaks = view.peaks
    if peaks is not None:
        phases, marks = (
            {**columns, "layer": place[columns["layer"]]} for columns in (peaks.phases, peaks.marks)
        )
        peaks = PeaksReport(phases, peaks.label, marks)
    growth = [
        dataclasses.replace(finding, layer=int(place[finding.layer])) for finding in view.growth
    ]
    memory = view.map and placed_blocks(view.map, place)
    return dataclasses.replace(view, peaks=peaks, growth=growth, map=memory)


def clipped_answers(view: View, clip: Callable[[str], str]) -> View:
    """Return the view with the names in its answers through `clip`."""
    lines, summary, groups = view.lines, view.summary, view.timeline.groups
    peaks, memory = view.peaks, view.map
    if memory is not None:
        memory = dataclasses.replace(memory, sites=[clip(site) for site in memory.sites])
    if peaks is not None:
        peaks = dataclasses.replace(peaks, label=[clip(label) for label in peaks.label])
    if lines is not None:
        lines = dataclasses.replace(lines, site=[clip(site) for site in lines.site])
    if summary is not None:
        summary = dataclasses.replace(summary, label=[clip(label) for label in summary.label])
    if groups is not None:
        groups = dataclasses.replace(groups, names=[clip(name) for name in groups.names])
    return dataclasses.replace(
        view,
        lines=lines,
        summary=summary,
        peaks=peaks,
        map=memory,
        growth=[dataclasses.replace(found, site=clip(found.site)) for found in view.growth],
        timeline=dataclasses.replace(view.timeline, groups=groups),
    )
