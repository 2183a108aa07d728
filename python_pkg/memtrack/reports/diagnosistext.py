"""A diagnosis for a terminal: plain text within a given number of columns, the answer first."""

from __future__ import annotations

from memtrack.diagnosis.advice.comments import in_language
from memtrack.diagnosis.diagnosis import Advice, Cause, Check, Diagnosis
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports import diagnosiswords as words
from memtrack.reports.cells import display_width, left, plain, right, shortened, wrapped
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_percent

WIDTH = 80
NARROWEST = 60
_INDENT = "  "
_DEEP = "     "
_MOST_CODE = 40
_NAME = 34


def render_diagnosis(diagnosis: Diagnosis, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return the explanation as text of at most `width` columns (60 at least).

    Only lines of code may be wider: they are there to be copied.
    """
    page = _Page(language, max(width, NARROWEST))
    page.say(diagnosis.headline)
    place = words.place_line(diagnosis)
    if place is not None:
        page.say(place)
    for cause in words.told_causes(diagnosis.causes):
        page.cause(cause)
    for contradiction in diagnosis.contradictions:
        page.say(contradiction, "! ")
    page.figures(words.NEEDED, words.needed_rows(diagnosis.needed))
    _device(page, diagnosis)
    held = [(one.name, one.bytes) for one in diagnosis.holders[: words.MOST_HOLDERS]]
    page.figures(words.HOLDERS, held)
    page.rows(words.OTHERS, words.process_rows(diagnosis.others))
    _advice(page, diagnosis)
    for number, check in enumerate(diagnosis.checks[: words.MOST_CHECKS]):
        page.check(words.CHECKS if number == 0 else words.THEN, check)
    if diagnosis.later:
        page.heading(words.LATER)
        for line in diagnosis.later[: words.MOST_LATER]:
            page.say(line, _INDENT)
    return "\n".join(page.lines)


class _Page:
    """Lines being written in one language and width."""

    def __init__(self, language: str, width: int) -> None:
        self.lines: list[str] = []
        self.width = width
        self._language = language

    def render(self, sentence: Text) -> str:
        return plain(sentence.render(self._language))

    def say(self, sentence: Text, mark: str = "") -> None:
        indent = " " * len(mark)
        self.lines += wrapped(mark + self.render(sentence), self.width, indent)

    def heading(self, sentence: Text) -> None:
        self.lines += ["", self.render(sentence)]

    def code(self, code: str, indent: str) -> None:
        lines = in_language(code, self._language).splitlines()
        self.lines += [f"{indent}{plain(line)}".rstrip() for line in lines[:_MOST_CODE]]

    def cause(self, cause: Cause) -> None:
        self.say(words.cause_line(cause))
        for line in cause.evidence[: words.MOST_EVIDENCE]:
            self.say(line, _DEEP + "▸ ")

    def figures(self, title: Text, rows: list[tuple[Text, int]]) -> None:
        self.rows(title, [(name, literal(format_bytes(size))) for name, size in rows])

    def rows(self, title: Text, rows: list[tuple[Text, Text]]) -> None:
        if not rows:
            return
        self.heading(title)
        named = [(self.render(name), self.render(cell)) for name, cell in rows]
        figures = max(display_width(cell) for _, cell in named)
        room = self.width - figures - 4
        column = min(max(max(display_width(name) for name, _ in named), _NAME), room)
        for name, cell in named:
            line = f"{_INDENT}{left(shortened(name, column), column)}  {right(cell, figures)}"
            self.lines.append(line)

    def check(self, title: Text, check: Check) -> None:
        if title is words.CHECKS:
            self.lines.append("")
        step = text("{title}: {check}", title=title, check=check.text)
        self.say(step)
        self.code(check.code, _DEEP)


def _device(page: _Page, diagnosis: Diagnosis) -> None:
    """Write a line a part: name, bytes, share of the device and a bar; `~` stands before estimates."""
    parts = [part for part in diagnosis.parts if part.bytes > 0]
    total = sum(part.bytes for part in parts)
    if not parts:
        return
    page.heading(words.DEVICE)
    names = [page.render(words.part_title(part.id)) for part in parts]
    column = min(max(map(display_width, names)), _NAME)
    for part, name in zip(parts, names, strict=True):
        figure = ("~" if part.certainty == "estimated" else "") + format_bytes(part.bytes)
        cells = f"{right(figure, 10)} {right(format_percent(part.bytes, total), 5)}"
        bar = "█" * round((page.width - column - 22) * part.bytes / total)
        line = f"{_INDENT}{left(shortened(name, column), column)} {cells}  {bar}"
        page.lines.append(line.rstrip())


def _advice(page: _Page, diagnosis: Diagnosis) -> None:
    if diagnosis.advice:
        page.heading(words.ADVICE)
    for number, advice in enumerate(diagnosis.advice[: words.MOST_ADVICE], start=1):
        page.say(_title(advice), f"{number:>3}. ")
        page.say(text("cost: {cost}", cost=advice.cost), _DEEP)
        page.code(advice.code, _DEEP + _INDENT)
        for caveat in advice.caveats[: words.MOST_CAVEATS]:
            page.say(caveat, _DEEP + "! ")


def _title(advice: Advice) -> Text:
    saved = words.saving(advice.saving_bytes)
    return (
        advice.title if saved is None else text("{title}: {more}", title=advice.title, more=saved)
    )
