"""Advice as static HTML: no script, no style sheet, in the colours of the page around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from memtrack.diagnosis.advice.comments import in_language
from memtrack.i18n import ENGLISH, Text, text
from memtrack.remedies import Advised, Remedy
from memtrack.reports import advicewords as words
from memtrack.reports.cells import plain, shortened
from memtrack.units import format_bytes

LONGEST_SENTENCE = 400
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0"
_CELL = "padding:.1em .7em;text-align:right;white-space:nowrap;vertical-align:top"
_NAME = "padding:.1em .7em;text-align:left;font-weight:normal"
_CODE = "margin:.3em 0;padding:.4em .7em;border-left:3px solid currentColor;overflow-x:auto"


def advice_html(advised: Advised, language: str = ENGLISH) -> str:
    """Return the advice as one HTML element; what a remedy asks for unfolds under its name."""
    parts = [f'<div lang="{escape(language.replace("_", "-"))}">']
    parts.append(_paragraph(words.headline(advised), language, "bold"))
    chosen = words.set_line(advised)
    if chosen is not None:
        parts.append(_paragraph(chosen, language, "bold"))
    parts += _table(advised, language)
    parts += _sets(advised, language)
    parts += _reasons(words.UNKNOWN, words.unknown(advised), language)
    parts += _reasons(words.NOT_HERE, words.refused(advised), language)
    return "".join([*parts, "</div>"])


def _sentence(sentence: Text, language: str) -> str:
    return escape(shortened(plain(sentence.render(language)), LONGEST_SENTENCE))


def _paragraph(sentence: Text, language: str, weight: str = "normal") -> str:
    style = f"margin:.3em 0;font-weight:{weight}"
    return f'<p style="{style}">{_sentence(sentence, language)}</p>'


def _table(advised: Advised, language: str) -> list[str]:
    rows = [_row(remedy, advised.base.peak, language) for remedy in words.helping(advised)]
    if not rows:
        return [_paragraph(words.NOTHING, language)] if advised.budget is None else []
    heads = "".join(
        f'<th scope="col" style="{_NAME if head is words.HELPS else _CELL}">'
        f"{_sentence(head, language)}</th>"
        for head in (words.HELPS, words.PEAK_AFTER, words.SAVES, words.TIME)
    )
    note = ""
    if any(remedy.evidence == "estimated" for remedy in words.helping(advised)):
        note = _paragraph(words.APPROXIMATE, language)
    return [f'<table style="{_TABLE}"><tr>{heads}</tr>{"".join(rows)}</table>', note]


def _row(remedy: Remedy, base: int, language: str) -> str:
    figures = (
        words.peak_figure(remedy),
        words.saving_figure(remedy, base),
        words.COSTS[remedy.cost_class],
    )
    cells = "".join(f'<td style="{_CELL}">{_sentence(one, language)}</td>' for one in figures)
    return f'<tr><th scope="row" style="{_NAME}">{_details(remedy, language)}</th>{cells}</tr>'


def _details(remedy: Remedy, language: str) -> str:
    told = [remedy.why, text("cost: {cost}", cost=remedy.cost)]
    bounds = words.interval(remedy)
    if bounds is not None:
        told.append(bounds)
    body = "".join(_paragraph(one, language) for one in told)
    code = (
        f'<pre style="{_CODE}"><code>{escape(in_language(remedy.code, language))}</code></pre>'
        if remedy.code
        else ""
    )
    summary = f"<summary>{_sentence(remedy.title, language)}</summary>"
    return f"<details>{summary}{body}{code}{_list(remedy.caveats, language)}</details>"


def _sets(advised: Advised, language: str) -> list[str]:
    lines = [
        text(
            "{mark} {peak}: {set}",
            mark="✓" if advised.budget is not None and one.fits else "·",
            peak=format_bytes(one.peak),
            set=words.joined_titles(one),
        )
        for one in words.mild_to_harsh(advised)
    ]
    return [_paragraph(words.SETS, language), _list(lines, language)] if lines else []


def _reasons(title: Text, remedies: Sequence[Remedy], language: str) -> list[str]:
    if not remedies:
        return []
    items = ""
    for why, titles in words.by_reason(remedies):
        if len(titles) == 1:
            told = text("{title}: {why}", title=titles[0], why=why)
            items += f"<li>{_sentence(told, language)}</li>"
        else:
            items += f"<li>{_sentence(why, language)}{_list(titles, language)}</li>"
    summary = f"<summary>{_sentence(title, language)}</summary>"
    return [f'<details>{summary}<ul style="margin:.2em 0">{items}</ul></details>']


def _list(sentences: Iterable[Text], language: str) -> str:
    items = "".join(f"<li>{_sentence(sentence, language)}</li>" for sentence in sentences)
    return f'<ul style="margin:.2em 0">{items}</ul>' if items else ""
