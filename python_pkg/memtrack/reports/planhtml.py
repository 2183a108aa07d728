"""A plan as static HTML: no script, no style sheet, in the colours of the page around it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from memtrack.i18n import ENGLISH, Text
from memtrack.reports import planwords as words
from memtrack.reports.colours import colour_of
from memtrack.reports.plantext import headlines
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_percent

if TYPE_CHECKING:
    from memtrack.reports.plan import Plan

_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0"
_CELL = "padding:.1em .7em;text-align:right;white-space:nowrap;vertical-align:top"
_NAME = "padding:.1em .7em;text-align:left;font-weight:normal"
_SWATCH = "display:inline-block;width:.8em;height:.8em;margin-right:.5em"


def plan_html(plan: Plan, language: str = ENGLISH) -> str:
    """Return the plan as one HTML element."""
    first, *rest = headlines(plan)
    pieces = [f'<div lang="{escape(language.replace("_", "-"))}">']
    pieces.append(_paragraph(first, language, "bold"))
    pieces += [_paragraph(sentence, language) for sentence in rest]
    pieces += _ways(plan, language) if plan.ways else _parts(plan, language)
    pieces += [_paragraph(note, language) for note in words.notes(plan.inputs)]
    return "".join([*pieces, "</div>"])


def _said(sentence: Text, language: str) -> str:
    return escape(sentence.render(language))


def _paragraph(sentence: Text, language: str, weight: str = "normal") -> str:
    return f'<p style="margin:.3em 0;font-weight:{weight}">{_said(sentence, language)}</p>'


def _colour(part: str) -> str:
    return colour_of("buffer" if part == "cache_kv" else part)


def _parts(plan: Plan, language: str) -> list[str]:
    room = max(plan.total, plan.gpu.usable if plan.gpu else 0)
    segments, rows = [], []
    for part in plan.parts:
        name = _said(words.part_title(part.id, plan.inputs), language)
        style = f"flex:{part.bytes / room:.5f} 0 0;background:{_colour(part.id)}"
        segments.append(f'<span title="{name}" style="{style}"></span>')
        swatch = f'<span style="{_SWATCH};background:{_colour(part.id)}"></span>'
        cells = (format_bytes(part.bytes), format_percent(part.bytes, plan.total))
        figures = "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in cells)
        how = f'<td style="{_NAME}">{_said(words.how(part, plan.inputs), language)}</td>'
        rows.append(f'<tr><th scope="row" style="{_NAME}">{swatch}{name}</th>{figures}{how}</tr>')
    if room > plan.total:
        segments.append(f'<span style="flex:{1 - plan.total / room:.5f} 0 0"></span>')
    bar = "display:flex;height:1.2em;max-width:800px;border:1px solid currentColor"
    return [
        f'<div aria-hidden="true" style="{bar}">{"".join(segments)}</div>',
        f'<table style="{_TABLE}">{"".join(rows)}</table>',
    ]


def _ways(plan: Plan, language: str) -> list[str]:
    heads = _row(words.WAY, (words.HOST, words.MAPPED, words.DEVICE), language)
    rows = [
        _row(words.WAYS[way.id], tuple(map(_figure, (way.host, way.mapped, way.device))), language)
        for way in plan.ways
    ]
    return [f'<table style="{_TABLE}">{heads}{"".join(rows)}</table>']


def _figure(size: int) -> Text:
    return literal(format_bytes(size))


def _row(name: Text, cells: Sequence[Text], language: str) -> str:
    figures = "".join(f'<td style="{_CELL}">{_said(cell, language)}</td>' for cell in cells)
    return f'<tr><th scope="row" style="{_NAME}">{_said(name, language)}</th>{figures}</tr>'
