"""Lines of source in the place of layers, for a snapshot that knows no model.

A row is a line with what it holds at the peak. Its class is file and function and its size the
elements, so that a line that only moved is found again by both, as a renamed layer is.
"""

from __future__ import annotations

import re

import numpy as np

from memtrack.analysis.sites import sites
from memtrack.comparison.shapes import Tree, tree_from
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

NOWHERE = -1
_LINE = re.compile(r"^(?P<file>.*):\d+(?P<function>.*)$")


def line_tree(data: RecordingData, rows: Array) -> tuple[Tree, Array]:
    """Return the lines that made `rows` of the allocations as a tree of roots, and whose each row is.

    -1 is an allocation whose line is not known.
    """
    site, names = sites(data, data.allocations["stack"][rows])
    # Frames of one line that differ in what is not shown are one line for the reader.
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    paths = list(first)
    place = {name: row for row, name in enumerate(paths)}
    owner = np.array([*(place[name] for name in names), NOWHERE], dtype=np.int64)[site]
    held = np.zeros(len(paths) + 1, dtype=np.int64)
    np.add.at(held, owner, data.allocations["bytes"][rows])
    kinds = [_LINE.sub(r"\g<file>\g<function>", path) for path in paths]
    parents = [NOWHERE] * len(paths)
    return tree_from(paths, paths, kinds, parents, held[:-1].tolist()), owner
