"""The entries of a long trace straight from the bytes of its pickle, as columns.

A million events are a million dictionaries that look alike: the same fields in the same order, each
field's name and most values a reference to what came before. Loading them takes most of the time and
memory of opening a file, so they are read here, all at once, and cut out; what is left is loaded as
usual, with a number in the place of each run that was cut out. An entry that does not look like the
others, byte by byte, is left in. Where anything is unexpected the whole file is loaded as usual.

Opcodes are those of protocol 4 (PEP 3154), as `pickle.dump` writes them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from memtrack.readers.lookalikes import CUT, NUMBERS, Entries, Fields, Run, Unexpected
from memtrack.readers.pieces import (
    FRAME,
    GET,
    HEADER,
    INT1,
    LONG1,
    LONG_GET,
    MEMOIZE,
    PAIR,
    SIZES,
    STOP,
    TEXT,
    place,
    table_of,
    without,
)
from memtrack.recording.tables import Array

__all__ = ["CUT", "MixedTrace", "Run", "Unexpected", "load_in_bulk"]

Load = Callable[[io.BytesIO], Any]

_SAMPLE = 2000
_BLOCK = 1 << 22


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
    entries = Entries(pickled, starts, _fields(pickled, headers, starts, load))
    rest, ends = entries.cut_out(headers)
    loaded, table = load(io.BytesIO(rest))
    return _with_traces(loaded, entries.columns(table), np.concatenate(([0], ends)).tolist())


def _frame_headers(pickled: bytes) -> list[int]:
    """Return where the headers of frames stand; how a pickle is cut into frames tells nothing."""
    if pickled[:2] not in (b"\x80\x04", b"\x80\x05") or pickled[-1] != STOP:
        raise Unexpected
    headers, at = [], 2
    while at < len(pickled):
        if pickled[at] != FRAME:
            raise Unexpected
        headers.append(at)
        at += HEADER + int.from_bytes(pickled[at + 1 : at + HEADER], "little")
    return headers


def _dictionaries(pickled: bytes) -> Array:
    """Return where a dictionary of several items may begin: EMPTY_DICT, MEMOIZE, MARK."""
    code = np.frombuffer(pickled, dtype=np.uint8)
    found = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(code) - 3, _BLOCK):
        block = code[start : min(start + _BLOCK, len(code) - 3)]
        at = np.flatnonzero(block == ord("}")) + start
        found.append(at[(code[at + 1] == MEMOIZE) & (code[at + 2] == ord("("))])
    return np.concatenate(found)


def _fields(pickled: bytes, headers: Sequence[int], starts: Array, load: Load) -> Fields:
    """Find the first entry whose fields are named by references only, and what they refer to."""
    first = int(np.searchsorted(starts, max(pickled.find(b"\x8c\x06action\x94"), 0)))
    sample = starts[first : first + _SAMPLE].tolist()
    entries = [_split(pickled[at + 3 : end]) for at, end in pairwise(sample)]
    keys = next((list(entry) for entry in entries if len(entry) > len(NUMBERS) + 1), [])
    alike = [entry for entry in entries if list(entry) == keys]
    if not alike or not keys:
        raise Unexpected
    values = {entry[keys[0]] for entry in alike} - {b""}
    wanted = [*keys, *sorted(values)]
    until = sample[-1]
    begun = without(pickled, [(at, at + HEADER, b"") for at in headers if at < until], until)
    told = load(io.BytesIO(begun + table_of(map(place, wanted)) + b"."))
    names, values_told = told[: len(keys)], told[len(keys) :]
    if names[0] != "action" or names[-1] != "frames" or not set(NUMBERS) <= set(names):
        raise Unexpected
    actions = {
        place(reference): CUT.index(value)
        for reference, value in zip(wanted[len(keys) :], values_told, strict=True)
        if value in CUT
    }
    return Fields(names, keys, actions)


def _split(entry: bytes) -> dict[bytes, bytes]:
    """Return the references that name an entry's fields, with the values that are references.

    {} where it is not an ordinary entry, whose last field are its frames.
    """
    fields: dict[bytes, bytes] = {}
    at = 0
    while at < len(entry):
        if entry[at] == ord("u"):
            return fields
        size = SIZES.get(entry[at], 0) if entry[at] in (GET, LONG_GET) else 0
        key = entry[at : at + size]
        at += size
        if not size or at >= len(entry):
            return {}
        if entry[at : at + 2] == b"]\x94":
            return {**fields, key: b""}
        step = SIZES.get(entry[at], 0)
        if entry[at] in (LONG1, TEXT):
            step = entry[at + 1] + (2 if entry[at] == LONG1 else 3)
        elif entry[at : at + 6 : 2] == bytes((INT1, INT1, PAIR)):
            step = 6
        fields[key] = entry[at : at + step] if entry[at] in (GET, LONG_GET) else b""
        if not step:
            return {}
        at += step
    return {}


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
    names = ("action", *NUMBERS, "frame")
    return Run(**{name: getattr(cut, name)[start:end] for name in names}, frames=cut.frames)
