"""The allocator's summary as an HTML table: no script, nothing unescaped."""

from __future__ import annotations

from html import escape

from memtrack.i18n import ENGLISH, Text
from memtrack.reports.cells import plain, shortened
from memtrack.reports.devicesummary import DeviceSummary
from memtrack.reports.html import CELL, FIRST_CELL, LONGEST_SENTENCE, TABLE
from memtrack.reports.summaryrows import METRIC, SummaryRow, summary_rows, titles
from memtrack.reports.summarytext import counters, headings

_POOL = f"{FIRST_CELL};padding-left:2em;font-weight:normal"
_GROUP = "border-top:1px solid currentColor"


def summary_html(summary: DeviceSummary, language: str = ENGLISH) -> str:
    """Return the table as one element; each figure has its exact number as its title."""
    lines = [*headings(summary), *counters(summary)]
    caption = "<br>".join(_words(line, language) for line in lines)
    heads = "".join(
        f'<th scope="col" style="{CELL}">{_words(title, language)}</th>'
        for title in titles(summary)
    )
    first = f'<th scope="col" style="{FIRST_CELL}">{_words(METRIC, language)}</th>'
    groups = "".join(
        f'<tbody style="{_GROUP}">{"".join(_row(row, language) for row in group)}</tbody>'
        for group in summary_rows(summary)
    )
    return (
        f'<table lang="{escape(language.replace("_", "-"))}" style="{TABLE}">'
        f'<caption style="text-align:left">{caption}</caption>'
        f"<thead><tr>{first}{heads}</tr></thead>{groups}</table>"
    )


def _row(row: SummaryRow, language: str) -> str:
    style = _POOL if row.is_pool else FIRST_CELL
    cells = "".join(
        f'<td style="{CELL}" title="{"" if exact is None else f"{exact:,}"}">'
        f"{escape(cell.strip())}</td>"
        for cell, exact in zip(row.cells, row.exact, strict=True)
    )
    return f'<tr><th scope="row" style="{style}">{_words(row.name, language)}</th>{cells}</tr>'


def _words(sentence: Text, language: str) -> str:
    return escape(shortened(plain(sentence.render(language)), LONGEST_SENTENCE))
