"""Several ranks as the browser gets them: plain JSON, whole reports as a notebook keeps them.

    {"schema": "memtrack.ranks/1", "label": str, "world_size": int,
     "headline": Text, "details": [Text], "missing": [int],
     "device": "cuda"|"cpu"|…, "mean_peak": int, "max_peak": int, "max_rank": int, "imbalance": float,
     "ranks": [{"rank", "local_rank": int|-1, "host": str, "pid": int|-1,
        "state": "complete"|"interrupted"|"failed"|"recording", "evidence", "identifier", "file": str,
        "device": {"kind", "index", "name", "total": int|-1}|null,
        "peak": {"bytes", "step": from 0, "phase", "layer": path}|null,
        "reserved": int|-1, "steps": int, "step_ns": int|null,
        "report": what `application/vnd.memtrack.report.v1+json` holds | null}],
     "categories": [{"id", "bytes": [one for each of "ranks"], "difference": int}],
     "layers": [{"path", "bytes": [one for each of "ranks"], "difference": int}]}

    Text      {"en": str, "zh_CN": str, …}

Ranks ascend. Categories, and layers by their own bytes (path "" for what is in none), are taken at
each rank's own peak and sum to it; of the layers there are those whose `difference`, of `max_rank`
to the mean, is largest. A rank that saw no memory has null and zeros. A reader ignores keys it does
not know and refuses another major number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from memtrack.analysis.ranks import Share
from memtrack.i18n import in_every_language
from memtrack.reports.bounded import LIMIT_BYTES, notebook_payload
from memtrack.reports.ranks import SCHEMA, RankRow, RanksReport

MIME_TYPE = "application/vnd.memtrack.ranks.v1+json"
MOST_BYTES = 1_000_000


def encode_ranks(report: RanksReport, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the JSON of a report on ranks; `most_bytes` bounds the whole reports in it together."""
    found, fullest = report.imbalance, report.fullest
    room = min(LIMIT_BYTES, most_bytes // max(1, len(report.reports)))
    packed = {rank: notebook_payload(one, room) for rank, one in report.reports.items()}
    return {
        "schema": SCHEMA,
        "label": report.label,
        "world_size": report.world_size,
        "headline": in_every_language(report.headline),
        "details": [in_every_language(sentence) for sentence in report.details],
        "missing": list(report.missing),
        "device": fullest.device.kind if fullest is not None and fullest.device else "",
        "mean_peak": 0 if found is None else round(found.mean),
        "max_peak": 0 if found is None else found.most,
        "max_rank": -1 if fullest is None else fullest.facts.rank,
        "imbalance": 1.0 if found is None else found.ratio,
        "ranks": [_row(row, packed.get(row.facts.rank)) for row in report.rows],
        "categories": _shares(report, "id", [] if found is None else found.categories),
        "layers": _shares(report, "path", [] if found is None else found.layers),
    }


def ranks_json(report: RanksReport) -> dict[str, Any]:
    """Return the same without whole reports and with steps from 1, as `memtrack open FOLDER --json` prints it."""
    payload = encode_ranks(report, 0)
    for row in payload["ranks"]:
        del row["report"]
        if row["peak"] is not None:
            row["peak"]["step"] += 1
    return payload


def payload_bytes(payload: dict[str, Any]) -> int:
    """Return the size of a payload as a notebook file has it."""
    return len(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))


def _row(row: RankRow, packed: dict[str, Any] | None) -> dict[str, Any]:
    peak = row.peak
    return {
        "rank": row.facts.rank,
        "local_rank": row.facts.local_rank,
        "host": row.facts.host,
        "pid": row.facts.pid,
        "state": row.state,
        "evidence": row.evidence,
        "identifier": row.identifier,
        "file": row.file,
        "device": None if row.device is None else asdict(row.device),
        "peak": None
        if peak is None
        else {
            "bytes": peak.bytes,
            "step": peak.step_index,
            "phase": peak.phase,
            "layer": peak.layer_path,
        },
        "reserved": -1 if row.held is None else row.held.reserved,
        "steps": row.steps,
        "step_ns": row.step_ns,
        "report": packed,
    }


def _shares(report: RanksReport, key: str, shares: Sequence[Share]) -> list[dict[str, Any]]:
    """Return shares with a figure for every row, 0 for one that saw no memory."""
    place = {row.facts.rank: number for number, row in enumerate(report.compared)}
    return [
        {
            key: share.name,
            "bytes": [
                share.bytes[place[row.facts.rank]] if row.facts.rank in place else 0
                for row in report.rows
            ],
            "difference": share.difference,
        }
        for share in shares
    ]
