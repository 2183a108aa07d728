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
        "ledger": {"total", "allocated", "parts": [{"id", "bytes", "certainty"}]},
        "layers": {"columns": {id: column | strings}, "outside": {id: int}},
        "timeline": {"cuts", "duration_ns", "bucket_events", "peak_point",
            "points": {"cut", "time_ns", "allocated", "layer", ["reserved"]: column},
            "categories": {category id: column},
            "allocations": {"start", "end", "bytes", "layer", "category", "site", "name": column},
            "sites": [str], "names": [str], "omitted_allocations": int, "omitted_bytes": int}}]}

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

import numpy as np

from memtrack.i18n import Text, in_every_language
from memtrack.recording.tables import Array
from memtrack.reports.report import SCHEMA, LayerTree, Report, TimelineReport, View

MIME_TYPE = "application/vnd.memtrack.report.v1+json"


class Encoder:
    """Collects the binary columns of one payload while its JSON is built."""

    def __init__(self) -> None:
        self.buffers: list[bytes] = []

    def column(self, values: Array | Sequence[int]) -> dict[str, Any]:
        """Return the reference of a column, its bytes added to `buffers`."""
        array = np.asarray(values)
        kind = _wire_type(array.dtype)
        self.buffers.append(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes())
        return {"column": len(self.buffers) - 1, "type": kind, "length": len(array)}

    def columns(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the references of several columns; lists of strings become `strings`."""
        return {
            name: self.column(values) if isinstance(values, np.ndarray) else self.strings(values)
            for name, values in columns.items()
        }

    def strings(self, values: Sequence[str]) -> dict[str, Any]:
        """Return strings as a dictionary and codes; "" has code -1."""
        rows: dict[str, int] = {}
        codes = [rows.setdefault(value, len(rows)) if value else -1 for value in values]
        return {"values": list(rows), "codes": self.column(np.array(codes, dtype=np.int32))}


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


def _wire_type(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "b" or dtype == np.uint8:
        return "u1"
    if dtype.itemsize <= 4 and dtype.kind == "i":
        return "i4"
    if dtype.itemsize <= 4 and dtype.kind == "u":
        return "u4"
    return "f8"


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
    device, peak, ledger = view.device, view.peak, view.ledger
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
            "step": peak.step,
            "phase": peak.phase,
            "layer": peak.layer,
        },
        "ledger": {
            "total": ledger.total,
            "allocated": ledger.allocated,
            "parts": [
                {"id": part.id, "bytes": part.bytes, "certainty": part.certainty}
                for part in ledger.parts
            ],
        },
        "layers": {
            "columns": encoder.columns(view.layers.columns),
            "outside": dict(view.layers.outside),
        },
        "timeline": _timeline(encoder, view.timeline),
    }


def _timeline(encoder: Encoder, timeline: TimelineReport) -> dict[str, Any]:
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
    }
