"""What the reader sees of several ranks: each with its peak, how unequal they are, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memtrack.analysis.ranks import Imbalance, RankPeak, imbalance, rank_peak
from memtrack.errors import MemtrackError
from memtrack.i18n import Text, text
from memtrack.rankfacts import RankFacts
from memtrack.recording.data import RecordingData
from memtrack.reports.build import build_report
from memtrack.reports.rankwords import headline, reasons, said_of_ranks
from memtrack.reports.report import Device, PeakPoint, Report

SCHEMA = "memtrack.ranks/1"
MOST_REPORTS = 8
"""Ranks whose whole report is kept: those with the highest peaks."""


@dataclass(frozen=True, slots=True)
class RankRow:
    """One rank; `device` and `peak` are None where it saw no memory. `file` is "" for a gathered one."""

    facts: RankFacts
    file: str
    state: str
    evidence: str
    identifier: str
    steps: int
    step_ns: int | None
    device: Device | None
    peak: PeakPoint | None
    held: RankPeak | None


@dataclass(frozen=True, slots=True)
class RanksReport:
    """All ranks of a run. `compared` are the rows with memory, in the order of `imbalance`."""

    label: str
    world_size: int
    rows: Sequence[RankRow]
    missing: Sequence[int]
    compared: Sequence[RankRow]
    imbalance: Imbalance | None
    headline: Text
    details: Sequence[Text]
    reports: dict[int, Report]
    """By rank."""

    @property
    def fullest(self) -> RankRow | None:
        """The rank with the highest peak."""
        return None if self.imbalance is None else self.compared[self.imbalance.fullest]


Member = tuple[RankFacts, str, Callable[[], RecordingData]]
"""A rank, the name of its file, and what reads it."""


def build_ranks_report(
    label: str,
    world_size: int,
    members: Iterable[Member],
    problems: Sequence[Text] = (),
) -> RanksReport:
    """Return the report of several ranks; each is read once and let go, but for its figures.

    One that cannot be read is said, and counts as missing.
    """
    rows: list[RankRow] = []
    reports: dict[int, Report] = {}
    unread: list[Text] = []
    for facts, file, load in members:
        try:
            data = load()
        except (MemtrackError, OSError):
            unread.append(text("{file} cannot be read and is left out.", file=file))
            continue
        row, report = _row(facts, file, data)
        rows.append(row)
        reports[facts.rank] = report
        _keep_fullest(reports, rows)
    compared = [row for row in rows if row.held is not None]
    found = imbalance([row.held for row in compared if row.held]) if compared else None
    fullest = None if found is None else compared[found.fullest]
    read = {row.facts.rank for row in rows}
    missing = [rank for rank in range(world_size) if rank not in read]
    details = [
        *([] if found is None or fullest is None else reasons(found, fullest.facts.rank)),
        *said_of_ranks([(row.facts.rank, row.state, row.steps) for row in rows], missing),
        *problems,
        *unread,
    ]
    first = headline(found, None if fullest is None else fullest.facts.rank, len(compared))
    return RanksReport(label, world_size, rows, missing, compared, found, first, details, reports)


def _row(facts: RankFacts, file: str, data: RecordingData) -> tuple[RankRow, Report]:
    report = build_report(data)
    view = report.views[0] if report.views else None
    row = RankRow(
        facts=facts,
        file=file,
        state=report.state,
        evidence=report.evidence,
        identifier=report.identifier,
        steps=report.steps,
        step_ns=report.step_ns,
        device=None if view is None else view.device,
        peak=None if view is None else view.peak,
        held=rank_peak(data) if view is not None else None,
    )
    return row, report


def _keep_fullest(reports: dict[int, Report], rows: Sequence[RankRow]) -> None:
    """Let go of the report of the rank with the least where there are too many."""
    if len(reports) > MOST_REPORTS:
        peaks = {row.facts.rank: row.peak.bytes if row.peak else 0 for row in rows}
        del reports[min(reports, key=lambda rank: (peaks[rank], -rank))]
