"""A report as static HTML: no script, no style sheet, in the colours of the page around it.

Everything that comes from a recording is escaped, and what has no bound there gets one here, so
that a page stays below 100 kB.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from memtrack.analysis import DRAW_ORDER
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.answerhtml import answer_html
from memtrack.reports.answertables import answer_tables
from memtrack.reports.cells import plain, shortened
from memtrack.reports.colours import colour_of
from memtrack.reports.layerhtml import layer_rows
from memtrack.reports.report import LedgerPart, LedgerReport, Report, View
from memtrack.reports.status import headed_device_line, run_line, state_sentences
from memtrack.reports.svg import stacked, timeline_svg
from memtrack.reports.words import part_name
from memtrack.units import format_bytes, format_percent

ROWS = 40
MOST_VIEWS = 8
MOST_SENTENCES = 20
LONGEST_SENTENCE = 400
TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0"
CELL = "padding:.1em .7em;text-align:right;white-space:nowrap"
FIRST_CELL = "padding:.1em .7em;text-align:left"
CATEGORY_IDS = frozenset(category.id for category in DRAW_ORDER)


def render_html(report: Report, language: str = ENGLISH, rows: int = ROWS) -> str:
    """Return the report as one HTML element, with at most `rows` layers of its first device."""
    parts = [f'<div lang="{escape(language.replace("_", "-"))}">']
    for number, view in enumerate(report.views[:MOST_VIEWS]):
        make = _whole_view if number == 0 else _short_view
        parts += make(report, view, language, rows)
    if not report.views:
        parts.append(_paragraph(text("No memory was seen on any device"), language, "bold"))
    notices = (*state_sentences(report), *report.notices)[:MOST_SENTENCES]
    parts += _list(notices, language)
    return "".join([*parts, "</div>"])


def _whole_view(report: Report, view: View, language: str, rows: int) -> list[str]:
    return [
        _paragraph(view.headline, language, "bold"),
        *_list(view.details[:MOST_SENTENCES], language),
        *_list([finding.sentence for finding in view.growth[:MOST_SENTENCES]], language),
        _paragraph(run_line(report), language),
        _paragraph(headed_device_line(report, view.device), language),
        _bar(view.ledger, language),
        _ledger(view.ledger, language),
        timeline_svg(report, view, language),
        _legend(view, language),
        layer_rows(report, view, language, rows),
        *[answer_html(table, language) for table in answer_tables(report, view)],
    ]


def _short_view(report: Report, view: View, language: str, rows: int) -> list[str]:
    del rows
    return [
        _paragraph(headed_device_line(report, view.device), language),
        _paragraph(view.headline, language, "bold"),
        _bar(view.ledger, language),
    ]


def _sentence(sentence: Text, language: str) -> str:
    return escape(shortened(plain(sentence.render(language)), LONGEST_SENTENCE))


def _paragraph(sentence: Text, language: str, weight: str = "normal") -> str:
    style = f"margin:.3em 0;font-weight:{weight}"
    return f'<p style="{style}">{_sentence(sentence, language)}</p>'


def _list(sentences: Iterable[Text], language: str) -> list[str]:
    items = [f"<li>{_sentence(sentence, language)}</li>" for sentence in sentences]
    return ["<ul>", *items, "</ul>"] if items else []


def _bar(ledger: LedgerReport, language: str) -> str:
    """Return the parts side by side; they fill the bar as they fill the device."""
    pieces = [
        f'<span title="{_part_title(part, language)}" '
        f'style="flex:{part.bytes / ledger.total:.5f} 0 0;background:{colour_of(part.id)}"></span>'
        for part in ledger.parts
    ]
    style = "display:flex;height:1.2em;max-width:800px;border:1px solid currentColor"
    return f'<div aria-hidden="true" style="{style}">{"".join(pieces)}</div>'


def _part_title(part: LedgerPart, language: str) -> str:
    return escape(f"{part_name(part.id).render(language)}: {_figure(part)}")


def _figure(part: LedgerPart) -> str:
    return ("~" if part.certainty == "estimated" else "") + format_bytes(part.bytes)


def _ledger(ledger: LedgerReport, language: str) -> str:
    headings = (None, None, text("of the device"), text("of the tensors"))
    heads = [
        f'<th scope="col" style="{CELL};font-weight:normal">{_sentence(h, language) if h else ""}</th>'
        for h in headings
    ]
    rows = []
    for part in ledger.parts:
        rows.append(_ledger_row(part, ledger, language))
        if len(part.details) > 1:
            rows += [_ledger_row(detail, ledger, language) for detail in part.details]
    return f'<table style="{TABLE}"><tr>{"".join(heads)}</tr>{"".join(rows)}</table>'


def _ledger_row(part: LedgerPart, ledger: LedgerReport, language: str) -> str:
    is_tensor = part.id in CATEGORY_IDS
    shares = [
        format_percent(part.bytes, ledger.total),
        format_percent(part.bytes, ledger.allocated) if is_tensor else "",
    ]
    cells = [_figure(part), *map(escape, shares)]
    numbers = "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)
    is_detail = "." in part.id
    indent = ";padding-left:2.6em;opacity:.75" if is_detail else ""
    name = _sentence(part_name(part.id), language)
    if not is_detail:
        name = _swatch(part.id) + name
    return f'<tr><th scope="row" style="{FIRST_CELL};font-weight:normal{indent}">{name}</th>{numbers}</tr>'


def _legend(view: View, language: str) -> str:
    """Return what the colours of the timeline mean, also those that hold nothing at the peak."""
    entries = [
        f'<span style="white-space:nowrap;margin-right:1.2em">{_swatch(area)}'
        f"{_sentence(name, language)}</span>"
        for area, name, _ in stacked(view.timeline)
    ]
    return f'<p style="margin:.3em 0;font-size:.85em">{" ".join(entries)}</p>'


def _swatch(part: str) -> str:
    style = "display:inline-block;width:.8em;height:.8em;margin-right:.5em"
    return f'<span style="{style};background:{colour_of(part)}"></span>'
