"""A history as the browser gets it: JSON alone, the newest runs first, a page at a time.

    {"schema": "memtrack.history/1", "folder": str, "writable": bool, "search": str,
     "deleted": bool, "offset": int, "total": int, "model_id": str, "runs": [run]}

    run  {"id", "identifier", "created": seconds since 1970, "label", "name", "state", "evidence",
          "notebook", "cell": int|null, "device", "peak", "reserved", "step_ns": int|null, "steps",
          "structure", "parameters": elements, "commit", "dirty", "note", "tags": [str], "pinned",
          "baseline", "deleted", "has_file", "spark": base64 of 60 bytes, 255 at the run's peak}

`total` counts the runs that match, of which `runs` are those from `offset` on. `structure` is equal for
runs of the same model. `model_id` is the widget that changes runs, "" in a notebook without one. Bytes
and nanoseconds are whole numbers, null where unknown.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from memtrack.runs.run import Run

if TYPE_CHECKING:
    from memtrack.reports.history import RunList

MIME_TYPE = "application/vnd.memtrack.history.v1+json"
SCHEMA = "memtrack.history/1"
MOST_RUNS = 500
"""Of one page; a browser asks for the next."""
_LONGEST = 1000
_SAME = (
    "id", "identifier", "created", "label", "name", "state", "evidence", "notebook", "cell", "device",
    "peak", "reserved", "step_ns", "steps", "structure", "parameters", "commit", "dirty", "pinned",
    "baseline", "deleted",
)  # fmt: skip


def encode_history(listed: RunList, most: int = MOST_RUNS) -> dict[str, Any]:
    """Return the JSON of a list of runs, at most `most` of them."""
    return {
        "schema": SCHEMA,
        "folder": listed.folder,
        "writable": listed.writable,
        "search": listed.search,
        "deleted": listed.deleted,
        "offset": listed.offset,
        "total": listed.total,
        "model_id": "",
        "runs": [encode_run(run) for run in listed.runs[:most]],
    }


def notebook_history(listed: RunList, limit_bytes: int) -> dict[str, Any]:
    """Return the newest runs, as many as fit into `limit_bytes` of a notebook file."""
    payload = encode_history(listed)
    while len(payload["runs"]) > 1:
        if len(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")) <= limit_bytes:
            break
        payload["runs"] = payload["runs"][: len(payload["runs"]) * 3 // 4]
    return payload


def encode_run(run: Run) -> dict[str, Any]:
    """Return one run as a row of the payload."""
    spark = np.round(np.clip(run.spark, 0.0, 1.0) * 255).astype(np.uint8)
    return {
        **{name: getattr(run, name) for name in _SAME},
        "note": run.note[:_LONGEST],
        "tags": list(run.tags),
        "has_file": bool(run.file),
        "spark": base64.b64encode(spark.tobytes()).decode("ascii"),
    }
