"""The table of ranks, and its forms: text for a terminal, static HTML for a saved notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.cells import display_width, left, plain, right, shortened, wrapped
from memtrack.reports.ranks import RankRow, RanksReport
from memtrack.reports.words import PHASES
from memtrack.units import format_bytes, format_duration, format_percent

WIDTH = 80
ROWS = 64
LONGEST_CELL = 40
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0"
_CELL = "padding:.1em .7em;text-align:right;white-space:nowrap"

_HEADINGS = (
    text("rank"),
    text("peak"),
    text("of the highest"),
    text("reserved"),
    text("where"),
    text("steps"),
    text("a step"),
    text("state"),
)
_LEFT = (4, 7)
_STATES = {
    "complete": text("complete"),
    "interrupted": text("interrupted"),
    "failed": text("failed"),
    "recording": text("no end"),
}


def render_ranks(report: RanksReport, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return the report as text; sentences are of at most `width` columns."""
    lines = wrapped(report.headline.render(language), width)
    for sentence in report.details:
        lines += wrapped(f"- {sentence.render(language)}", width, "  ")
    rows = [[heading.render(language) for heading in _HEADINGS], *_cells(report, language)]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines.append("")
    for row in rows:
        cells = [
            left(cell, size) if number in _LEFT else right(cell, size)
            for number, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *_left_out(report, language)])


def ranks_html(report: RanksReport, language: str = ENGLISH) -> str:
    """Return the report as one HTML element without script and style sheet."""

    def said(sentence: Text) -> str:
        return escape(sentence.render(language))

    heads = "".join(f'<th scope="col" style="{_CELL}">{said(one)}</th>' for one in _HEADINGS)
    rows = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in _cells(report, language)
    )
    details = "".join(f"<li>{said(sentence)}</li>" for sentence in report.details)
    rest = "".join(f"<p>{escape(line)}</p>" for line in _left_out(report, language))
    return (
        f'<div lang="{escape(language.replace("_", "-"))}">'
        f'<p style="margin:.3em 0;font-weight:bold">{said(report.headline)}</p>'
        f'<ul>{details}</ul><table style="{_TABLE}"><tr>{heads}</tr>{rows}</table>{rest}</div>'
    )


def _cells(report: RanksReport, language: str) -> list[list[str]]:
    most = 0 if report.imbalance is None else report.imbalance.most
    return [_row(row, most, language) for row in report.rows[:ROWS]]


def _row(row: RankRow, most: int, language: str) -> list[str]:
    peak, held = row.peak, row.held
    reserved = "" if held is None or held.reserved < 0 else format_bytes(held.reserved)
    where = ""
    if peak is not None:
        phase = PHASES[peak.phase].render(language) if peak.phase in PHASES else peak.phase
        where = shortened(plain(peak.layer_path or phase), LONGEST_CELL)
    return [
        str(row.facts.rank),
        "" if peak is None else format_bytes(peak.bytes),
        "" if peak is None or not most else format_percent(peak.bytes, most),
        reserved,
        where,
        str(row.steps),
        "" if row.step_ns is None else format_duration(row.step_ns),
        _STATES[row.state].render(language) if row.state in _STATES else row.state,
    ]


def _left_out(report: RanksReport, language: str) -> Sequence[str]:
    more = len(report.rows) - ROWS
    if more <= 0:
        return []
    return [text("{count} more ranks are not shown.", count=more).render(language)]
