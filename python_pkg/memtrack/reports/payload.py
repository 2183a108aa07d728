"""A `Report` as the browser gets it: JSON for the small, binary columns for the large.

    {"schema": "memtrack.report/1",
     "identifier": str, "state": "recording"|"complete"|"interrupted"|"failed",
     "evidence": "measured"|"predicted"|"opened", "label": str, "started": ISO 8601 str,
     "versions": {package: version}, "steps": int, "step_ns": int|null,
     "notices": [Text],
     "layers": {"parent", "depth", "subtree", "tied": column, "name", "path", "type", "aliases": strings},
     "phases": {"start", "end", "start_ns", "end_ns", "kind", "step": column},
     "marks": {"cut", "time_ns": column, "label": [str]},
     "views": [{
        "device": {"kind", "index", "name", "total": int|-1},
        "headline": Text, "details": [Text],
        "peak": {"bytes", "cut", "time_ns", "step", "phase": "forward"|…, "layer": row|-1},
        "ledger": {"total", "allocated", "rounding", "parts": [part]},
        "layers": {"columns": {id: column | strings}, "outside": {id: int}},
        "timeline": {"cuts", "duration_ns", "bucket_events", "peak_point",
            "points": {"cut", "time_ns", "allocated", "layer", ["reserved"]: column},
            "categories": {category id: column},
            "allocations": {"start", "end", "bytes", "layer", "category", "site", "name": column},
            "sites": [str], "names": [str], "omitted_allocations": int, "omitted_bytes": int,
            ["groups": {"names": [str], "bytes": [column]}]},
        answers (reports/answers.py), each only where there is something to tell:
        "pools": [{"pool", "small", "stream": str, "reserved", "allocated", "pending", "free",
            "largest_free", "splinters", "segments"}],
        "growth": [{"sentence": Text, "step_bytes", "bytes", "steps", "layer", "category", "site"}],
        "peaks": {"step", "kind", "bytes", "cut", "layer": column},
        "mark_peaks": {"label": strings, "bytes", "cut", "layer": column},
        "summary": {"readings": {"cut", "time_ns", "kind", "step", "phase", "number": column},
            "label": strings, "names": [str], "values": column, a row of names for each reading},
        "lines": {"site": strings, "bytes", "allocations", "category": column,
            "omitted", "omitted_bytes"},
        "map": {"segments": {"bytes", "pool", "expandable": column},
            "blocks": {"segment", "offset", "bytes", "category", "layer", "site", "pending": column},
            "sites": [str], "omitted", "omitted_bytes"}}]}

    part     {"id", "bytes", "certainty", ["details": [part]]}: details sum to their part
    Text     {"en": str, "zh_CN": str, …}: one string in every shipped language
    column   {"column": index of its buffer, "type": "f8"|"i4"|"u4"|"u1", "length": rows}
    strings  {"values": [str, each once], "codes": column of i4 into values, -1 for none}

Bytes, cuts and times are little-endian float64, exact to 2^53; references are int32. A reader
ignores keys it does not know and refuses another major number in `schema`.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from memtrack.i18n import Text, in_every_language
from memtrack.reports.answerpayload import encode_answers, encode_groups
from memtrack.reports.encoder import Encoder
from memtrack.reports.report import (
    SCHEMA,
    LayerTree,
    LedgerPart,
    LedgerReport,
    Report,
    TimelineReport,
    View,
)

MIME_TYPE = "application/vnd.memtrack.report.v1+json"


def encode_report(report: Report) -> tuple[dict[str, Any], list[bytes]]:
    """Return the JSON of `report` and its buffers, as the module's docstring lays out."""
    encoder = Encoder()
    payload = {
        "schema": SCHEMA,
        "identifier": report.identifier,
        "state": report.state,
        "evidence": report.evidence,
        "label": report.label,
        "started": report.started,
        "versions": dict(report.versions),
        "steps": report.steps,
        "step_ns": report.step_ns,
        "notices": _texts(report.notices),
        "layers": _layer_tree(encoder, report.layers),
        "phases": encoder.columns(report.phases.columns),
        "marks": {
            "cut": encoder.column(report.marks.cut),
            "time_ns": encoder.column(report.marks.time_ns),
            "label": list(report.marks.label),
        },
        "views": [_view(encoder, view) for view in report.views],
    }
    return payload, encoder.buffers


def encode_timeline(timeline: TimelineReport) -> tuple[dict[str, Any], list[bytes]]:
    """Return one timeline by itself, for the answer to a zoom."""
    encoder = Encoder()
    return _timeline(encoder, timeline), encoder.buffers


def pack_for_notebook(
    payload: Mapping[str, Any], buffers: Sequence[bytes], model_id: str = ""
) -> dict[str, Any]:
    """Return a payload as plain JSON for a notebook file.

    `{"schema", "report": payload, "lengths": [bytes of each buffer], "buffers": base64 of the
    zlib-compressed concatenation, "model_id": widget model that has the live report, or ""}`
    """
    # Level 9 takes seven to fifteen times as long for one per cent less.
    packed = zlib.compress(b"".join(buffers), level=6)
    return {
        "schema": SCHEMA,
        "report": dict(payload),
        "lengths": [len(buffer) for buffer in buffers],
        "buffers": base64.b64encode(packed).decode("ascii"),
        "model_id": model_id,
    }


def _texts(texts: Sequence[Text]) -> list[dict[str, str]]:
    return [in_every_language(text) for text in texts]


def _layer_tree(encoder: Encoder, tree: LayerTree) -> dict[str, Any]:
    return {
        "parent": encoder.column(tree.parent),
        "depth": encoder.column(tree.depth),
        "subtree": encoder.column(tree.subtree),
        "tied": encoder.column(tree.tied),
        "name": encoder.strings(tree.name),
        "path": encoder.strings(tree.path),
        "type": encoder.strings(tree.type),
        "aliases": encoder.strings(tree.aliases),
    }


def _view(encoder: Encoder, view: View) -> dict[str, Any]:
    device, peak = view.device, view.peak
    return {
        "device": {
            "kind": device.kind,
            "index": device.index,
            "name": device.name,
            "total": device.total,
        },
        "headline": in_every_language(view.headline),
        "details": _texts(view.details),
        "peak": {
            "bytes": peak.bytes,
            "cut": peak.cut,
            "time_ns": peak.time_ns,
            "step": peak.step_index,
            "phase": peak.phase,
            "layer": peak.layer,
        },
        "ledger": _ledger(view.ledger),
        "layers": {
            "columns": encoder.columns(view.layers.columns),
            "outside": dict(view.layers.outside),
        },
        "timeline": _timeline(encoder, view.timeline),
        **encode_answers(encoder, view),
    }


def _ledger(ledger: LedgerReport) -> dict[str, Any]:
    return {
        "total": ledger.total,
        "allocated": ledger.allocated,
        "rounding": ledger.rounding,
        "parts": [_part(part) for part in ledger.parts],
    }


def _part(part: LedgerPart) -> dict[str, Any]:
    row: dict[str, Any] = {"id": part.id, "bytes": part.bytes, "certainty": part.certainty}
    if part.details:
        row["details"] = [_part(detail) for detail in part.details]
    return row


def _timeline(encoder: Encoder, timeline: TimelineReport) -> dict[str, Any]:
    groups = timeline.groups
    return {
        "cuts": timeline.cuts,
        "duration_ns": timeline.duration_ns,
        "bucket_events": timeline.bucket_events,
        "peak_point": timeline.peak_point,
        "points": encoder.columns(timeline.points),
        "categories": encoder.columns(timeline.categories),
        "allocations": encoder.columns(timeline.allocations),
        "sites": list(timeline.sites),
        "names": list(timeline.names),
        "omitted_allocations": timeline.omitted_allocations,
        "omitted_bytes": timeline.omitted_bytes,
        **({} if groups is None else {"groups": encode_groups(encoder, groups)}),
    }
