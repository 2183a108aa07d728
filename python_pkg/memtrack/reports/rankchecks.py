"""The verdict on a run of several ranks: each is judged, and one that needs too much fails the run.

{"schema": "memtrack.rankcheck/1", "ok": bool, "failed": [rank],
"ranks": [{"rank": int, …what `memtrack check --json` says of one}]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.answertext import table_lines
from memtrack.reports.cells import plain, wrapped
from memtrack.reports.check import Check, change_of
from memtrack.reports.words import literal
from memtrack.units import format_bytes

SCHEMA = "memtrack.rankcheck/1"


@dataclass(frozen=True, slots=True)
class RankChecks:
    """The verdicts on all ranks, at least one, ascending by rank."""

    checks: Sequence[tuple[int, Check]]

    @property
    def failed(self) -> Sequence[int]:
        """The ranks that exceed a limit."""
        return [rank for rank, check in self.checks if not check.ok]

    @property
    def ok(self) -> bool:
        """Whether no rank exceeds a limit."""
        return not self.failed

    @property
    def sentences(self) -> Sequence[Text]:
        """The verdict on the rank that is nearest to a limit or furthest above one."""
        rank, worst = max(self.checks, key=lambda one: one[1].share_of_limit)
        return [text("Rank {rank}: {sentence}", rank=rank, sentence=one) for one in worst.sentences]

    def to_json(self) -> dict[str, Any]:
        """Return the verdicts as plain JSON."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "failed": list(self.failed),
            "ranks": [{"rank": rank, **check.to_json()} for rank, check in self.checks],
        }


def render_rank_checks(found: RankChecks, language: str = ENGLISH, width: int = 80) -> str:
    """Return the verdict as sentences and a table of a row a rank, within `width` columns."""
    lines: list[str] = []
    for sentence in found.sentences:
        lines += wrapped(plain(sentence.render(language)), width)
    return "\n".join([*lines, "", *table_lines(_table(found), language, width)])


def _table(found: RankChecks) -> AnswerTable:
    head = (text("rank"), text("baseline"), text("this run"), text("change"), text("verdict"))
    rows = [[literal(str(rank)), *_cells(check)] for rank, check in found.checks]
    return AnswerTable(text("Peaks rank by rank"), head, rows)


def _cells(check: Check) -> Sequence[Text]:
    before, peak = check.before, check.after.peak.bytes
    verdict = text("fine") if check.ok else text("exceeded")
    if before is None:
        return [literal("–"), literal(format_bytes(peak)), literal("–"), verdict]
    sizes = [literal(format_bytes(one)) for one in (before.peak.bytes, peak)]
    return [*sizes, change_of(before.peak.bytes, peak), verdict]
