"""A recording, or one of its tables, as JSON that needs no memtrack to be read.

    {"schema": "memtrack.export/1", "label", "state", "evidence", "started": ISO 8601, "identifier",
     "versions": {package: version}, "steps": int, "step_ns": int|null,
     "devices": [{"device": "cuda:0", "name", "total_bytes": int|null,
        "peak": {"bytes", "time_ns", "step": from 1, "phase", "layer": path, "" outside},
        "sentences": [what the report says of it, in English]}],
     "marks": [{"label", "time_ns"}],
     "layers", "ledger", "timeline": {"columns": [name], "rows": [[value]]}}

`step_ns` is the median duration of a step. The columns are those of docs/exports.md. A table asked
for by name is an object of `schema`, `table`, `columns` and `rows`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memtrack.analysis.device import devices_in_order
from memtrack.exports.table import DataTable
from memtrack.exports.tables import device_name, table_of
from memtrack.recording import RecordingData
from memtrack.reports import build_report

SCHEMA = "memtrack.export/1"
_WITH_THE_WHOLE = ("layers", "ledger", "timeline")


def json_of(data: RecordingData, table: str = "") -> Iterator[str]:
    """Go through the text of the file, of one table where `table` names it."""
    whole = _one_table(table_of(data, table)) if table else _everything(data)
    yield from json.JSONEncoder(ensure_ascii=False, indent=1).iterencode(whole)
    yield "\n"


def _one_table(table: DataTable) -> dict[str, Any]:
    return {"schema": SCHEMA, "table": table.name, **_columns_and_rows(table)}


def _everything(data: RecordingData) -> dict[str, Any]:
    report = build_report(data)
    order = devices_in_order(data)
    devices = []
    for device, view in zip(order, report.views, strict=True):
        found = view.peak
        devices.append(
            {
                "device": device_name(data, device),
                "name": view.device.name,
                "total_bytes": view.device.total if view.device.total >= 0 else None,
                "peak": {
                    "bytes": found.bytes,
                    "time_ns": found.time_ns,
                    "step": found.step,
                    "phase": found.phase,
                    "layer": found.layer_path,
                },
                "sentences": [str(view.headline), *map(str, view.details)],
            }
        )
    marks = zip(report.marks.label, report.marks.time_ns.tolist(), strict=True)
    return {
        "schema": SCHEMA,
        "label": report.label,
        "state": report.state,
        "evidence": report.evidence,
        "started": report.started,
        "identifier": report.identifier,
        "versions": dict(report.versions),
        "steps": report.steps,
        "step_ns": report.step_ns,
        "devices": devices,
        "marks": [{"label": label, "time_ns": time} for label, time in marks],
        **{name: _columns_and_rows(table_of(data, name)) for name in _WITH_THE_WHOLE},
    }


def _columns_and_rows(table: DataTable) -> dict[str, Any]:
    rows = zip(*(column.cells() for column in table.columns.values()), strict=True)
    return {"columns": list(table.columns), "rows": [list(row) for row in rows]}
