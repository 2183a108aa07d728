"""The optional answers of a view as a payload has them; payload.py has the layout."""

from __future__ import annotations

from typing import Any

from memtrack.i18n import in_every_language
from memtrack.reports.answers import (
    GrowthFinding,
    LineGroups,
    LineReport,
    MemoryMap,
    PoolReport,
    SummaryReport,
)
from memtrack.reports.encoder import Encoder
from memtrack.reports.report import View


def encode_answers(encoder: Encoder, view: View) -> dict[str, Any]:
    """Return the answers that a view has, by key; what it has not is left out."""
    answers: dict[str, Any] = {}
    if view.pools:
        answers["pools"] = [_pool(pool) for pool in view.pools]
    if view.growth:
        answers["growth"] = [_finding(finding) for finding in view.growth]
    if view.peaks is not None:
        answers["peaks"] = encoder.columns(view.peaks.phases)
        marks = {"label": view.peaks.label, **view.peaks.marks}
        answers["mark_peaks"] = encoder.columns(marks)
    if view.summary is not None:
        answers["summary"] = _summary(encoder, view.summary)
    if view.lines is not None:
        answers["lines"] = _lines(encoder, view.lines)
    if view.map is not None:
        answers["map"] = _map(encoder, view.map)
    return answers


def encode_groups(encoder: Encoder, groups: LineGroups) -> dict[str, Any]:
    """Return the levels of a timeline by source line."""
    return {
        "names": list(groups.names),
        "bytes": [encoder.column(column) for column in groups.bytes],
    }


def _pool(pool: PoolReport) -> dict[str, Any]:
    return {
        "pool": pool.pool,
        "small": pool.small,
        # A pointer: past 2^53 a number would lose its last digits in a browser.
        "stream": str(pool.stream),
        "reserved": pool.reserved,
        "allocated": pool.allocated,
        "pending": pool.pending,
        "free": pool.free,
        "largest_free": pool.largest_free,
        "splinters": pool.splinters,
        "segments": pool.segments,
    }


def _finding(finding: GrowthFinding) -> dict[str, Any]:
    return {
        "sentence": in_every_language(finding.sentence),
        "step_bytes": finding.step_bytes,
        "bytes": finding.bytes,
        "steps": finding.steps,
        "layer": finding.layer,
        "category": finding.category,
        "site": finding.site,
    }


def _summary(encoder: Encoder, summary: SummaryReport) -> dict[str, Any]:
    return {
        "readings": encoder.columns(summary.readings),
        "label": encoder.strings(summary.label),
        "names": list(summary.names),
        "values": encoder.column(summary.values.reshape(-1)),
    }


def _map(encoder: Encoder, memory: MemoryMap) -> dict[str, Any]:
    return {
        "segments": encoder.columns(memory.segments),
        "blocks": encoder.columns(memory.blocks),
        "sites": list(memory.sites),
        "omitted": memory.omitted,
        "omitted_bytes": memory.omitted_bytes,
    }


def _lines(encoder: Encoder, lines: LineReport) -> dict[str, Any]:
    return {
        "site": encoder.strings(lines.site),
        **encoder.columns(lines.columns),
        "omitted": lines.omitted,
        "omitted_bytes": lines.omitted_bytes,
    }
