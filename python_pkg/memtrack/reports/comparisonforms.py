"""A comparison as text and as static HTML: the answer first, then its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from memtrack.comparison import RunView
from memtrack.comparison.axis import Line
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.answerhtml import answer_html
from memtrack.reports.answertext import table_lines
from memtrack.reports.cells import plain, shortened, wrapped
from memtrack.reports.comparisontables import comparison_tables
from memtrack.reports.words import joined, literal
from memtrack.units import format_bytes, format_duration

if TYPE_CHECKING:
    from memtrack.reports.comparison import Diff

WIDTH, NARROWEST = 80, 60
_PICTURE = (800, 160)
_LONGEST = 400
_COLOURS = ("currentColor", "#d55e00")
"""Before in the colour of the page, after in one that colour-blind readers tell from it."""


def render_comparison(diff: Diff, language: str = ENGLISH, width: int = WIDTH) -> str:
    """Return a comparison as text of at most `width` columns (60 at least)."""
    width = max(width, NARROWEST)
    lines = wrapped(plain(diff.sentence.render(language)), width)
    for detail in diff.details:
        lines += wrapped("  " + plain(detail.render(language)), width, "  ")
    lines += ["", *(shortened(plain(one.render(language)), width) for one in sides(diff))]
    for table in comparison_tables(diff.found):
        lines += ["", *table_lines(table, language, width)]
    return "\n".join(lines)


def comparison_html(diff: Diff, language: str = ENGLISH) -> str:
    """Return a comparison as one HTML element, without script or style sheet."""
    pieces = [f'<div lang="{escape(language.replace("_", "-"))}">']
    pieces.append(_paragraph(diff.sentence, language, "bold"))
    pieces += [_paragraph(one, language) for one in diff.details]
    pieces += [_paragraph(one, language) for one in sides(diff)]
    pieces.append(_picture(diff, language))
    pieces += [answer_html(table, language) for table in comparison_tables(diff.found)]
    return "".join([*pieces, "</div>"])


def sides(diff: Diff) -> Sequence[Text]:
    """Return the lines that say what is compared with what."""
    a, b = diff.found.a, diff.found.b
    before = text("before: {run}", run=_named(a, diff.runs[0], diff.names[0]))
    return before, text("after: {run}", run=_named(b, diff.runs[1], diff.names[1]))


def _named(view: RunView, run: int | None, name: str) -> Text:
    return joined(list(_facts(view, run, name)))


def _facts(view: RunView, run: int | None, name: str) -> Iterator[Text]:
    if run is not None:
        yield text("run {number}", number=run)
    if name:
        yield literal(name)
    if view.label != name:
        yield literal(view.label)
    if view.evidence == "predicted":
        yield text("predicted")
    yield literal(format_bytes(view.peak.bytes))
    if view.step_ns and view.evidence != "predicted":
        yield text("{duration} a step", duration=format_duration(view.step_ns))
    yield literal(view.device)
    yield literal(view.started[:16].replace("T", " "))


def _paragraph(sentence: Text, language: str, weight: str = "normal") -> str:
    told = escape(shortened(plain(sentence.render(language)), _LONGEST))
    return f'<p style="margin:.3em 0;font-weight:{weight}">{told}</p>'


def _picture(diff: Diff, language: str) -> str:
    """Return both timelines over their steps as one picture, the later one in colour."""
    width, height = _PICTURE
    lines = [diff.found.a.line, diff.found.b.line]
    last = max((float(line.step[-1]) for line in lines if len(line.step)), default=0.0)
    top = max((int(line.allocated.max()) for line in lines if len(line.step)), default=0)
    if not last or not top:
        return ""
    label = escape(shortened(plain(diff.sentence.render(language)), 200))
    paths = [
        f'<path d="{_path(line, last, top)}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        for line, colour in zip(lines, _COLOURS, strict=True)
        if len(line.step)
    ]
    names = [
        f'<text x="{4 + 90 * number}" y="12" font-size="11" fill="{colour}">'
        f"{escape(name.render(language))}</text>"
        for number, (name, colour) in enumerate(
            zip((text("before"), text("after")), _COLOURS, strict=True)
        )
    ]
    opening = (
        f'<svg viewBox="0 0 {width} {height + 20}" role="img" aria-label="{label}" '
        'style="width:100%;max-width:800px;display:block">'
    )
    return f"{opening}{''.join(names)}{''.join(paths)}</svg>"


def _path(line: Line, last: float, top: int) -> str:
    width, height = _PICTURE
    x = np.round(line.step / last * width).astype(np.int64)
    y = np.round(20 + height - line.allocated / top * height).astype(np.int64)
    moved = np.flatnonzero((np.diff(x, prepend=-1) != 0) | (np.diff(y, prepend=-1) != 0))
    return f"M{x[0]} {y[0]}" + "".join(f"H{x[point]}V{y[point]}" for point in moved.tolist())
