"""A recording becomes the report that every door shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtrack.analysis import DRAW_ORDER, Timeline, allocated, by_category, step_ns
from memtrack.analysis.device import DeviceAnalysis, analyse_device, devices_in_order
from memtrack.analysis.predicted import Predicted, predicted_of
from memtrack.analysis.sites import sites
from memtrack.analysis.timeline import BUCKETS, MOST_ALLOCATIONS, timeline
from memtrack.i18n import Text
from memtrack.recording import Category, RecordingData
from memtrack.recording.tables import Array
from memtrack.reports.found import answers, ledger_report
from memtrack.reports.lines import grouped_lines, line_levels, line_report
from memtrack.reports.notices import notice_sentences
from memtrack.reports.predictions import (
    assumption_sentences,
    gpu_sentences,
    predicted_details,
    predicted_headline,
)
from memtrack.reports.report import (
    Device,
    LayerColumns,
    LayerTree,
    MarkList,
    PeakPoint,
    PhaseBands,
    Report,
    TimelineReport,
    View,
)
from memtrack.reports.sentences import details, headline
from memtrack.reports.thin import used_values


def build_report(
    data: RecordingData, *, buckets: int = BUCKETS, max_allocations: int = MOST_ALLOCATIONS
) -> Report:
    """Return the report of a recording, finished or still running.

    Each timeline has at most two points in each of `buckets` and at most `max_allocations` of the
    largest allocations; nothing else depends on them.
    """
    facts = data.facts
    analyses = [
        analyse_device(data, device, buckets, max_allocations) for device in devices_in_order(data)
    ]
    return Report(
        identifier=facts.identifier,
        state=facts.state,
        evidence=facts.evidence,
        label=facts.label,
        started=facts.started,
        versions=facts.versions,
        steps=data.steps_run,
        step_ns=step_ns(data),
        notices=[*notice_sentences(facts.notices), *_assumptions(data)],
        layers=_layer_tree(data),
        phases=PhaseBands({name: data.phases[name] for name in _PHASE_COLUMNS}),
        marks=_marks(data),
        views=[_view(analysis) for analysis in analyses],
    )


def window_report(
    data: RecordingData, view: int, start: int, end: int, buckets: int
) -> TimelineReport:
    """Return the timeline between two cuts for one of the report's views: the answer to a zoom."""
    last = data.cuts
    first = min(max(start, 0), last)
    device = devices_in_order(data)[view]
    window = timeline(data, device, first, min(max(end, first), last), max(buckets, 1))
    return _timeline(data, device, window, _groups_of(data, device))


_PHASE_COLUMNS = ("start", "end", "start_ns", "end_ns", "kind", "step")


def _view(analysis: DeviceAnalysis) -> View:
    data, peak = analysis.data, analysis.peak
    device = data.devices.row(analysis.device)
    name = data.string(device["name"])
    path = data.string(int(data.layers["path"][peak.layer])) if peak.layer >= 0 else ""
    lines = line_report(data, analysis.device, peak.cut)
    groups = grouped_lines(lines, analysis.by_category)
    return View(
        device=Device(data.string(device["kind"]), device["index"], name, device["total"]),
        headline=_headline(analysis),
        details=_details(analysis),
        peak=PeakPoint(peak.bytes, peak.cut, peak.time_ns, peak.step, peak.phase, peak.layer, path),
        ledger=ledger_report(analysis.ledger),
        layers=LayerColumns(analysis.layers.columns, analysis.layers.outside),
        timeline=_timeline(data, analysis.device, analysis.timeline, groups),
        lines=lines,
        **answers(analysis),
    )


def _headline(analysis: DeviceAnalysis) -> Text:
    """Return the first line; of a predicted GPU with what it needs and whether that is there."""
    told = _prediction_of(analysis)
    found = headline(analysis)
    return found if told is None else predicted_headline(found, told)


def _details(analysis: DeviceAnalysis) -> list[Text]:
    told = _prediction_of(analysis)
    return [*([] if told is None else predicted_details(told)), *details(analysis)]


def _prediction_of(analysis: DeviceAnalysis) -> Predicted | None:
    data = analysis.data
    is_host = data.string(int(data.devices["kind"][analysis.device])) == "cpu"
    return None if is_host else predicted_of(data)


def _assumptions(data: RecordingData) -> list[Text]:
    told = predicted_of(data)
    return [] if told is None else [*gpu_sentences(told), *assumption_sentences(told)]


def _groups_of(data: RecordingData, device: int) -> list[str]:
    """Return the lines that the report draws its whole timeline by, for a part of it."""
    if not (data.allocations["category"] == Category.UNKNOWN).any():
        return []
    cut = int(np.argmax(allocated(data, device)))
    categories = by_category(data, device, np.array([cut]))[0]
    return grouped_lines(line_report(data, device, cut), categories)


def _timeline(
    data: RecordingData, device: int, window: Timeline, groups: list[str]
) -> TimelineReport:
    points = {name: getattr(window, name) for name in ("cut", "time_ns", "allocated", "layer")}
    if window.reserved is not None:
        points["reserved"] = window.reserved
    shown = [category for category in DRAW_ORDER if window.by_category[:, category].any()]
    table = data.allocations
    columns = ("start", "end", "bytes", "layer", "category")
    allocations = {name: table[name][window.rows] for name in columns}
    allocations["site"], site_names = sites(data, table["stack"][window.rows])
    allocations["name"], names = used_values(table["name"][window.rows])
    return TimelineReport(
        cuts=data.cuts,
        duration_ns=_duration_ns(data),
        bucket_events=window.bucket_events,
        peak_point=window.peak_point,
        points=points,
        categories={category.id: window.by_category[:, category] for category in shown},
        allocations=allocations,
        sites=site_names,
        names=[data.string(row) for row in names],
        omitted_allocations=window.omitted,
        omitted_bytes=window.omitted_bytes,
        groups=line_levels(data, device, window.cut, groups) if groups else None,
    )


def _layer_tree(data: RecordingData) -> LayerTree:
    layers = data.layers
    name, path, kind, aliases = (
        _strings(data, layers[column]) for column in ("name", "path", "type", "aliases")
    )
    numbers = {column: layers[column] for column in ("parent", "depth", "subtree", "tied")}
    return LayerTree(**numbers, name=name, path=path, type=kind, aliases=aliases)


def _marks(data: RecordingData) -> MarkList:
    marks = data.marks
    return MarkList(marks["cut"], marks["time_ns"], _strings(data, marks["label"]))


def _strings(data: RecordingData, references: Array) -> Sequence[str]:
    return [data.string(int(reference)) for reference in references]


def _duration_ns(data: RecordingData) -> int:
    """Return how long the recording lasted: to its last event or the end of its last phase."""
    ends = (data.events["time_ns"][-1:], data.phases["end_ns"][-1:])
    return max((int(end[0]) for end in ends if len(end)), default=0)
