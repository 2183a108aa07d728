"""A snapshot's frames as stacks of a recording, each read once, however many events share it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress, islice
from operator import itemgetter, ne
from typing import Any

import numpy as np

from memtrack.recording.builder import StackBuilder
from memtrack.recording.tables import Array

Frames = Sequence[Mapping[str, Any]]
_innermost = itemgetter(0)


class FrameReader:
    """Turns a snapshot's lists of frames into stacks.

    `is_skipped` tells which files are left out, `rename` how people know a file.
    """

    def __init__(
        self, stacks: StackBuilder, is_skipped: Callable[[str], bool], rename: Callable[[str], str]
    ) -> None:
        self._stacks = stacks
        self._is_skipped = is_skipped
        self._rename = rename
        # Lists are kept with their rows, so that no id is used again while we rely on it.
        self._alike: dict[tuple[int, int], Frames] = {}
        self._row_of_list: dict[int, int] = {}
        self._row_of_frames: dict[tuple[int, ...], tuple[Frames, int]] = {}
        self._row_of_content: dict[tuple[tuple[str, str, int], ...], int] = {}

    def stack(self, frames: Frames | None) -> int:
        """Return the stack of `frames` (innermost first), -1 when none of them is kept."""
        if not frames or not isinstance(frames, list | tuple):
            return -1
        key = tuple(map(id, frames))
        known = self._row_of_frames.get(key)
        if known is None:
            known = self._row_of_frames[key] = (frames, self._read(frames))
        return known[1]

    def stacks_of(self, lists: Sequence[Frames | None]) -> Array:
        """Return the stack of each of many lists of frames, most of which are alike.

        A snapshot has a list an event but a dictionary a frame. Lists of one length with the same
        innermost frame are compared with the first of these, without Python code where they are equal.
        """
        rows = np.full(len(lists), -1, dtype=np.int32)
        is_there = np.fromiter(map(bool, lists), dtype=bool, count=len(lists))
        present: list[Any] = list(compress(lists, is_there.tolist()))
        known = len(self._alike)
        keys = zip(map(id, map(_innermost, present)), map(len, present), strict=True)
        alike = list(map(self._alike.setdefault, keys, present))
        for frames in islice(self._alike.values(), known, None):
            self._row_of_list[id(frames)] = self.stack(frames)
        found = np.fromiter(map(self._row_of_list.__getitem__, map(id, alike)), "i4", len(alike))
        different = np.fromiter(map(ne, present, alike), bool, len(alike))
        for place in np.flatnonzero(different).tolist():
            found[place] = self.stack(present[place])
        rows[is_there] = found
        return rows

    def _read(self, frames: Frames) -> int:
        content = tuple(map(_fields, frames))
        row = self._row_of_content.get(content)
        if row is None:
            row = -1
            for file, function, line in reversed(content):
                if not self._is_skipped(file):
                    frame = self._stacks.frame(self._rename(file), function, line)
                    row = self._stacks.push(row, frame)
            self._row_of_content[content] = row
        return row


def _fields(frame: Any) -> tuple[str, str, int]:
    """Return file, function and line of a frame, whatever it is."""
    if not isinstance(frame, dict):
        return "", "", 0
    line = frame.get("line", 0)
    number = line & 0x7FFFFFFF if isinstance(line, int) else 0
    return str(frame.get("filename", "")), str(frame.get("name", "")), number
