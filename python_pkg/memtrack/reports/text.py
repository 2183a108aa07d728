"""A report for a terminal: plain text within a given number of columns."""

from __future__ import annotations

import numpy as np

from memtrack.analysis import DRAW_ORDER
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.answertext import answer_lines, growth_lines
from memtrack.reports.cells import display_width, left, plain, right, shortened, wrapped
from memtrack.reports.layertext import layer_lines
from memtrack.reports.report import LedgerPart, LedgerReport, Report, View
from memtrack.reports.spark import columns_of, phase_line, sparkline
from memtrack.reports.status import headed_device_line, run_line, state_sentences
from memtrack.reports.words import part_name
from memtrack.units import format_bytes, format_percent

WIDTH = 80
NARROWEST = 60
ROWS = 20
DWARFED = 0.05
"""Of the device: with less, the shares of the tensors of it say nothing."""
TELLING = 0.05
"""Of the device (or what is reserved): a part with more of it is told in its details."""
_NAME, _LONGEST_NAME = 20, 32
_INDENT = "  "
_CATEGORY_IDS = frozenset(category.id for category in DRAW_ORDER)
_EIGHTHS = "▏▎▍▌▋▊▉█"


def render_text(
    report: Report, language: str = ENGLISH, width: int = WIDTH, rows: int = ROWS
) -> str:
    """Return the report as text of at most `width` columns (60 at least), with at most `rows` layers.

    The device with the most at stake is shown whole, the others with their headline.
    """
    width = max(width, NARROWEST)
    lines = []
    for number, view in enumerate(report.views):
        make = _whole_view if number == 0 else _short_view
        lines += make(report, view, language, width, rows)
    if not report.views:
        lines += _sentence(text("No memory was seen on any device"), language, width)
    for notice in (*state_sentences(report), *report.notices):
        lines += _sentence(notice, language, width, mark="! ")
    return "\n".join(lines).rstrip("\n")


def _whole_view(report: Report, view: View, language: str, width: int, rows: int) -> list[str]:
    lines = _sentence(view.headline, language, width)
    for detail in view.details:
        lines += _sentence(detail, language, width, mark=_INDENT)
    lines += growth_lines(view, language, width)
    for line in (run_line(report), headed_device_line(report, view.device)):
        lines += ["", shortened(plain(line.render(language)), width)]
    lines += _ledger(view.ledger, language, width)
    lines += _timeline(report, view, language, width)
    lines += layer_lines(report, view, language, width, rows)
    return [*lines, *answer_lines(report, view, language, width), ""]


def _short_view(report: Report, view: View, language: str, width: int, rows: int) -> list[str]:
    del rows
    device = shortened(plain(headed_device_line(report, view.device).render(language)), width)
    return [device, *_sentence(view.headline, language, width, mark=_INDENT), ""]


def _sentence(sentence: Text, language: str, width: int, mark: str = "") -> list[str]:
    return wrapped(mark + plain(sentence.render(language)), width, " " * len(mark))


def _ledger(ledger: LedgerReport, language: str, width: int) -> list[str]:
    """Return a line a part: name, bytes, share and a bar. `~` stands before estimates.

    Where the device dwarfs the tensors, each of theirs ends with its share of them instead of a bar.
    """
    names = [part_name(part.id).render(language) for part in ledger.parts]
    most = max(map(display_width, names), default=0)
    column = min(max(most, _NAME), _LONGEST_NAME)
    bar = width - 24 - column
    dwarfed = ledger.allocated < DWARFED * ledger.total

    def end(part: LedgerPart) -> str:
        if not dwarfed or part.id not in _CATEGORY_IDS:
            return _bar(part.bytes, ledger.total, bar)
        share = right(format_percent(part.bytes, ledger.allocated), 5)
        return text("{share} of the tensors", share=share).render(language)

    def line(part: LedgerPart, indent: str, after: str) -> str:
        room = column - len(indent)
        name = left(indent + shortened(part_name(part.id).render(language), room), column)
        share = right(format_percent(part.bytes, ledger.total), 5)
        return f"{_INDENT}{name} {right(_figure(part), 10)} {share}  {after}".rstrip()

    lines = []
    for part in ledger.parts:
        lines.append(line(part, "", end(part)))
        if len(part.details) > 1 and part.bytes >= TELLING * ledger.total:
            lines += [line(detail, _INDENT, "") for detail in part.details]
    return lines


def _figure(part: LedgerPart) -> str:
    mark = "~" if part.certainty == "estimated" else ""
    return mark + format_bytes(part.bytes)


def _bar(size: int, total: int, width: int) -> str:
    eighths = max(1, round(8 * width * size / total)) if size else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")


def _timeline(report: Report, view: View, language: str, width: int) -> list[str]:
    timeline = view.timeline
    if timeline.cuts == 0 or view.peak.bytes == 0:
        return []
    columns = width - len(_INDENT)
    peak_cut = timeline.points["cut"][timeline.peak_point]
    column = int(columns_of(timeline, np.array([peak_cut]), columns)[0])
    figure = format_bytes(view.peak.bytes)
    pin = f"▲ {figure}" if column + len(figure) + 2 <= columns else f"{figure} ▲"
    start = column if pin.startswith("▲") else column + 1 - len(pin)
    lines = [_INDENT + sparkline(timeline, columns), _INDENT + " " * start + pin]
    title = _title_of_timeline(report)
    if report.steps == 0:
        return ["", *_sentence(title, language, width), *lines]
    phases = _INDENT + phase_line(timeline, report.phases, columns)
    return ["", *_sentence(title, language, width), *lines, phases]


def _title_of_timeline(report: Report) -> Text:
    if report.steps == 0:
        return text("Over the run, from event to event")
    if report.evidence == "predicted":
        return text("Predicted, from event to event (f forward, b backward, o optimizer)")
    return text("Over the run, from event to event (f forward, b backward, o optimizer)")
