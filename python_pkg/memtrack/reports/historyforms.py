"""A list of runs as text and as static HTML: a row a run, the newest first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from memtrack.i18n import ENGLISH, Text, text
from memtrack.recording.tables import Array
from memtrack.reports.answerhtml import answer_html
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.answertext import table_lines
from memtrack.reports.cells import wrapped
from memtrack.reports.words import literal
from memtrack.runs.run import Run
from memtrack.units import format_bytes, format_count, format_duration

if TYPE_CHECKING:
    from memtrack.reports.history import RunList

WIDTH, NARROWEST = 80, 60
ROWS = 30
_WIDE = 100
"""From so many columns on there is room for the curve of a run."""
_SPARK = 12
_LEVELS = "▁▂▃▄▅▆▇█"


def render_history(
    listed: RunList, language: str = ENGLISH, width: int = WIDTH, rows: int = ROWS
) -> str:
    """Return the newest runs as text of at most `width` columns (60 at least)."""
    width = max(width, NARROWEST)
    if not listed.runs:
        return "\n".join(wrapped(nothing_found(listed).render(language), width))
    return "\n".join(table_lines(_table(listed, rows, width >= _WIDE), language, width))


def history_html(listed: RunList, language: str = ENGLISH, rows: int = ROWS) -> str:
    """Return the newest runs as one HTML element."""
    told = nothing_found(listed).render(language)
    inside = f"<p>{escape(told)}</p>"
    if listed.runs:
        inside = answer_html(_table(listed, rows, wide=True), language)
    return f'<div lang="{escape(language.replace("_", "-"))}">{inside}</div>'


def nothing_found(listed: RunList) -> Text:
    """Return why there is no row."""
    if listed.search:
        return text("No run has '{words}' in its words.", words=listed.search)
    if listed.deleted:
        return text("No run was deleted.")
    return text("There is no run yet: each recording that ends becomes one.")


def _table(listed: RunList, rows: int, wide: bool) -> AnswerTable:
    shown = listed.runs[:rows]
    head: list[Text] = [text("run"), text("when"), text("peak"), text("step")]
    head += [text("parameters"), text("memory")] if wide else []
    head.append(text("marks"))
    left = listed.total - listed.offset - len(shown)
    notes = [text("… and {count} earlier runs", count=left)] if left > 0 else []
    title = (
        text("Deleted runs") if listed.deleted else text("Runs in {folder}", folder=listed.folder)
    )
    return AnswerTable(title, head, [_row(run, wide) for run in shown], notes)


def _row(run: Run, wide: bool) -> Sequence[Text]:
    named = run.name or run.label
    cells = [
        literal(f"{run.id} {named}"),
        literal(time.strftime("%m-%d %H:%M", time.localtime(run.created))),
        literal(format_bytes(run.peak)),
        literal(format_duration(run.step_ns) if run.step_ns else "–"),
    ]
    if wide:
        cells.append(literal(format_count(run.parameters) if run.parameters else "–"))
        cells.append(literal(spark_line(run.spark)))
    return [*cells, _marks(run)]


def _marks(run: Run) -> Text:
    """Return what sets a run apart: baseline, pinned, how it ended, its tags."""
    told: list[Text] = [literal(tag) for tag in run.tags]
    if run.evidence == "predicted":
        told.insert(0, text("predicted"))
    if run.state != "complete":
        told.insert(0, _STATES.get(run.state, literal(run.state)))
    if run.pinned:
        told.insert(0, text("pinned"))
    if run.baseline:
        told.insert(0, text("baseline"))
    if not told:
        return literal("")
    first, *rest = told
    for one in rest:
        first = Text("{first} {one}", {"first": first, "one": one})
    return first


_STATES = {"interrupted": text("interrupted"), "failed": text("failed")}


def spark_line(spark: Array, width: int = _SPARK) -> str:
    """Return shares of the peak as a line of `width` blocks, the most of each stretch."""
    edges = [len(spark) * place // width for place in range(width + 1)]
    most = [max(spark[a : max(b, a + 1)]) for a, b in pairwise(edges)]
    return "".join(_LEVELS[min(len(_LEVELS) - 1, int(one * len(_LEVELS)))] for one in most)
