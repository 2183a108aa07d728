"""What holds for every comparison of two recordings, against the recordings themselves."""

import numpy as np

from memtrack.analysis import layer_table, peak
from memtrack.analysis.totals import by_category


def check(found, a, b):
    """Assert every identity of a comparison against the two recordings."""
    peaks = peak(a, 0), peak(b, 0)
    assert found.peak_change == peaks[1].bytes - peaks[0].bytes
    assert sum(one.change for one in found.parts) == found.peak_change
    assert sum(one.before for one in found.parts) == peaks[0].bytes
    assert sum(one.change for one in found.movers) == found.peak_change
    for one in found.movers:
        if one.layers == 1:
            assert one.change == sum(inside(found, one.category, one.where))
    for side, data, at in (("a", a, peaks[0]), ("b", b, peaks[1])):
        rows = [getattr(row, side) for row in found.rows]
        assert sorted(row for row in rows if row >= 0) == list(range(len(data.layers)))
        table = layer_table(data, 0)
        for column, both in found.columns.items():
            mine = both[side == "b"]
            truth = np.append(np.asarray(table.columns[column], dtype=np.int64), -1)[rows]
            assert mine.tolist() == truth.tolist()
        totals = by_category(data, 0, np.array([at.cut]))[0]
        assert (
            sum(pair[side == "b"] for pair in found.categories.values()) == totals.sum() == at.bytes
        )
    for index, row in enumerate(found.rows):
        assert row.parent < index and row.depth == (
            found.rows[row.parent].depth + 1 if row.parent >= 0 else 0
        )


def inside(found, category, where):
    """Yield the changes of one category in the layer at a path and beneath it."""
    for part in found.parts:
        tree, row = (found.b.tree, part.b) if part.b >= 0 else (found.a.tree, part.a)
        path = tree.path[row] if row >= 0 else ""
        if part.category == category and f"{path}.".startswith(f"{where}."):
            yield part.change
