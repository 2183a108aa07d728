"""The answers of a view as HTML tables."""

from __future__ import annotations

from html import escape

from memtrack.i18n import Text
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.cells import plain, shortened

_LONGEST = 120
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0"
_NUMBER = "padding:.1em .7em;text-align:right;white-space:nowrap"
_WORD = "padding:.1em .7em;text-align:left"
_CAPTION = "caption-side:top;text-align:left;padding:.1em .7em;color:inherit"


def answer_html(table: AnswerTable, language: str) -> str:
    """Return a table with its title and notes."""
    head = [
        f'<th scope="col" style="{_style(column)}">{_cell(title, language)}</th>'
        for column, title in enumerate(table.head)
    ]
    rows = []
    for name, *cells in table.rows:
        figures = "".join(f'<td style="{_NUMBER}">{_cell(cell, language)}</td>' for cell in cells)
        named = f'<th scope="row" style="{_WORD};font-weight:normal">{_cell(name, language)}</th>'
        rows.append(f"<tr>{named}{figures}</tr>")
    caption = f'<caption style="{_CAPTION}">{_cell(table.title, language)}</caption>'
    notes = "".join(f"<p>{_cell(note, language)}</p>" for note in table.notes)
    body = f"<thead><tr>{''.join(head)}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<table style="{_TABLE}">{caption}{body}</table>{notes}'


def _style(column: int) -> str:
    return _NUMBER if column else _WORD


def _cell(cell: Text, language: str) -> str:
    return escape(shortened(plain(cell.render(language)), _LONGEST))
