"""The entries that look like an ordinary one, read all at once from the bytes of a pickle.

Comes in: where dictionaries may begin, and what an ordinary entry looks like. Goes out: columns of
those that look so, byte by byte, and the pickle without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.readers.pieces import (
    GET,
    HEADER,
    INT1,
    INT2,
    INT4,
    LONG1,
    LONG_GET,
    MEMOIZE,
    SIZES,
    TEXT,
    table_of,
    without,
)
from memtrack.readers.tails import Tails
from memtrack.recording.tables import Array

CUT = ("alloc", "free_requested", "free_completed")
"""Actions that are cut out. Others are few, and their frames may be shared with what follows them."""
NUMBERS = ("addr", "size", "stream", "time_us")
_LANES = 1 << 14
"""Entries read at once: their columns fit a processor's cache."""
_STEP = np.zeros(256, dtype=np.int64)
_MASK = np.zeros(256, dtype=np.uint64)
for _opcode, _size in SIZES.items():
    _STEP[_opcode] = _size
    _MASK[_opcode] = (1 << 8 * (_size - 1)) - 1
_IS_NUMBER = np.zeros(256, dtype=bool)
_IS_NUMBER[[INT1, INT2, INT4]] = True
_EIGHT = np.uint64(8)
_BYTE = np.uint64(0xFF)


class Unexpected(Exception):
    """The pickle is not of the kind that is read here; it may be fine."""


@dataclass(frozen=True, slots=True)
class Run:
    """Entries as columns, in order.

    `action` is an index into `CUT`; `frame` one into `frames`, the lists of frames of all entries, -1
    for frees, whose frames are not read.
    """

    action: Array
    addr: Array
    size: Array
    stream: Array
    time_us: Array
    frame: Array
    frames: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Fields:
    """What the fields of ordinary entries are called and how these names are written, in order.

    `actions` are the places of the actions that are cut out, by their index in `CUT`.
    """

    names: Sequence[str]
    keys: Sequence[bytes]
    actions: Mapping[int, int]


class Entries:
    """The entries that look like the ordinary one, their columns and how they are cut out."""

    def __init__(self, pickled: bytes, starts: Array, fields: Fields) -> None:
        self._pickled = pickled
        self._fields = fields
        # Eight bytes from any place on, as one number. An entry near the end is not an ordinary one.
        self._words: Array = np.ndarray(len(pickled) - 7, "<u8", pickled, 0, (1,))
        self._last = len(pickled) - 8
        starts = starts[starts < self._last - 8]
        self._tails = Tails()
        names = ("ok", "start", "end", "stored", "action", "frame", *NUMBERS)
        nexts = np.append(starts[1:], len(pickled))
        parts = [
            self._read(starts[at : at + _LANES], nexts[at : at + _LANES])
            for at in range(0, len(starts), _LANES)
        ]
        if not parts:
            raise Unexpected
        self._columns = {name: np.concatenate([part[name] for part in parts]) for name in names}

    def _read(self, start: Array, following: Array) -> dict[str, Array]:
        at = start + 3
        ok = np.ones(len(at), dtype=bool)
        stored = np.ones(len(at), dtype=np.int64)
        columns = {}
        for name, key in zip(self._fields.names, self._fields.keys, strict=True):
            mask = np.uint64((1 << 8 * len(key)) - 1)
            ok &= (self._words[at] & mask) == np.uint64(int.from_bytes(key, "little"))
            at = np.minimum(at + len(key), self._last)
            if name == "frames":
                break
            number, step, is_number = self._value(at, stored)
            if name == "action":
                action = np.full(len(at), -1, dtype=np.int8)
                for place, code in self._fields.actions.items():
                    action[~is_number & (number == np.uint64(place))] = code
                ok &= action >= 0
            elif name in NUMBERS:
                columns[name] = number
                ok &= is_number
            ok &= step > 0
            at = np.minimum(at + step, self._last)
        frame, end = self._read_tails(at, following, action, ok, stored)
        return {
            **columns,
            "ok": ok,
            "start": start,
            "end": end,
            "stored": stored,
            "action": action,
            "frame": frame,
        }

    def _value(self, at: Array, stored: Array) -> tuple[Array, Array, Array]:
        """Return the number or place that a value is, its bytes (0: unknown), whether it is a number."""
        word = self._words[at]
        opcode = (word & _BYTE).astype(np.uint8)
        number = (word >> _EIGHT) & _MASK[opcode]
        step = _STEP[opcode]
        is_number = _IS_NUMBER[opcode]
        step[(opcode == INT4) & (number >= np.uint64(1 << 31))] = 0
        self._long_values(at, word, opcode == LONG1, (number, step, is_number))
        self._texts(at, word, opcode == TEXT, step, stored)
        pair = (word & np.uint64(0xFFFF00FF00FF)) == np.uint64(0x94_86_00_4B_00_4B)
        step[pair] = 6
        is_number[pair] = False
        stored[pair] += 1
        return number, step, is_number

    def _long_values(
        self, at: Array, word: Array, chosen: Array, value: tuple[Array, Array, Array]
    ) -> None:
        """Fill in numbers of up to eight bytes that are not below 0."""
        rows = _rows(chosen)
        if rows is None:
            return
        number, step, is_number = value
        size = (word[rows] >> _EIGHT) & _BYTE
        bits = (_EIGHT - np.clip(size, 1, 8).astype(np.uint64)) * _EIGHT
        # The highest byte comes to the top, which shifts out what follows the number.
        top = self._words[np.minimum(at[rows] + 2, self._last)] << bits
        number[rows] = top >> bits
        sound = (size >= 1) & (size <= 8) & (top >> np.uint64(63) == 0)
        step[rows] = np.where(sound, size.astype(np.int64) + 2, 0)
        is_number[rows] = True

    def _texts(self, at: Array, word: Array, chosen: Array, step: Array, stored: Array) -> None:
        """Step over short texts that are written out, and stored."""
        rows = _rows(chosen)
        if rows is None:
            return
        size = ((word[rows] >> _EIGHT) & _BYTE).astype(np.int64) + 2
        after = self._words[np.minimum(at[rows] + size, self._last)]
        step[rows] = np.where(after & _BYTE == MEMOIZE, size + 1, 0)
        stored[rows] += 1

    def _read_tails(
        self, at: Array, following: Array, action: Array, ok: Array, stored: Array
    ) -> tuple[Array, Array]:
        """Return which list of frames ends each entry, and where the entry ends."""
        word = self._words[at]
        opcode = (word & _BYTE).astype(np.uint8)
        size = np.where(opcode == GET, 2, 5)
        shared = ok & (action != 0) & ((opcode == GET) | (opcode == LONG_GET))
        shared &= (self._words[np.minimum(at + size, self._last)] & _BYTE) == ord("u")
        end = at + size + 1
        frame = np.full(len(at), -1, dtype=np.int64)
        rows = np.flatnonzero(ok & ~shared)
        slices = map(slice, at[rows].tolist(), following[rows].tolist())
        texts = map(self._pickled.__getitem__, slices)
        tail = np.fromiter(map(self._tails.__getitem__, texts), np.int64, len(rows))
        known = self._tails.columns()
        ok[rows] = tail >= 0
        end[rows] = following[rows] - known[tail, 0]
        stored[rows] += known[tail, 1]
        frame[rows] = np.where(action[rows] == 0, tail, -1)
        return frame, end

    def cut_out(self, headers: Sequence[int]) -> tuple[bytes, Array]:
        """Return the pickle without the entries, and at which of these each run ends.

        In place of a run is its number, stored as often as the run stored something, so that what
        follows finds its places as before. Last comes the table of all that frames refer to.
        """
        ok = self._columns.pop("ok")
        self._columns = {name: values[ok] for name, values in self._columns.items()}
        start, end = self._columns["start"], self._columns["end"]
        if not len(start):
            raise Unexpected
        last = np.flatnonzero(np.append(end[:-1] != start[1:], True))
        first = np.concatenate(([0], last[:-1] + 1))
        total = np.concatenate(([0], np.cumsum(self._columns["stored"])))
        stored = total[last + 1] - total[first]
        spans = [
            (begin, stop, b"J" + number.to_bytes(4, "little") + b"\x94" * count)
            for number, (begin, stop, count) in enumerate(
                zip(start[first].tolist(), end[last].tolist(), stored.tolist(), strict=True)
            )
        ]
        spans += [(at, at + HEADER, b"") for at in headers]
        rest = without(self._pickled, sorted(spans), len(self._pickled) - 1)
        return rest + table_of(self._tails.places()) + b"\x86.", last + 1

    def columns(self, table: Sequence[Any]) -> Run:
        """Return what was cut out, given what `cut_out` has asked for."""
        columns, told = self._columns, self._tails.lists(table)
        frames: list[Any] = [None] * len(told)  # those of frees are not needed
        for row in np.unique(columns["frame"][columns["frame"] >= 0]).tolist():
            frames[row] = told[row]
            if not isinstance(told[row], list):
                raise Unexpected  # the list itself was cut out
        names = ("action", *NUMBERS, "frame")
        return Run(**{name: columns[name] for name in names}, frames=frames)


def _rows(chosen: Array) -> Any:
    """Return an index of the chosen rows, the quick one where it is all of them; None for none."""
    if chosen.all():
        return slice(None)
    return np.flatnonzero(chosen) if chosen.any() else None
