"""Two runs of several ranks compared rank by rank: a row each, and what moved most.

{"schema": "memtrack.rankdiff/1", "sentence": str,
"ranks": [{"rank": int, …what `memtrack diff --json` says of one}],
"only_before": [rank], "only_after": [rank]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from memtrack.i18n import ENGLISH, Text, preferred_language, text
from memtrack.reports.answerhtml import answer_html
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.answertext import table_lines
from memtrack.reports.cells import plain, wrapped
from memtrack.reports.comparison import Diff
from memtrack.reports.comparisontables import AFTER, BEFORE, CHANGE
from memtrack.reports.words import literal, part_name
from memtrack.units import format_bytes, format_change

SCHEMA = "memtrack.rankdiff/1"
WIDTH, NARROWEST = 80, 60


@dataclass(frozen=True)
class RankDiffs:
    """What changed on each rank that both runs have, ascending; others are only named."""

    diffs: Sequence[tuple[int, Diff]]
    only_before: Sequence[int] = ()
    only_after: Sequence[int] = ()
    language: str = ""

    @property
    def sentences(self) -> Sequence[Text]:
        """The answer: the rank whose peak changed most, what moved it, and which ranks have no other."""
        rank, most = max(self.diffs, key=lambda one: abs(one[1].peak_change))
        told = [text("Rank {rank}: {sentence}", rank=rank, sentence=most.sentence)]
        if self.only_before:
            told.append(text("Only in the run before: {ranks}", ranks=_listed(self.only_before)))
        if self.only_after:
            told.append(text("Only in the run after: {ranks}", ranks=_listed(self.only_after)))
        return told

    def to_json(self) -> dict[str, Any]:
        """Return all comparisons as plain JSON, without columns."""
        return {
            "schema": SCHEMA,
            "sentence": str(self.sentences[0]),
            "ranks": [{"rank": rank, **diff.to_json()} for rank, diff in self.diffs],
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
        }

    def __str__(self) -> str:
        return render_rank_diffs(self, self._spoken())

    def __repr__(self) -> str:
        return f"<memtrack.RankDiffs: {self.sentences[0]}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        spoken = self._spoken()
        return {"text/plain": render_rank_diffs(self, spoken), "text/html": _html(self, spoken)}

    def _spoken(self) -> str:
        return self.language or preferred_language()


def render_rank_diffs(found: RankDiffs, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return the comparison as text of at most `width` columns (60 at least)."""
    width = max(width, NARROWEST)
    lines: list[str] = []
    for sentence in found.sentences:
        lines += wrapped(plain(sentence.render(language)), width)
    return "\n".join([*lines, "", *table_lines(_table(found), language, width)])


def _html(found: RankDiffs, language: str) -> str:
    told = [f"<p>{escape(plain(one.render(language)))}</p>" for one in found.sentences]
    table = answer_html(_table(found), language)
    return f'<div lang="{escape(language.replace("_", "-"))}">{"".join(told)}{table}</div>'


def _table(found: RankDiffs) -> AnswerTable:
    head = [text("rank"), BEFORE, AFTER, CHANGE, text("what moved most")]
    rows = [
        [
            literal(str(rank)),
            literal(format_bytes(diff.found.a.peak.bytes)),
            literal(format_bytes(diff.found.b.peak.bytes)),
            literal(format_change(diff.peak_change)),
            part_name(diff.movers[0].category) if diff.movers else literal("–"),
        ]
        for rank, diff in found.diffs
    ]
    notes = [text("One of them in full: {usage}", usage="memtrack diff … --rank N")]
    return AnswerTable(text("Peaks rank by rank"), head, rows, notes)


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks))
