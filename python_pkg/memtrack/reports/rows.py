"""Which layers to show where there is room for some only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.recording.tables import Array
from memtrack.reports.report import Report, View

SHORTEST_RUN = 3
_WEIGHTS = ("total_at_peak", "total_saved", "total_parameters")


def heaviest_layers(view: View, most: int) -> Array:
    """Return the rows of at most `most` layers that hold the most, in the order of the tree.

    A layer never stands there without its parents: what a subtree holds is at least what any part
    of it does, and of equals the earlier row, which is the outer one, is taken.
    """
    order = np.argsort(-_held(view), kind="stable")
    return np.sort(order[:most])


@dataclass(frozen=True, slots=True)
class ShownLayer:
    """A line of the table: `row` of the layer table, and how many alike siblings it stands for.

    The figures of a run of alike siblings are those of each of them.
    """

    row: int
    name: str
    alike: int


def shown_layers(report: Report, view: View, most: int) -> tuple[list[ShownLayer], int]:
    """Return at most `most` lines for the layers that hold the most, in the order of the tree.

    Siblings that follow each other with the same type, size and figures, such as the blocks of a
    transformer, share one line. The number is of the layers that no line stands for.
    """
    run, hidden = _runs(report, view)
    held = _held(view)
    candidates = np.flatnonzero(~hidden & (held > 0))
    order = candidates[np.argsort(-held[candidates], kind="stable")]
    chosen = np.sort(order[:most])
    lines = [
        ShownLayer(int(row), _name(report, int(row), int(run[row])), int(run[row]))
        for row in chosen
    ]
    standing_for = _copies(report, run)[chosen].sum()
    return lines, len(held) - int(standing_for)


def _held(view: View) -> Array:
    """Return what each layer's line weighs: the bytes it shows."""
    figures = [np.asarray(view.layers.columns[column]) for column in _WEIGHTS]
    return np.asarray(np.sum(figures, axis=0))


def _name(report: Report, row: int, alike: int) -> str:
    if alike == 1:
        return report.layers.name[row]
    last = row + (alike - 1) * int(report.layers.subtree[row])
    return f"{report.layers.name[row]} … {report.layers.name[last]} ({alike}×)"


def _runs(report: Report, view: View) -> tuple[Array, Array]:
    """Return how many alike siblings each layer stands for, and which stand behind another."""
    tree, columns = report.layers, view.layers.columns
    figures = np.stack([np.asarray(columns[column]) for column in _WEIGHTS], axis=1)
    rows, subtree = len(tree.parent), np.asarray(tree.subtree)
    run, hidden = np.ones(rows, dtype=np.int64), np.zeros(rows, dtype=bool)

    def is_alike(row: int, other: int) -> bool:
        return (
            other < rows
            and tree.parent[other] == tree.parent[row]
            and subtree[other] == subtree[row]
            and tree.type[other] == tree.type[row]
            and bool((figures[other] == figures[row]).all())
        )

    for row in range(rows):
        if hidden[row]:
            continue
        size, end = int(subtree[row]), row + int(subtree[row])
        while is_alike(row, end):
            end += size
        if end - row >= SHORTEST_RUN * size:
            run[row] = (end - row) // size
            hidden[row + size : end] = True
    return run, hidden


def _copies(report: Report, run: Array) -> Array:
    """Return how many layers each line stands for: its own run times those of its parents."""
    copies = run.copy()
    for row, parent in enumerate(np.asarray(report.layers.parent).tolist()):
        if parent >= 0:
            copies[row] *= copies[parent]
    return np.asarray(copies)
