"""Which layers to show where there is room for some only."""

from __future__ import annotations

import numpy as np

from memtrack.recording.tables import Array
from memtrack.reports.report import View

_WEIGHTS = ("total_at_peak", "total_saved", "total_parameters")


def heaviest_layers(view: View, most: int) -> Array:
    """Return the rows of at most `most` layers that hold the most, in the order of the tree.

    A layer never stands there without its parents: what a subtree holds is at least what any part
    of it does, and of equals the earlier row, which is the outer one, is taken.
    """
    held = sum(np.asarray(view.layers.columns[column]) for column in _WEIGHTS)
    order = np.argsort(-np.asarray(held), kind="stable")
    return np.sort(order[:most])


def holding_layers(view: View, most: int) -> Array:
    """Return the rows of `heaviest_layers` that hold anything at all."""
    rows = heaviest_layers(view, most)
    held = sum(np.asarray(view.layers.columns[column])[rows] for column in _WEIGHTS)
    return rows[np.asarray(held) > 0]
