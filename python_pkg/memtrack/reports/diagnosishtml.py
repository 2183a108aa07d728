"""A diagnosis as static HTML: no script, no style sheet, in the colours of the page around it.

Everything that comes from a message or a recording is escaped, and what has no bound gets one here.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from memtrack.diagnosis.advice.comments import in_language
from memtrack.diagnosis.diagnosis import SURE, Advice, Check, Diagnosis
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports import diagnosiswords as words
from memtrack.reports.cells import plain, shortened
from memtrack.reports.colours import colour_of
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_percent

LONGEST_SENTENCE = 400
LONGEST_CODE = 4_000
LONGEST_MESSAGE = 8_000
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.3em 0"
_CELL = "padding:.1em .7em;text-align:right;white-space:nowrap"
_NAME = "padding:.1em .7em;text-align:left;font-weight:normal"
_CODE = "margin:.3em 0;padding:.4em .7em;border-left:3px solid currentColor;overflow-x:auto"


def diagnosis_html(diagnosis: Diagnosis, language: str = ENGLISH) -> str:
    """Return the explanation as one HTML element."""
    parts = [f'<div lang="{escape(language.replace("_", "-"))}">']
    parts.append(_paragraph(diagnosis.headline, language, "bold"))
    place = words.place_line(diagnosis)
    if place is not None:
        parts.append(_paragraph(place, language))
    for cause in words.told_causes(diagnosis.causes):
        weight = "bold" if cause.confidence >= SURE else "normal"
        parts.append(_paragraph(words.cause_line(cause), language, weight))
        parts += _list(cause.evidence[: words.MOST_EVIDENCE], language)
    parts += _list(diagnosis.contradictions, language)
    parts += _device(diagnosis, language)
    needed = [(name, _bytes(size)) for name, size in words.needed_rows(diagnosis.needed)]
    held = [(one.name, _bytes(one.bytes)) for one in diagnosis.holders[: words.MOST_HOLDERS]]
    others = words.process_rows(diagnosis.others)
    for title, rows in ((words.NEEDED, needed), (words.HOLDERS, held), (words.OTHERS, others)):
        parts += _table(title, rows, language)
    parts += _advices(diagnosis, language)
    parts += _checks(diagnosis, language)
    if diagnosis.later:
        parts.append(_paragraph(words.LATER, language))
        parts += _list(diagnosis.later[: words.MOST_LATER], language)
    return "".join([*parts, *_message(diagnosis.message, language), "</div>"])


def _sentence(sentence: Text, language: str) -> str:
    return escape(shortened(plain(sentence.render(language)), LONGEST_SENTENCE))


def _paragraph(sentence: Text, language: str, weight: str = "normal") -> str:
    style = f"margin:.3em 0;font-weight:{weight}"
    return f'<p style="{style}">{_sentence(sentence, language)}</p>'


def _list(sentences: Iterable[Text], language: str) -> list[str]:
    items = [f"<li>{_sentence(sentence, language)}</li>" for sentence in sentences]
    return [f'<ul style="margin:.2em 0">{"".join(items)}</ul>'] if items else []


def _bytes(size: int) -> Text:
    return literal(format_bytes(size))


def _table(title: Text, rows: Iterable[tuple[Text, Text]], language: str) -> list[str]:
    body = [
        f'<tr><th scope="row" style="{_NAME}">{_sentence(name, language)}</th>'
        f'<td style="{_CELL}">{_sentence(cell, language)}</td></tr>'
        for name, cell in rows
    ]
    caption = f'<caption style="text-align:left">{_sentence(title, language)}</caption>'
    return [f'<table style="{_TABLE}">{caption}{"".join(body)}</table>'] if body else []


def _device(diagnosis: Diagnosis, language: str) -> list[str]:
    """Return the parts side by side and what their colours mean; they fill the bar as the device."""
    parts = [part for part in diagnosis.parts if part.bytes > 0]
    total = sum(part.bytes for part in parts)
    if not parts:
        return []
    pieces, legend = [], []
    for part in parts:
        figure = ("~" if part.certainty == "estimated" else "") + format_bytes(part.bytes)
        told = f"{_sentence(words.part_title(part.id), language)} {escape(figure)}"
        share = escape(format_percent(part.bytes, total))
        style = f"flex:{part.bytes / total:.5f} 0 0;background:{colour_of(part.id)}"
        pieces.append(f'<span title="{told}, {share}" style="{style}"></span>')
        swatch = "display:inline-block;width:.8em;height:.8em;margin-right:.5em"
        legend.append(
            '<span style="white-space:nowrap;margin-right:1.2em">'
            f'<span style="{swatch};background:{colour_of(part.id)}"></span>{told} ({share})</span>'
        )
    bar = "display:flex;height:1.2em;max-width:800px;border:1px solid currentColor"
    return [
        _paragraph(words.DEVICE, language),
        f'<div aria-hidden="true" style="{bar}">{"".join(pieces)}</div>',
        f'<p style="margin:.3em 0;font-size:.85em">{" ".join(legend)}</p>',
    ]


def _advices(diagnosis: Diagnosis, language: str) -> list[str]:
    items = [_advice(one, language) for one in diagnosis.advice[: words.MOST_ADVICE]]
    if not items:
        return []
    return [_paragraph(words.ADVICE, language, "bold"), f"<ol>{''.join(items)}</ol>"]


def _advice(advice: Advice, language: str) -> str:
    saved = words.saving(advice.saving_bytes)
    more = "" if saved is None else f" — {_sentence(saved, language)}"
    cost = _paragraph(text("cost: {cost}", cost=advice.cost), language)
    caveats = "".join(_list(advice.caveats[: words.MOST_CAVEATS], language))
    title = f"<strong>{_sentence(advice.title, language)}</strong>{more}"
    return f"<li>{title}{cost}{_code(advice.code, language)}{caveats}</li>"


def _checks(diagnosis: Diagnosis, language: str) -> list[str]:
    items = [_check(check, language) for check in diagnosis.checks[: words.MOST_CHECKS]]
    if not items:
        return []
    return [_paragraph(words.CHECKS, language, "bold"), f"<ol>{''.join(items)}</ol>"]


def _check(check: Check, language: str) -> str:
    return f"<li>{_sentence(check.text, language)}{_code(check.code, language)}</li>"


def _code(code: str, language: str) -> str:
    if not code:
        return ""
    return f'<pre style="{_CODE}"><code>{escape(in_language(code, language)[:LONGEST_CODE])}</code></pre>'


def _message(message: str, language: str) -> list[str]:
    if not message:
        return []
    summary = f"<summary>{_sentence(words.MESSAGE, language)}</summary>"
    body = f'<pre style="white-space:pre-wrap">{escape(message[:LONGEST_MESSAGE])}</pre>'
    return [f"<details>{summary}{body}</details>"]
