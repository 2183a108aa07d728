"""The timeline as inline SVG: stacked categories, phases as shades, the peak pinned. No script."""

from __future__ import annotations

from html import escape

import numpy as np

from memtrack.analysis import DRAW_ORDER
from memtrack.i18n import Text, text
from memtrack.recording import PhaseKind
from memtrack.recording.tables import Array
from memtrack.reports.cells import display_width, plain, shortened
from memtrack.reports.colours import colour_of
from memtrack.reports.report import PhaseBands, Report, TimelineReport, View
from memtrack.reports.spark import columns_of
from memtrack.reports.thin import thinned_timeline
from memtrack.reports.words import literal, part_name
from memtrack.units import format_bytes

WIDTH, HEIGHT = 800, 180
_TOP = 32
"""Room above the areas: a line of phase names, below it the figure of the peak."""
BUCKETS = 150
"""Two points a bucket in steps of about 9 characters: 3 kB a category, 30 kB in all."""
_NAMES = {
    PhaseKind.FORWARD: text("forward"),
    PhaseKind.BACKWARD: text("backward"),
    PhaseKind.OPTIMIZER: text("optimizer"),
}
MOST_NAMES = 40
_CHARACTER = 6
"""About how wide a character of 11 units is."""
_SHADES = {PhaseKind.FORWARD: 0.06, PhaseKind.BACKWARD: 0.14, PhaseKind.OPTIMIZER: 0.24}


def timeline_svg(report: Report, view: View, language: str) -> str:
    """Return the picture of a view's timeline, as wide as its column and in the colours around it."""
    timeline = thinned_timeline(view.timeline, BUCKETS, 0)
    top = max(_highest(timeline), 1)
    label = escape(shortened(plain(view.headline.render(language)), 200))
    opening = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + _TOP}" role="img" aria-label="{label}" '
        'style="width:100%;max-width:800px;display:block" fill="currentColor">'
    )
    areas = "".join(_areas(timeline, top))
    lines = _reserved(timeline, top, language) + _pin(view, timeline, top)
    bands = _bands(timeline, report.phases) + _band_names(timeline, report.phases, language)
    return f"{opening}{bands}{areas}{lines}{_evidence(report, language)}</svg>"


def _evidence(report: Report, language: str) -> str:
    """Return a word in the corner, so that a picture alone is not taken for a measurement."""
    if report.evidence != "predicted":
        return ""
    word = escape(text("predicted").render(language))
    return f'<text x="{WIDTH - 4}" y="{_TOP - 6}" font-size="11" text-anchor="end">{word}</text>'


def _highest(timeline: TimelineReport) -> int:
    reserved = timeline.points.get("reserved", timeline.points["allocated"])
    return max(int(timeline.points["allocated"].max()), int(reserved.max()))


def _x(timeline: TimelineReport, cuts: Array) -> Array:
    """Return where the cuts stand, in the picture's units from its left edge."""
    return columns_of(timeline, cuts, WIDTH)


def _steps(x: Array, y: Array) -> str:
    """Return a line that goes to each x at the height before and there to the new one."""
    moved = np.flatnonzero((np.diff(x, prepend=-1) != 0) | (np.diff(y, prepend=-1) != 0))
    return "".join(f"H{int(x[point])}V{int(y[point])}" for point in moved)


def _areas(timeline: TimelineReport, top: int) -> list[str]:
    """Return the categories from the uppermost to the lowest, each drawn down to the ground."""
    stack = stacked(timeline)
    x = _x(timeline, timeline.points["cut"])
    ground = HEIGHT + _TOP
    level = np.cumsum([column for _, _, column in stack], axis=0)
    areas = []
    for (name, _, _), height in reversed(list(zip(stack, level, strict=True))):
        y = np.round(ground - height / top * HEIGHT).astype(np.int64)
        path = f"M{x[0]} {ground}V{y[0]}{_steps(x, y)}H{WIDTH}V{ground}z"
        areas.append(f'<path d="{path}" style="fill:{colour_of(name)}"/>')
    return areas


def stacked(timeline: TimelineReport) -> list[tuple[str, Text, Array]]:
    """Return the areas from the lowest: the id of each colour, its name, its bytes at each point.

    They are categories, or source lines where most has no category.
    """
    groups = timeline.groups
    if groups is None:
        return [
            (category.id, part_name(category.id), timeline.categories[category.id])
            for category in DRAW_ORDER
            if category.id in timeline.categories
        ]
    ids = [f"group-{number + 1}" for number in range(len(groups.names))]
    names = [literal(name) for name in groups.names]
    areas = zip([*ids, "group-rest"], [*names, text("other lines")], groups.bytes, strict=True)
    return [area for area in areas if area[2].any()]


def _edges(timeline: TimelineReport, bands: PhaseBands) -> tuple[Array, Array]:
    """Return the left and right edge of each phase in the picture."""
    first, last = timeline.points["cut"][[0, -1]]
    start, end = (np.clip(bands.columns[name], first, last) for name in ("start", "end"))
    return _x(timeline, start), _x(timeline, end)


def _band_names(timeline: TimelineReport, bands: PhaseBands, language: str) -> str:
    """Return the names of the phases that are wide enough to hold theirs."""
    left, right = _edges(timeline, bands)
    names: list[str] = []
    for row in np.flatnonzero(np.isin(bands.columns["kind"], list(_SHADES))):
        name = _NAMES[PhaseKind(bands.columns["kind"][row])].render(language)
        width = right[row] - left[row]
        if width >= display_width(name) * _CHARACTER + 6 and len(names) < MOST_NAMES:
            middle = (left[row] + right[row]) / 2
            names.append(f'<text x="{middle:.0f}" y="12">{escape(name)}</text>')
    return f'<g font-size="11" text-anchor="middle" opacity=".8">{"".join(names)}</g>'


def _bands(timeline: TimelineReport, bands: PhaseBands) -> str:
    columns = bands.columns
    left, right = _edges(timeline, bands)
    shades = []
    for kind, opacity in _SHADES.items():
        shown = np.flatnonzero((columns["kind"] == kind) & (right > left))
        path = "".join(f"M{left[row]} 0H{right[row]}V{_TOP + HEIGHT}H{left[row]}z" for row in shown)
        shades.append(f'<path d="{path}" fill-opacity="{opacity}"/>')
    return "".join(shades)


def _reserved(timeline: TimelineReport, top: int, language: str) -> str:
    if "reserved" not in timeline.points:
        return ""
    x = _x(timeline, timeline.points["cut"])
    height = timeline.points["reserved"] / top * HEIGHT
    y = np.round(HEIGHT + _TOP - height).astype(np.int64)
    title = escape(text("reserved").render(language))
    line = f'<path d="M{x[0]} {y[0]}{_steps(x, y)}H{WIDTH}" fill="none" stroke="currentColor"'
    return f'{line} stroke-dasharray="4 3"><title>{title}</title></path>'


def _pin(view: View, timeline: TimelineReport, top: int) -> str:
    cut = timeline.points["cut"][timeline.peak_point : timeline.peak_point + 1]
    x = int(_x(timeline, cut)[0])
    y = round(HEIGHT + _TOP - view.peak.bytes / top * HEIGHT)
    anchor, shift = ("end", -6) if x > WIDTH / 2 else ("start", 6)
    figure = escape(format_bytes(view.peak.bytes))
    return (
        f'<path d="M{x} {HEIGHT + _TOP}V{y}" stroke="currentColor"/>'
        f'<circle cx="{x}" cy="{y}" r="3.5"/>'
        f'<text x="{x + shift}" y="{max(y, _TOP) - 4}" text-anchor="{anchor}" font-size="13">'
        f"{figure}</text>"
    )
