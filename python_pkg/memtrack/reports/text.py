"""A report for a terminal: plain text within a given number of columns."""

from __future__ import annotations

import numpy as np

from memtrack.analysis import DRAW_ORDER
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.cells import left, plain, right, shortened, wrapped
from memtrack.reports.layertext import layer_lines
from memtrack.reports.report import LedgerPart, LedgerReport, Report, View
from memtrack.reports.spark import columns_of, phase_line, sparkline
from memtrack.reports.status import device_line, run_line, state_sentences
from memtrack.reports.words import part_name
from memtrack.units import format_bytes, format_percent

WIDTH = 80
NARROWEST = 60
ROWS = 20
DWARFED = 0.05
"""Of the device: with less, the shares of the tensors of it say nothing."""
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
    for line in (run_line(report), device_line(view.device)):
        lines += ["", shortened(plain(line.render(language)), width)]
    lines += _ledger(view.ledger, language, width)
    lines += _timeline(report, view, language, width)
    return [*lines, *layer_lines(report, view, language, width, rows), ""]


def _short_view(report: Report, view: View, language: str, width: int, rows: int) -> list[str]:
    del report, rows
    device = shortened(plain(device_line(view.device).render(language)), width)
    return [device, *_sentence(view.headline, language, width, mark=_INDENT), ""]


def _sentence(sentence: Text, language: str, width: int, mark: str = "") -> list[str]:
    return wrapped(mark + plain(sentence.render(language)), width, " " * len(mark))


def _ledger(ledger: LedgerReport, language: str, width: int) -> list[str]:
    """Return a line a part: name, bytes, share and a bar. `~` stands before estimates.

    Where the device dwarfs the tensors, each of theirs ends with its share of them instead of a bar.
    """
    names = [part_name(part.id).render(language) for part in ledger.parts]
    bar = width - 44
    dwarfed = ledger.allocated < DWARFED * ledger.total

    def end(part: LedgerPart) -> str:
        if not dwarfed or part.id not in _CATEGORY_IDS:
            return _bar(part.bytes, ledger.total, bar)
        share = right(format_percent(part.bytes, ledger.allocated), 5)
        return f"{share} {text('of the tensors').render(language)}"

    return [
        f"{_INDENT}{left(shortened(name, 20), 20)} {right(_figure(part), 10)} "
        f"{right(format_percent(part.bytes, ledger.total), 5)}  {end(part)}"
        for name, part in zip(names, ledger.parts, strict=True)
    ]


def _figure(part: LedgerPart) -> str:
    mark = "~" if part.certainty == "estimated" else ""
    return mark + format_bytes(part.bytes)


def _bar(size: int, total: int, width: int) -> str:
    eighths = max(1, round(8 * width * size / total)) if size else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")


def _timeline(report: Report, view: View, language: str, width: int) -> list[str]:
    timeline = view.timeline
    if timeline.cuts == 0:
        return []
    columns = width - len(_INDENT)
    peak_cut = timeline.points["cut"][timeline.peak_point]
    column = int(columns_of(timeline, np.array([peak_cut]), columns)[0])
    figure = format_bytes(view.peak.bytes)
    pin = f"▲ {figure}" if column + len(figure) + 2 <= columns else f"{figure} ▲"
    start = column if pin.startswith("▲") else column + 1 - len(pin)
    title = text("Over the run, from event to event (f forward, b backward, o optimizer)")
    return [
        "",
        *_sentence(title, language, width),
        _INDENT + sparkline(timeline, columns),
        _INDENT + " " * start + pin,
        _INDENT + phase_line(timeline, report.phases, columns),
    ]
