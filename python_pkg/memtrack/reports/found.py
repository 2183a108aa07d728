"""What the analyses found besides the peak, as the answers of a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from memtrack.analysis import Ledger, Part
from memtrack.analysis.device import DeviceAnalysis
from memtrack.analysis.fragmentation import Fragmentation
from memtrack.analysis.nested import NestedPeaks, PeakTable
from memtrack.analysis.summary import statistics
from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array
from memtrack.reports.answers import PeaksReport, PoolReport, SummaryReport
from memtrack.reports.growing import growth_findings
from memtrack.reports.memorymap import memory_map
from memtrack.reports.report import LedgerPart, LedgerReport


def ledger_report(ledger: Ledger) -> LedgerReport:
    """Return the ledger of an analysis as a report shows it."""
    parts = [_part(part) for part in ledger.parts]
    return LedgerReport(ledger.total, ledger.allocated, parts, ledger.rounding)


def _part(part: Part) -> LedgerPart:
    details = [_part(detail) for detail in part.details]
    return LedgerPart(part.id, part.bytes, part.certainty, details)


def answers(analysis: DeviceAnalysis) -> dict[str, Any]:
    """Return the answers of a view by the names of its fields."""
    data, pools = analysis.data, pool_reports(analysis.fragmentation)
    return {
        "pools": pools,
        "map": memory_map(data, analysis.device, analysis.peak.cut, pools),
        "growth": growth_findings(data, analysis.growth, analysis.peak.bytes),
        "peaks": peaks_report(data, analysis.nested),
        "summary": summary_report(data, analysis.device),
    }


def pool_reports(found: Fragmentation | None) -> list[PoolReport]:
    """Return the pools of the caching allocator; none where its segments are not known."""
    if found is None:
        return []
    return [
        PoolReport(
            pool=state.pool,
            small=state.small,
            stream=state.stream,
            reserved=state.reserved,
            allocated=state.allocated,
            pending=state.pending,
            free=state.free,
            largest_free=state.largest_free,
            splinters=state.splinters,
            segments=state.segments,
        )
        for state in found.pools
    ]


def peaks_report(data: RecordingData, found: NestedPeaks) -> PeaksReport | None:
    """Return the peaks of each step and kind of phase, and after each mark; None where there are none."""
    if data.steps_run == 0 and not len(data.marks):
        return None
    step, kind = (data.phases[name][found.phases.row].astype(np.int64) for name in ("step", "kind"))
    # Of the phases of one kind in one step, the first of the highest.
    order = np.lexsort((found.phases.cut, -found.phases.bytes, kind, step))
    key = step[order] * len(PhaseKind) + kind[order]
    rows = order[np.flatnonzero(np.diff(key, prepend=-1))]
    columns: dict[str, Array] = {
        "step": step[rows].astype(np.int32),
        "kind": kind[rows].astype(np.uint8),
        **_peak_columns(found.phases, rows),
    }
    label = [
        data.string(int(data.marks["label"][row])) if row >= 0 else ""
        for row in found.marks.row.tolist()
    ]
    return PeaksReport(columns, label, _peak_columns(found.marks, np.arange(len(found.marks))))


def _peak_columns(table: PeakTable, rows: Array) -> dict[str, Array]:
    return {
        "bytes": table.bytes[rows],
        "cut": table.cut[rows],
        "layer": table.layer[rows].astype(np.int32),
    }


def summary_report(data: RecordingData, device: int) -> SummaryReport | None:
    """Return every reading of a device's statistics; None where there is none."""
    found = statistics(data, device)
    if found is None:
        return None
    number = np.array([moment.number for moment in found.moments], dtype=np.int32)
    labels = [moment.label for moment in found.moments]
    return SummaryReport({**found.columns, "number": number}, labels, found.names, found.values)
