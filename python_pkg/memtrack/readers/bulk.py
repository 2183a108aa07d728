"""The entries of a long trace straight from the bytes of its pickle, as columns.

A million events are a million dictionaries that look alike: the same fields in the same order, each
field's name and most values a reference to what came before. Loading them takes most of the time and
memory of opening a file, so they are read here, all at once, and cut out; what is left is loaded as
usual, with a `Run` in the place of each stretch that was cut out. An entry that does not look like the
others, byte by byte, is left in. Where anything is unexpected the whole file is loaded as usual.

Opcodes are those of protocol 4 (PEP 3154), as `pickle.dump` writes them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from memtrack.recording.tables import Array

Load = Callable[[io.BytesIO], Any]

CUT = ("alloc", "free_requested", "free_completed")
"""Actions that are cut out. Others are few, and their frames may be shared with what follows them."""
_SAMPLE = 2000
_BLOCK = 1 << 22
_LANES = 1 << 14
_FRAME, _STOP, _MEMOIZE = 0x95, ord("."), 0x94
_HEADER = 9
"""Bytes of a FRAME: its opcode and how long it is."""
_GET, _LONG_GET = ord("h"), ord("j")
_INT1, _INT4, _LONG1, _TEXT, _PAIR = ord("K"), ord("J"), 0x8A, 0x8C, 0x86
_NUMBERS = ("addr", "size", "stream", "time_us")
_SIZES = {_GET: 2, _LONG_GET: 5, _INT1: 2, ord("M"): 3, _INT4: 5, ord("N"): 1}
_STEP = np.zeros(256, dtype=np.int64)
_MASK = np.zeros(256, dtype=np.uint64)
for _opcode, _size in _SIZES.items():
    _STEP[_opcode] = _size
    _MASK[_opcode] = (1 << 8 * (_size - 1)) - 1
_IS_NUMBER = np.zeros(256, dtype=bool)
_IS_NUMBER[[_INT1, ord("M"), _INT4]] = True
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
class MixedTrace:
    """A trace of entries that were cut out and others: `before` each of these come so many of those."""

    cut: Run
    others: Sequence[Any]
    before: Sequence[int]

    def __len__(self) -> int:
        return len(self.cut.action) + len(self.others)


def load_in_bulk(pickled: bytes, load: Load) -> Any:
    """Return what is pickled, each trace of a snapshot as a `MixedTrace`.

    `load` is the unpickler. Raises Unexpected, or what damage makes the unpickler raise.
    """
    headers = _frame_headers(pickled)
    starts = _dictionaries(pickled)
    entries = _Entries(pickled, starts, _fields(pickled, headers, starts, load))
    rest, ends = entries.cut_out(headers)
    loaded, table = load(io.BytesIO(rest))
    return _with_traces(loaded, entries.columns(table), np.concatenate(([0], ends)).tolist())


def _frame_headers(pickled: bytes) -> list[int]:
    """Return where the headers of frames stand; how a pickle is cut into frames tells nothing."""
    if pickled[:2] not in (b"\x80\x04", b"\x80\x05") or pickled[-1] != _STOP:
        raise Unexpected
    headers, at = [], 2
    while at < len(pickled):
        if pickled[at] != _FRAME:
            raise Unexpected
        headers.append(at)
        at += _HEADER + int.from_bytes(pickled[at + 1 : at + _HEADER], "little")
    return headers


def _dictionaries(pickled: bytes) -> Array:
    """Return where a dictionary of several items may begin: EMPTY_DICT, MEMOIZE, MARK."""
    code = np.frombuffer(pickled, dtype=np.uint8)
    found = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(code) - 3, _BLOCK):
        block = code[start : min(start + _BLOCK, len(code) - 3)]
        at = np.flatnonzero(block == ord("}")) + start
        found.append(at[(code[at + 1] == _MEMOIZE) & (code[at + 2] == ord("("))])
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class _Fields:
    """What the fields of ordinary entries are called and how these names are written, in order.

    `actions` are the places of the actions that are cut out, by their index in `CUT`.
    """

    names: Sequence[str]
    keys: Sequence[bytes]
    actions: Mapping[int, int]


def _fields(pickled: bytes, headers: Sequence[int], starts: Array, load: Load) -> _Fields:
    """Find the first entry whose fields are named by references only, and what they refer to."""
    first = int(np.searchsorted(starts, max(pickled.find(b"\x8c\x06action\x94"), 0)))
    sample = starts[first : first + _SAMPLE].tolist()
    entries = [_split(pickled[at + 3 : end]) for at, end in pairwise(sample)]
    keys = next((list(entry) for entry in entries if len(entry) > len(_NUMBERS) + 1), [])
    alike = [entry for entry in entries if list(entry) == keys]
    if not alike or not keys:
        raise Unexpected
    values = {entry[keys[0]] for entry in alike} - {b""}
    wanted = [*keys, *sorted(values)]
    until = sample[-1]
    begun = _without(pickled, [(at, at + _HEADER, b"") for at in headers if at < until], until)
    told = load(io.BytesIO(begun + _table(map(_place, wanted)) + b"."))
    names, values_told = told[: len(keys)], told[len(keys) :]
    if names[0] != "action" or names[-1] != "frames" or not set(_NUMBERS) <= set(names):
        raise Unexpected
    actions = {
        _place(reference): CUT.index(value)
        for reference, value in zip(wanted[len(keys) :], values_told, strict=True)
        if value in CUT
    }
    return _Fields(names, keys, actions)


def _without(pickled: bytes, spans: Iterable[tuple[int, int, bytes]], until: int) -> bytes:
    """Return a pickle up to some place, each span (start, end, new) replaced; they are in order."""
    view, at = memoryview(pickled), 0
    parts: list[bytes | memoryview] = []
    for start, end, new in spans:
        parts += [view[at:start], new]
        at = end
    return b"".join([*parts, view[at:until]])


def _split(entry: bytes) -> dict[bytes, bytes]:
    """Return the references that name an entry's fields, with the values that are references.

    {} where it is not an ordinary entry, whose last field are its frames.
    """
    fields: dict[bytes, bytes] = {}
    at = 0
    while at < len(entry):
        if entry[at] == ord("u"):
            return fields
        size = _SIZES.get(entry[at], 0) if entry[at] in (_GET, _LONG_GET) else 0
        key = entry[at : at + size]
        at += size
        if not size or at >= len(entry):
            return {}
        if entry[at : at + 2] == b"]\x94":
            return {**fields, key: b""}
        step = _SIZES.get(entry[at], 0)
        if entry[at] in (_LONG1, _TEXT):
            step = entry[at + 1] + (2 if entry[at] == _LONG1 else 3)
        elif entry[at : at + 6 : 2] == bytes((_INT1, _INT1, _PAIR)):
            step = 6
        fields[key] = entry[at : at + step] if entry[at] in (_GET, _LONG_GET) else b""
        if not step:
            return {}
        at += step
    return {}


def _place(reference: bytes) -> int:
    return int.from_bytes(reference[1:], "little")


def _table(places: Iterable[int]) -> bytes:
    """Return opcodes that push a list of what was stored at some places."""
    gets = b"".join(b"j" + place.to_bytes(4, "little") for place in places)
    return b"](" + gets + b"e"


class _Entries:
    """The entries that look like the ordinary one, their columns and how they are cut out."""

    def __init__(self, pickled: bytes, starts: Array, fields: _Fields) -> None:
        self._pickled = pickled
        self._fields = fields
        # Eight bytes from any place on, as one number. An entry near the end is not an ordinary one.
        self._words: Array = np.ndarray(len(pickled) - 7, "<u8", pickled, 0, (1,))
        self._last = len(pickled) - 8
        starts = starts[starts < self._last - 8]
        self._tails = Tails()
        names = ("ok", "start", "end", "stored", "action", "frame", *_NUMBERS)
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
            elif name in _NUMBERS:
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
        step[(opcode == _INT4) & (number >= np.uint64(1 << 31))] = 0
        self._long_values(at, word, opcode == _LONG1, (number, step, is_number))
        self._texts(at, word, opcode == _TEXT, step, stored)
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
        step[rows] = np.where(after & _BYTE == _MEMOIZE, size + 1, 0)
        stored[rows] += 1

    def _read_tails(
        self, at: Array, following: Array, action: Array, ok: Array, stored: Array
    ) -> tuple[Array, Array]:
        """Return which list of frames ends each entry, and where the entry ends."""
        word = self._words[at]
        opcode = (word & _BYTE).astype(np.uint8)
        size = np.where(opcode == _GET, 2, 5)
        shared = ok & (action != 0) & ((opcode == _GET) | (opcode == _LONG_GET))
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
        spans += [(at, at + _HEADER, b"") for at in headers]
        rest = _without(self._pickled, sorted(spans), len(self._pickled) - 1)
        return rest + _table(self._tails.places()) + b"\x86.", last + 1

    def columns(self, table: Sequence[Any]) -> Run:
        """Return what was cut out, given what `cut_out` has asked for."""
        columns, told = self._columns, self._tails.lists(table)
        frames: list[Any] = [None] * len(told)  # those of frees are not needed
        for row in np.unique(columns["frame"][columns["frame"] >= 0]).tolist():
            frames[row] = told[row]
            if not isinstance(told[row], list):
                raise Unexpected  # the list itself was cut out
        names = ("action", *_NUMBERS, "frame")
        return Run(**{name: columns[name] for name in names}, frames=frames)


def _rows(chosen: Array) -> Any:
    """Return an index of the chosen rows, the quick one where it is all of them; None for none."""
    if chosen.all():
        return slice(None)
    return np.flatnonzero(chosen) if chosen.any() else None


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
        while at < len(body) and body[at] in (_GET, _LONG_GET):
            size = _SIZES[body[at]]
            references.append(_place(body[at : at + size]))
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
        return list(dict.fromkeys(place for _, found in self._references for place in found))

    def lists(self, table: Sequence[Any]) -> list[Any]:
        """Return the lists of frames, given what was stored at `places()`."""
        stored = dict(zip(self.places(), table, strict=True))
        return [
            [stored[place] for place in found] if is_list else stored[found[0]]
            for is_list, found in self._references
        ]


def _with_traces(loaded: Any, cut: Run, edges: Sequence[int]) -> Any:
    """Put what was cut out back where the numbers of runs stand in the traces, which is in order.

    `edges` are where the runs begin and the last one ends. Unexpected if a number stands elsewhere.
    """
    traces = loaded.get("device_traces") if isinstance(loaded, dict) else None
    if not isinstance(traces, list):
        raise Unexpected
    run = 0
    for number, trace in enumerate(traces):
        if not isinstance(trace, list):
            raise Unexpected
        first = edges[run]
        others, before = [], []
        for entry in trace:
            if isinstance(entry, int):
                if entry != run or run >= len(edges) - 1:
                    raise Unexpected
                run += 1
                continue
            frames = entry.get("frames") if isinstance(entry, dict) else None
            if isinstance(frames, int) and entry.get("action") not in CUT[1:]:
                raise Unexpected  # its frames were cut out with another entry
            others.append(entry)
            before.append(edges[run] - first)
        traces[number] = MixedTrace(_part(cut, first, edges[run]), others, before)
    if run != len(edges) - 1:
        raise Unexpected
    return loaded


def _part(cut: Run, start: int, end: int) -> Run:
    names = ("action", *_NUMBERS, "frame")
    return Run(**{name: getattr(cut, name)[start:end] for name in names}, frames=cut.frames)
