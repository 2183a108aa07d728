"""A comparison as the browser gets it: JSON for the small, binary columns for the large.

    {"schema": "memtrack.comparison/1", "a": side, "b": side,     before and after
     "sentence": Text, "details": [Text],
     "peak": {"before", "after"},
     "movers": [{"category", "change", "where": str, "layers": int, "rest": bool}],
     "categories": [{"id", "before", "after"}], "ledger": [{"id", "before", "after"}],
     "phases": [{"id", "before", "after", "before_ns", "after_ns"}],    null where it did not occur
     "parts": {"row": column, "category": strings, "before", "after": column},
     "layers": {"parent", "depth", "subtree", "status", "sure": column,
         "name", "path", "type", "former_path", "former_type": strings,
         "columns": {id: {"before", "after": column}}},                 -1 where there is no such layer
     "omitted_layers": int,
     "timeline": {"a": line, "b": line},
     "settings": [{"name", "before", "after": str}]}                    "" where there is none

    side     {"identifier", "run": int|null, "name", "label", "evidence", "state", "started",
              "device": str, "device_total": int|-1, "reserved", "step_ns": int|null, "steps",
              "step": from 0, "phase", "layer": str}
    line     {"step", "allocated": column, "peak_at": number of steps}
    status   0 same, 1 another class, 2 renamed, 3 moved, 4 alike, 5 added, 6 removed

`Text`, `column` and `strings` are those of `reports/payload.py`; bytes and nanoseconds are whole
numbers. Parts sum to both peaks, movers and parts to the change. In a notebook the payload is packed:
`{"schema", "comparison": payload, "lengths": [bytes of each buffer], "buffers": base64 of zlib}`.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memtrack.comparison import Comparison, RunView
from memtrack.comparison.axis import Line
from memtrack.i18n import in_every_language
from memtrack.reports.comparisonrows import most_changed, statuses, subtrees, sureness
from memtrack.reports.encoder import Encoder

if TYPE_CHECKING:
    from memtrack.reports.comparison import Diff

MIME_TYPE = "application/vnd.memtrack.comparison.v1+json"
SCHEMA = "memtrack.comparison/1"
_STAGES = (10_000, 4000, 1500, 600, 250, 100, 40)
"""How many layers are kept, until what a notebook holds fits."""
_PARTS = 2000
"""Parts of the peak in a notebook; the rest are one row without a layer for each category."""


def encode_comparison(
    diff: Diff, most_layers: int | None = None
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the JSON of a comparison and its buffers, with all layers or those that changed most."""
    found, encoder = diff.found, Encoder()
    whole = most_layers is None or len(found.rows) <= most_layers
    rows = range(len(found.rows)) if whole else most_changed(found, most_layers or 0)
    place = {row: index for index, row in enumerate(rows)}
    a, b = found.a, found.b
    payload = {
        "schema": SCHEMA,
        "a": _side(a, diff.runs[0], diff.names[0]),
        "b": _side(b, diff.runs[1], diff.names[1]),
        "sentence": in_every_language(diff.sentence),
        "details": [in_every_language(one) for one in diff.details],
        "peak": {"before": a.peak.bytes, "after": b.peak.bytes},
        "movers": [
            {
                "category": m.category,
                "change": m.change,
                "where": m.where,
                "layers": m.layers,
                "rest": m.rest,
            }
            for m in found.movers
        ],
        "categories": _pairs(found.categories),
        "ledger": _pairs(_both(a.ledger, b.ledger)),
        "phases": _phases(a, b),
        "parts": _parts(encoder, found, place, None if whole else _PARTS),
        "layers": _layers(encoder, found, np.array(list(rows), dtype=np.int64), place),
        "omitted_layers": len(found.rows) - len(place),
        "timeline": {"a": _line(encoder, a.line), "b": _line(encoder, b.line)},
        "settings": [
            {"name": one.name, "before": one.before, "after": one.after} for one in found.settings
        ],
    }
    return payload, encoder.buffers


def notebook_comparison(diff: Diff, limit_bytes: int) -> dict[str, Any]:
    """Return a comparison packed for a notebook file, in at most `limit_bytes` where that can be."""
    packed: dict[str, Any] = {}
    for most in _STAGES:
        packed = packed_comparison(*encode_comparison(diff, most))
        if len(json.dumps(packed, ensure_ascii=False).encode("utf-8", "replace")) <= limit_bytes:
            break
    return packed


def packed_comparison(payload: Mapping[str, Any], buffers: Sequence[bytes]) -> dict[str, Any]:
    """Return a payload and its buffers as plain JSON."""
    return {
        "schema": SCHEMA,
        "comparison": dict(payload),
        "lengths": [len(buffer) for buffer in buffers],
        "buffers": base64.b64encode(zlib.compress(b"".join(buffers), level=6)).decode("ascii"),
    }


def _side(view: RunView, run: int | None, name: str) -> dict[str, Any]:
    return {
        "identifier": view.identifier,
        "run": run,
        "name": name,
        "label": view.label,
        "evidence": view.evidence,
        "state": view.state,
        "started": view.started,
        "device": view.device,
        "device_total": view.device_total,
        "reserved": view.reserved,
        "step_ns": view.step_ns,
        "steps": view.steps,
        "step": view.peak.step,
        "phase": view.peak.phase,
        "layer": view.peak_layer,
    }


def _both(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    names = [*before, *(name for name in after if name not in before)]
    return {name: (before.get(name, 0), after.get(name, 0)) for name in names}


def _pairs(pairs: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    return [{"id": one, "before": before, "after": after} for one, (before, after) in pairs.items()]


def _phases(a: RunView, b: RunView) -> list[dict[str, Any]]:
    names = [*a.phase_peaks, *(name for name in b.phase_peaks if name not in a.phase_peaks)]
    return [
        {
            "id": name,
            "before": a.phase_peaks.get(name),
            "after": b.phase_peaks.get(name),
            "before_ns": a.phase_ns.get(name),
            "after_ns": b.phase_ns.get(name),
        }
        for name in names
    ]


def _parts(
    encoder: Encoder, found: Comparison, place: Mapping[int, int], most: int | None
) -> dict[str, Any]:
    """Encode what the peaks are made of; what lies in rows that are left out is of no row."""
    of_a = {row.a: index for index, row in enumerate(found.rows) if row.a >= 0}
    of_b = {row.b: index for index, row in enumerate(found.rows) if row.b >= 0}
    sums: dict[tuple[int, str], list[int]] = {}
    for number, part in enumerate(found.parts):
        row = of_b[part.b] if part.b >= 0 else of_a[part.a] if part.a >= 0 else -1
        kept = place.get(row, -1) if most is None or number < most else -1
        both = sums.setdefault((kept, part.category), [0, 0])
        both[0] += part.before
        both[1] += part.after
    return {
        "row": encoder.column(np.array([row for row, _ in sums], dtype=np.int32)),
        "category": encoder.strings([category for _, category in sums]),
        "before": encoder.column(np.array([both[0] for both in sums.values()], dtype=np.int64)),
        "after": encoder.column(np.array([both[1] for both in sums.values()], dtype=np.int64)),
    }


def _layers(
    encoder: Encoder, found: Comparison, rows: np.ndarray[Any, Any], place: Mapping[int, int]
) -> dict[str, Any]:
    a, b = found.a.tree, found.b.tree
    merged = [found.rows[row] for row in rows]
    parent = [place[row.parent] if row.parent >= 0 else -1 for row in merged]
    return {
        "parent": encoder.column(np.array(parent, dtype=np.int32)),
        "depth": encoder.column(np.array([row.depth for row in merged], dtype=np.int32)),
        "subtree": encoder.column(subtrees(parent)),
        "status": encoder.column(statuses(found)[rows]),
        "sure": encoder.column(sureness(found)[rows]),
        "name": encoder.strings([b.name[r.b] if r.b >= 0 else a.name[r.a] for r in merged]),
        "path": encoder.strings([found.path[row] for row in rows]),
        "type": encoder.strings([found.type[row] for row in rows]),
        "former_path": encoder.strings([found.former_path[row] for row in rows]),
        "former_type": encoder.strings([a.type[r.a] if r.a >= 0 else "" for r in merged]),
        "columns": {
            name: {"before": encoder.column(before[rows]), "after": encoder.column(after[rows])}
            for name, (before, after) in found.columns.items()
        },
    }


def _line(encoder: Encoder, line: Line) -> dict[str, Any]:
    return {
        "step": encoder.column(np.asarray(line.step, dtype=np.float64)),
        "allocated": encoder.column(np.asarray(line.allocated, dtype=np.int64)),
        "peak_at": line.peak_at,
    }
