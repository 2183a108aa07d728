"""How entries of a trace end in a pickle: with their frames, most of which are written alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memtrack.readers.pieces import GET, LONG_GET, SIZES, place
from memtrack.recording.tables import Array


class Tails(dict[bytes, int]):
    """How entries end: lists of frames as they are written, each read once; -1 for anything else."""

    def __init__(self) -> None:
        super().__init__()
        self._after: list[tuple[int, int]] = []
        self._references: list[tuple[bool, list[int]]] = []

    def __missing__(self, tail: bytes) -> int:
        row = self[tail] = self._read(tail)
        return row

    def _read(self, tail: bytes) -> int:
        after = 2 if tail.endswith(b"ue(") else 0
        body = tail[: len(tail) - after]
        references, at = [], 2 if body[:2] == b"]\x94" else 0
        is_list = at > 0
        several = body[at : at + 1] == b"("
        at += several
        while at < len(body) and body[at] in (GET, LONG_GET):
            size = SIZES[body[at]]
            references.append(place(body[at : at + size]))
            at += size
        closing = b"e" if several else b"a" if references and is_list else b""
        if body[at:] != closing + b"u" or (not is_list and len(references) != 1):
            return -1
        self._after.append((after, int(is_list)))
        self._references.append((is_list, references))
        return len(self._after) - 1

    def columns(self) -> Array:
        """Return of each the bytes after its entry and how many things it stores; last zeros for -1."""
        return np.array([*self._after, (0, 0)], dtype=np.int64)

    def places(self) -> list[int]:
        """Return all places that are referred to, each once."""
        return list(dict.fromkeys(to for _, found in self._references for to in found))

    def lists(self, table: Sequence[Any]) -> list[Any]:
        """Return the lists of frames, given what was stored at `places()`."""
        stored = dict(zip(self.places(), table, strict=True))
        return [
            [stored[to] for to in found] if is_list else stored[found[0]]
            for is_list, found in self._references
        ]
