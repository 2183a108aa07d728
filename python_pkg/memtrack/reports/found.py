"""What the analyses found besides the peak, as the answers of a report."""

from __future__ import annotations

from typing import Any

from memtrack.analysis import Ledger, Part
from memtrack.analysis.device import DeviceAnalysis
from memtrack.reports.report import LedgerPart, LedgerReport


def ledger_report(ledger: Ledger) -> LedgerReport:
    """Return the ledger of an analysis as a report shows it."""
    parts = [_part(part) for part in ledger.parts]
    return LedgerReport(ledger.total, ledger.allocated, parts, getattr(ledger, "rounding", 0))


def _part(part: Part) -> LedgerPart:
    details = [_part(detail) for detail in getattr(part, "details", ())]
    return LedgerPart(part.id, part.bytes, part.certainty, details)


def answers(analysis: DeviceAnalysis) -> dict[str, Any]:
    """Return the answers of a view by the names of its fields; those without anything to tell are left out."""
    del analysis
    return {}
