"""The line of the user's code behind a stack, as people name it: `train.py:88 forward`."""

from __future__ import annotations

import re

import numpy as np

from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

_LIBRARY = re.compile(
    r"(^|/)(site|dist)-packages/(torch|memtrack)/"  # where wheels are installed
    r"|(^|/)memtrack/(capture|prediction|notebook)/"  # memtrack from its source tree
    r"|(^|/)lib/python3\.\d+/(?!(site|dist)-packages/)"  # the standard library
    r"|^<(frozen |eval_with_key)"  # importlib, and code that torch.fx generated
)
_NAMELESS = re.compile(r"<module>|<cell line: \d+>")


def site_stacks(data: RecordingData) -> Array:
    """Return for each stack the stack whose innermost frame is the user's line.

    That is the nearest frame outside torch, memtrack and the standard library, else the innermost.
    """
    stacks = np.arange(len(data.stacks))
    users = ~_is_library(data)[data.stacks["frame"]]
    parent = data.stacks["parent"]
    found = np.where(users, stacks, parent)
    while True:
        climbing = np.flatnonzero((found >= 0) & ~users[found])
        if not len(climbing):
            return np.where(found >= 0, found, stacks)
        found[climbing] = parent[found[climbing]]


def sites(data: RecordingData, stacks: Array) -> tuple[Array, list[str]]:
    """Return for each of `stacks` an index into the sites they belong to (-1: no stack), and those."""
    lines = np.append(data.stacks["frame"][site_stacks(data)], -1)
    frames = lines[stacks]
    used: Array = np.zeros(len(data.frames) + 1, dtype=bool)
    used[frames] = True
    used[-1] = False  # where -1 points to
    place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    return place[frames], [_label(data, int(frame)) for frame in np.flatnonzero(used)]


def _is_library(data: RecordingData) -> Array:
    """Return for each frame whether its file belongs to a library that the user did not write."""
    files, codes = np.unique(data.frames["file"], return_inverse=True)
    library = [bool(_LIBRARY.search(data.string(int(file)).replace("\\", "/"))) for file in files]
    return np.array(library, dtype=bool)[codes]


def _label(data: RecordingData, frame: int) -> str:
    file = data.string(int(data.frames["file"][frame]))
    function = data.string(int(data.frames["function"][frame]))
    name = file.replace("\\", "/").rsplit("/", 1)[-1]
    place = f"{name}:{int(data.frames['line'][frame])}"
    return place if _NAMELESS.fullmatch(function) or not function else f"{place} {function}"
