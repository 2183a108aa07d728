"""Holders and what was given back, as plain text and as HTML: the answer first, then each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from memtrack.i18n import ENGLISH, Text
from memtrack.reports.cells import plain, right, wrapped
from memtrack.reports.holders import HolderRow
from memtrack.reports.html import CELL, FIRST_CELL, TABLE
from memtrack.units import format_bytes

WIDTH = 80
_FIGURE = 10
_INDENT = " " * (_FIGURE + 2)
_MARK = "· "


@dataclass(frozen=True, slots=True)
class Section:
    """A title in bold, rows with figures, then sentences; `kept` is text shown as it is."""

    title: Text
    rows: Sequence[HolderRow] = ()
    sentences: Sequence[Text] = ()
    kept: str = ""
    kept_title: Text | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """Sections of an answer, which shows itself in a notebook and in a terminal."""

    sections: Sequence[Section]
    language: str = ENGLISH
    html_after: str = ""
    text_after: Sequence[Text] = field(default_factory=tuple)

    @property
    def text(self) -> str:
        """The answer in lines of at most 80 columns; commands and names may be longer."""
        parts = ["\n".join(_lines(section, self.language)) for section in self.sections]
        if self.text_after:
            parts.append("\n".join(plain(one.render(self.language)) for one in self.text_after))
        return "\n\n".join(parts)

    @property
    def html(self) -> str:
        """The answer as one element: no script, nothing unescaped."""
        parts = "".join(_html(section, self.language) for section in self.sections)
        language = escape(self.language.replace("_", "-"))
        return f'<div lang="{language}">{parts}{self.html_after}</div>'


def _lines(section: Section, language: str) -> list[str]:
    lines = wrapped(plain(section.title.render(language)), WIDTH)
    for row in section.rows:
        figure = right(format_bytes(row.bytes), _FIGURE)
        lines.append(f"{figure}  {plain(row.name.render(language))}")
        for fact in row.facts:
            words = plain(fact.render(language))
            lines += [_INDENT + line for line in wrapped(_MARK + words, WIDTH - len(_INDENT), "  ")]
        lines += [_INDENT + plain(row.line)] if row.line else []
    for sentence in section.sentences:
        lines += wrapped(plain(sentence.render(language)), WIDTH)
    return lines


def _html(section: Section, language: str) -> str:
    rows = "".join(_html_row(row, language) for row in section.rows)
    table = f'<table style="{TABLE}">{rows}</table>' if rows else ""
    sentences = "".join(
        f'<p style="margin:.3em 0">{_words(sentence, language)}</p>'
        for sentence in section.sentences
    )
    kept = ""
    if section.kept and section.kept_title is not None:
        summary = _words(section.kept_title, language)
        kept = f"<details><summary>{summary}</summary><pre>{escape(section.kept)}</pre></details>"
    title = f'<p style="margin:.3em 0;font-weight:bold">{_words(section.title, language)}</p>'
    return title + table + sentences + kept


def _html_row(row: HolderRow, language: str) -> str:
    facts = "<br>".join(_words(fact, language) for fact in row.facts)
    line = f"<code>{escape(plain(row.line))}</code>" if row.line else ""
    name = f'<th scope="row" style="{FIRST_CELL}">{_words(row.name, language)}</th>'
    figure = f'<td style="{CELL}" title="{row.bytes:,}">{format_bytes(row.bytes)}</td>'
    cells = "".join(f'<td style="{FIRST_CELL}">{cell}</td>' for cell in (facts, line))
    return f'<tr style="vertical-align:top">{figure}{name}{cells}</tr>'


def _words(sentence: Text, language: str) -> str:
    return escape(plain(sentence.render(language)))
