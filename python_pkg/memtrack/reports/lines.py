"""What is alive by source line: of opened snapshots, which know no layers, the main answer."""

from __future__ import annotations

import numpy as np

from memtrack.analysis import alive
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import sum_by
from memtrack.recording import Category, RecordingData
from memtrack.recording.tables import Array
from memtrack.reports.answers import LineGroups, LineReport

MOST_LINES = 200
GROUPS = 7
"""As many lines get a colour of their own; with the others they are eight areas."""
SHARE_UNKNOWN = 0.5
"""Of the peak: with more of unknown category, areas by category say nothing."""


def line_report(data: RecordingData, device: int, cut: int) -> LineReport | None:
    """Return the largest source lines at a cut; None where no line is known of anything."""
    table = data.allocations
    rows = alive(data, device, cut)
    codes, names = sites(data, table["stack"][rows])
    if not names:
        return None
    groups, size = len(names) + 1, table["bytes"][rows]
    category = table["category"][rows].astype(np.int64)
    total = sum_by(codes + 1, size, groups)
    count = np.bincount(codes + 1, minlength=groups)
    order = np.argsort(-total, kind="stable")
    order = order[count[order] > 0]
    shown, rest = order[:MOST_LINES], order[MOST_LINES:]
    pairs = sum_by((codes + 1) * len(Category) + category, size, groups * len(Category))
    main = pairs.reshape(groups, len(Category)).argmax(axis=1)
    return LineReport(
        site=[names[row - 1] if row else "" for row in shown.tolist()],
        columns={
            "bytes": total[shown],
            "allocations": count[shown],
            "category": main[shown].astype(np.uint8),
        },
        omitted=len(rest),
        omitted_bytes=int(total[rest].sum()),
    )


def grouped_lines(lines: LineReport | None, by_category: Array) -> list[str]:
    """Return the lines that the timeline is drawn by, largest at the peak first; [] for categories.

    `by_category` are the bytes at the peak by category code.
    """
    unknown = by_category[Category.UNKNOWN]
    if lines is None or unknown < SHARE_UNKNOWN * max(1, by_category.sum()):
        return []
    return [site for site in lines.site if site][:GROUPS]


def line_levels(data: RecordingData, device: int, cuts: Array, names: list[str]) -> LineGroups:
    """Return the bytes of each of `names` and of all other lines at each of the sorted `cuts`."""
    table = data.allocations
    mine = np.flatnonzero(table["device"] == device)
    codes, known = sites(data, table["stack"][mine])
    place = {name: index for index, name in enumerate(names)}
    group_of = np.array([*(place.get(name, len(names)) for name in known), len(names)])
    group = group_of[codes]
    start, end, size = (table[column][mine] for column in ("start", "end", "bytes"))
    first = np.searchsorted(cuts, start, side="right")
    after = np.searchsorted(cuts, end, side="right")
    levels = np.zeros((len(names) + 1, len(cuts) + 1), dtype=np.int64)
    np.add.at(levels, (group, first), size)
    np.subtract.at(levels, (group, after), size)
    return LineGroups(names, list(np.cumsum(levels, axis=1)[:, :-1]))
