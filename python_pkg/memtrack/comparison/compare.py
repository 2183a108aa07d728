"""Two runs compared: peaks, what moved them, layer by layer, and what was different around them.

Exact: the changes of `parts` sum to the change of the peak, those of the additive columns of a layer's
children and its own to the layer's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.comparison.matching import LayerMatches, match_trees
from memtrack.comparison.peaks import Mover, PeakPart, movers, peak_parts
from memtrack.comparison.rows import MergedRow, merged_rows
from memtrack.comparison.settings import SettingChange, setting_changes
from memtrack.comparison.view import COLUMNS, RunView, view_of
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from A to B.

    `columns` are (before, after) for each merged row, -1 where the layer is not there; `categories` the
    bytes at both peaks. `former_path` is the path in A, "" for a layer that was added.
    """

    a: RunView
    b: RunView
    matches: LayerMatches
    rows: Sequence[MergedRow]
    path: Sequence[str]
    former_path: Sequence[str]
    type: Sequence[str]
    columns: Mapping[str, tuple[Array, Array]]
    categories: Mapping[str, tuple[int, int]]
    parts: Sequence[PeakPart]
    movers: Sequence[Mover]
    settings: Sequence[SettingChange]

    @property
    def peak_change(self) -> int:
        """Return the bytes by which the peak of allocated memory changed."""
        return self.b.peak.bytes - self.a.peak.bytes


def compare(a: RecordingData | RunView, b: RecordingData | RunView) -> Comparison:
    """Return what changed from run `a` to run `b`; of a recording the device with most at stake counts."""
    a = a if isinstance(a, RunView) else view_of(a)
    b = b if isinstance(b, RunView) else view_of(b)
    matches = match_trees(a.tree, b.tree)
    rows = merged_rows(a.tree, b.tree, matches)
    parts = peak_parts(a, b, matches)
    return Comparison(
        a=a,
        b=b,
        matches=matches,
        rows=rows,
        path=[b.tree.path[row.b] if row.b >= 0 else a.tree.path[row.a] for row in rows],
        former_path=[a.tree.path[row.a] if row.a >= 0 else "" for row in rows],
        type=[b.tree.type[row.b] if row.b >= 0 else a.tree.type[row.a] for row in rows],
        columns=_columns(rows, a, b),
        categories=_categories(a.categories, b.categories),
        parts=parts,
        movers=movers(parts, a.tree, b.tree),
        settings=setting_changes(a.settings, b.settings),
    )


def _columns(
    rows: Sequence[MergedRow], a: RunView, b: RunView
) -> Mapping[str, tuple[Array, Array]]:
    mine = np.array([row.a for row in rows], dtype=np.int64)
    theirs = np.array([row.b for row in rows], dtype=np.int64)
    return {
        column: (np.append(a.columns[column], -1)[mine], np.append(b.columns[column], -1)[theirs])
        for column in COLUMNS
    }


def _categories(
    before: Mapping[str, int], after: Mapping[str, int]
) -> Mapping[str, tuple[int, int]]:
    names = [*before, *(name for name in after if name not in before)]
    return {name: (before.get(name, 0), after.get(name, 0)) for name in names}
