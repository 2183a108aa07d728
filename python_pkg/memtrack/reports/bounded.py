"""A report as a notebook keeps it: within a number of bytes, whatever was recorded."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from memtrack.i18n import text
from memtrack.reports.clip import with_shorter_names
from memtrack.reports.fewer import with_fewer_layers, with_fewer_marks, with_fewer_phases
from memtrack.reports.feweranswers import with_fewer_answers
from memtrack.reports.payload import encode_report, pack_for_notebook
from memtrack.reports.report import Report
from memtrack.reports.thin import thinned_timeline

LIMIT_BYTES = 250_000


@dataclass(frozen=True, slots=True)
class _Bounds:
    """How much of a report is kept: buckets and allocations of each timeline, rows of the rest.

    `name` is how many characters the longest name may have.
    """

    buckets: int
    allocations: int
    layers: int
    phases: int
    name: int


_STAGES = (
    _Bounds(1000, 5000, 10_000, 10_000, 1000),
    _Bounds(900, 3000, 6500, 6500, 500),
    _Bounds(800, 2000, 4000, 4000, 300),
    _Bounds(600, 1000, 2000, 2000, 250),
    _Bounds(400, 600, 1000, 1000, 200),
    _Bounds(300, 300, 500, 500, 150),
    _Bounds(150, 100, 200, 200, 100),
    _Bounds(60, 30, 60, 60, 80),
    _Bounds(20, 0, 20, 20, 40),
)
"""From much to little, in steps small enough that the first that fits fits well."""


def notebook_payload(
    report: Report, limit_bytes: int = LIMIT_BYTES, model_id: str = ""
) -> dict[str, Any]:
    """Return the report packed for a notebook file, in at most `limit_bytes` of JSON.

    Detail goes before sums do: buckets, small allocations, long names, light layers, far phases. The
    peak, the ledger and the sentences always stay. With hundreds of devices the limit may not hold.
    """
    packed = _packed(report, model_id)
    for bounds in _STAGES:
        if payload_bytes(packed) <= limit_bytes:
            break
        packed = _packed(_within(report, bounds), model_id)
    return packed


def payload_bytes(packed: dict[str, Any]) -> int:
    """Return how many bytes a packed report takes in a notebook file."""
    return len(json.dumps(packed, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _packed(report: Report, model_id: str) -> dict[str, Any]:
    return pack_for_notebook(*encode_report(report), model_id)


def _within(report: Report, bounds: _Bounds) -> Report:
    views = [
        dataclasses.replace(
            view, timeline=thinned_timeline(view.timeline, bounds.buckets, bounds.allocations)
        )
        for view in report.views
    ]
    report = dataclasses.replace(report, views=views)
    fewer = with_fewer_marks(with_fewer_phases(report, bounds.phases), bounds.phases)
    fewer = with_fewer_answers(fewer, bounds.phases)
    fewer = with_shorter_names(with_fewer_layers(fewer, bounds.layers), bounds.name)
    if len(fewer.layers.parent) == len(report.layers.parent):
        return fewer
    notice = text(
        "The notebook keeps the {count} layers that hold the most; others count with their parents.",
        count=len(fewer.layers.parent),
    )
    return dataclasses.replace(fewer, notices=[*fewer.notices, notice])
