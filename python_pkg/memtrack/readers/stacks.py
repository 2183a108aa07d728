"""A snapshot's frames as stacks of a recording, each read once, however many events share it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress, islice
from operator import itemgetter, ne
from typing import Any, NamedTuple

import numpy as np

from memtrack.recording.builder import StackBuilder
from memtrack.recording.tables import Array

Frames = Sequence[Mapping[str, Any]]


class _Alike(NamedTuple):
    """The first list of frames that had a frame (its id) at some place, and the stack of that list."""

    first: dict[int, Frames]
    row: dict[int, int]


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
        self._alike = (_Alike({}, {}), _Alike({}, {}))
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

        A snapshot has a list an event but a dictionary a frame. Each list is compared with the first
        that had the same innermost frame, then with the first that had the same one around it, which
        takes no Python code an event; what is left is looked up by all of its frames.
        """
        try:
            return self._compared(lists)
        except (TypeError, KeyError):  # something that is no list of frames is among them
            return np.array([self.stack(frames) for frames in lists], dtype=np.int32)

    def _compared(self, lists: Sequence[Frames | None]) -> Array:
        rows = np.full(len(lists), -1, dtype=np.int32)
        left = np.flatnonzero(np.fromiter(map(bool, lists), dtype=bool, count=len(lists)))
        present: Any = list(filter(None, lists))
        for frame, alike in enumerate(self._alike):
            ids = list(map(id, map(itemgetter(frame), present)))
            same = list(map(alike.first.setdefault, ids, present))
            for key in islice(alike.first, len(alike.row), None):
                alike.row[key] = self.stack(alike.first[key])
            rows[left] = np.fromiter(map(alike.row.__getitem__, ids), np.int32, len(ids))
            different = np.fromiter(map(ne, present, same), bool, len(ids))
            left, present = left[different], list(compress(present, different.tolist()))
            if not all(len(frames) > frame + 1 for frames in present):
                break
        rows[left] = [self.stack(frames) for frames in present]
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
