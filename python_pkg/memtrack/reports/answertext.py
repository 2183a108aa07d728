"""The answers of a view as lines of text."""

from __future__ import annotations

from memtrack.reports.answertables import AnswerTable, answer_tables
from memtrack.reports.cells import display_width, left, plain, right, shortened, wrapped
from memtrack.reports.report import Report, View

_INDENT = "  "
_GAP = "  "
_NARROWEST_NAME = 12


def growth_lines(view: View, language: str, width: int) -> list[str]:
    """Return what each step keeps, a notice each."""
    lines = []
    for finding in view.growth:
        lines += wrapped("! " + plain(finding.sentence.render(language)), width, _INDENT)
    return lines


def answer_lines(report: Report, view: View, language: str, width: int) -> list[str]:
    """Return the tables of a view, an empty line before each."""
    lines = []
    for table in answer_tables(report, view):
        lines += ["", *table_lines(table, language, width)]
    return lines


def table_lines(table: AnswerTable, language: str, width: int) -> list[str]:
    """Return a table with its title above and its notes below, within `width` columns."""
    rows = [[plain(cell.render(language)) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    figures = sum(widths[1:]) + len(_GAP) * (len(widths) - 1) + len(_INDENT)
    widths[0] = min(widths[0], max(_NARROWEST_NAME, width - figures))
    lines = [shortened(plain(table.title.render(language)), width)]
    for name, *cells in rows:
        figured = [right(cell, size) for cell, size in zip(cells, widths[1:], strict=True)]
        line = _GAP.join([left(shortened(name, widths[0]), widths[0]), *figured])
        lines.append(shortened(_INDENT + line, width).rstrip())
    for note in table.notes:
        lines += wrapped(_INDENT + plain(note.render(language)), width, _INDENT)
    return lines
