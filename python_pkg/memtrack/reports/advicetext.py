"""Advice for a terminal: plain text within a number of columns, the answer first."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.comments import in_language
from memtrack.i18n import ENGLISH, Text, text
from memtrack.remedies import Advised, Remedy
from memtrack.reports import advicewords as words
from memtrack.reports.cells import display_width, left, plain, right, wrapped
from memtrack.units import format_bytes

WIDTH = 80
NARROWEST = 60
MOST_DETAILED = 3
"""Remedies whose code and traps are written out."""
_INDENT, _DEEP = "  ", "     "


def render_advice(advised: Advised, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return the advice as text of at most `width` columns (60 at least); code may be wider."""
    width = max(width, NARROWEST)
    lines = wrapped(words.headline(advised).render(language), width)
    chosen = words.set_line(advised)
    if chosen is not None:
        lines += wrapped(chosen.render(language), width)
    lines += _table(advised, language, width)
    lines += _sets(advised, language, width)
    for number, remedy in enumerate(_detailed(advised), start=1):
        lines += ["", *_details(remedy, number, language, width)]
    lines += _reasons(words.UNKNOWN, words.unknown(advised), language, width)
    lines += _reasons(words.NOT_HERE, words.refused(advised), language, width)
    return "\n".join(lines)


def _table(advised: Advised, language: str, width: int) -> list[str]:
    rows = [
        (
            remedy.title.render(language),
            words.peak_figure(remedy).render(language),
            words.saving_figure(remedy, advised.base.peak).render(language),
            words.COSTS[remedy.cost_class].render(language),
        )
        for remedy in words.helping(advised)
    ]
    if not rows:
        return wrapped(words.NOTHING.render(language), width) if advised.budget is None else []
    heads = (words.HELPS, words.PEAK_AFTER, words.SAVES, words.TIME)
    table = [tuple(head.render(language) for head in heads), *rows]
    figures = [max(display_width(row[column]) for row in table) for column in (1, 2, 3)]
    room = width - sum(figures) - 2 * len(figures) - len(_INDENT)
    name = min(max(display_width(row[0]) for row in table), room)
    lines = [""]
    for number, row in enumerate(table):
        indent = "" if number == 0 else _INDENT
        title, *more = wrapped(row[0], name, _INDENT)
        first = left(title, name + len(_INDENT) - len(indent))
        cells = [right(cell, size) for cell, size in zip(row[1:], figures, strict=True)]
        lines.append("  ".join((indent + first, *cells)).rstrip())
        lines += [indent + rest for rest in more]
    if any(remedy.evidence == "estimated" for remedy in words.helping(advised)):
        lines += wrapped(_INDENT + words.APPROXIMATE.render(language), width, _INDENT)
    return lines


def _sets(advised: Advised, language: str, width: int) -> list[str]:
    shown = words.mild_to_harsh(advised)
    if not shown:
        return []
    lines = ["", words.SETS.render(language)]
    for one in shown:
        mark = "✓ " if advised.budget is not None and one.fits else "  "
        sentence = text(
            "{peak}: {set}", peak=format_bytes(one.peak), set=words.joined_titles(one)
        ).render(language)
        lines += wrapped(_INDENT + mark + plain(sentence), width, _INDENT * 3)
    return lines


def _detailed(advised: Advised) -> Sequence[Remedy]:
    """Return the remedies of the mildest set that fits; without a budget the first of the table."""
    by_id = {one.id: one for one in advised.remedies}
    if advised.budget is not None and advised.combinations and not advised.fits:
        return [by_id[one] for one in advised.combinations[0].ids]
    return words.helping(advised)[:MOST_DETAILED]


def _details(remedy: Remedy, number: int, language: str, width: int) -> list[str]:
    lines = wrapped(f"{number}. {remedy.title.render(language)}", width, _DEEP)
    told: list[Text] = [remedy.why, text("cost: {cost}", cost=remedy.cost)]
    bounds = words.interval(remedy)
    for sentence in (*told, *([] if bounds is None else [bounds])):
        lines += wrapped(_DEEP + plain(sentence.render(language)), width, _DEEP)
    lines += [
        f"{_DEEP}{_INDENT}{line}".rstrip()
        for line in in_language(remedy.code, language).splitlines()
    ]
    for caveat in remedy.caveats:
        lines += wrapped(f"{_DEEP}! {caveat.render(language)}", width, _DEEP + "  ")
    return lines


def _reasons(title: Text, remedies: Sequence[Remedy], language: str, width: int) -> list[str]:
    if not remedies:
        return []
    lines = ["", title.render(language)]
    for why, titles in words.by_reason(remedies):
        told = why if len(titles) > 1 else text("{title}: {why}", title=titles[0], why=why)
        lines += wrapped(_INDENT + plain(told.render(language)), width, _INDENT * 2)
        for one in titles if len(titles) > 1 else ():
            lines += wrapped(f"{_DEEP}- {plain(one.render(language))}", width, _DEEP + "  ")
    return lines
