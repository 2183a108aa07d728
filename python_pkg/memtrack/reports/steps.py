"""The steps of one run side by side: what grows from one to the next, without any other run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from memtrack.analysis.device import devices_in_order
from memtrack.analysis.growth import Growth, growth_of
from memtrack.analysis.peak import step_windows
from memtrack.analysis.ranges import largest_in_ranges
from memtrack.analysis.totals import allocated
from memtrack.i18n import ENGLISH, Text, preferred_language, text
from memtrack.recording import RecordingData
from memtrack.reports.answerhtml import answer_html
from memtrack.reports.answers import GrowthFinding
from memtrack.reports.answertables import AnswerTable
from memtrack.reports.answertext import table_lines
from memtrack.reports.cells import plain, wrapped
from memtrack.reports.growing import growth_findings
from memtrack.reports.words import literal
from memtrack.units import format_bytes, format_change

WIDTH, NARROWEST = 80, 60
MOST_STEPS = 24


@dataclass(frozen=True, slots=True)
class Step:
    """One finished step, counted from 1. Bytes; `reserved` at its end is None where it is not known.

    `peak` is the most allocated in it, `end` what was allocated at its end, `kept` what it made that
    was still there when the next step ended.
    """

    number: int
    peak: int
    end: int
    kept: int
    reserved: int | None


@dataclass(frozen=True)
class Steps:
    """What the steps of a run show together. `findings` are leaks and creeping fragmentation."""

    label: str
    steps: Sequence[Step]
    findings: Sequence[GrowthFinding]
    language: str = ""

    @property
    def sentence(self) -> Text:
        """The answer in one sentence."""
        if self.findings:
            return self.findings[0].sentence
        if len(self.steps) < 2:
            return text("Steps are compared from two on; finished: {count}", count=len(self.steps))
        first, last = self.steps[min(1, len(self.steps) - 2)], self.steps[-1]
        if last.end == first.end:
            return text("Nothing grows from step to step (steps: {count})", count=len(self.steps))
        return text(
            "Nothing grows from step to step (steps: {count}); step {last} ends with {change}"
            " against step {first}",
            count=len(self.steps),
            first=first.number,
            last=last.number,
            change=format_change(last.end - first.end),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the steps and what was found as plain JSON."""
        return {
            "schema": "memtrack.steps/1",
            "label": self.label,
            "steps": [
                {
                    "step": one.number,
                    "peak": one.peak,
                    "end": one.end,
                    "kept": one.kept,
                    "reserved": one.reserved,
                }
                for one in self.steps
            ],
            "findings": [
                {
                    "sentence": str(one.sentence),
                    "step_bytes": one.step_bytes,
                    "bytes": one.bytes,
                    "steps": one.steps,
                    "category": one.category,
                    "site": one.site,
                }
                for one in self.findings
            ],
        }

    def __str__(self) -> str:
        return render_steps(self, self._spoken())

    def __repr__(self) -> str:
        return f"<memtrack.Steps: {self.sentence}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        spoken = self._spoken()
        return {"text/plain": render_steps(self, spoken), "text/html": _html(self, spoken)}

    def _spoken(self) -> str:
        return self.language or preferred_language()


def steps_of(data: RecordingData, language: str = "") -> Steps:
    """Return the finished steps of a recording, of the device with the most at stake."""
    device = devices_in_order(data)[0]
    levels = allocated(data, device)
    growth = growth_of(data, device, levels)
    findings = growth_findings(data, growth, int(levels.max()))
    return Steps(data.facts.label, _steps(data, growth, levels), findings, language)


def _steps(data: RecordingData, growth: Growth, levels: Any) -> list[Step]:
    if not growth.steps:
        return []
    start, end = (edge[: growth.steps] for edge in step_windows(data))
    peaks = largest_in_ranges(levels, start, end)
    reserved = None if growth.creep is None else growth.creep.reserved
    return [
        Step(
            number=number + 1,
            peak=int(peaks[number]),
            end=int(levels[end[number]]),
            kept=int(growth.kept[number]),
            reserved=None if reserved is None else int(reserved[number]),
        )
        for number in range(growth.steps)
    ]


def render_steps(steps: Steps, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return the steps as text of at most `width` columns (60 at least)."""
    width = max(width, NARROWEST)
    lines: list[str] = []
    for sentence in (steps.sentence, *(one.sentence for one in steps.findings[1:])):
        lines += wrapped(plain(sentence.render(language)), width)
    table = _table(steps)
    return "\n".join([*lines, "", *table_lines(table, language, width)] if steps.steps else lines)


def _html(steps: Steps, language: str) -> str:
    told = [steps.sentence, *(one.sentence for one in steps.findings[1:])]
    pieces = [f"<p>{escape(plain(one.render(language)))}</p>" for one in told]
    table = answer_html(_table(steps), language) if steps.steps else ""
    return f'<div lang="{escape(language.replace("_", "-"))}">{"".join(pieces)}{table}</div>'


def _table(steps: Steps) -> AnswerTable:
    """Return a row for the first and the last steps, each with its change against the one before."""
    knows_reserved = any(one.reserved is not None for one in steps.steps)
    head = [text("step"), text("peak"), text("at its end"), text("change"), text("kept")]
    head += [text("reserved")] if knows_reserved else []
    half = MOST_STEPS // 2
    shown = list(steps.steps)
    if len(shown) > MOST_STEPS:
        shown = [*shown[:half], *shown[-half:]]
    rows = [_row(one, steps.steps, knows_reserved) for one in shown]
    left = len(steps.steps) - len(shown)
    notes = [text("… and {count} more steps", count=left)] if left else []
    title = text("Steps of {label}", label=steps.label)
    return AnswerTable(title, head, rows, notes)


def _row(one: Step, steps: Sequence[Step], knows_reserved: bool) -> list[Text]:
    before = steps[one.number - 2].end if one.number > 1 else one.end
    cells = [
        str(one.number),
        format_bytes(one.peak),
        format_bytes(one.end),
        format_change(one.end - before),
        format_bytes(one.kept),
    ]
    if knows_reserved:
        cells.append("–" if one.reserved is None else format_bytes(one.reserved))
    return [literal(cell) for cell in cells]
