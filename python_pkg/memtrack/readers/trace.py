"""The trace of one device, as columns: what is kept of each entry of a snapshot's `device_traces`.

A snapshot is a dictionary an event, a million of them. They are read in chunks that fit a processor's
cache, a field at a time without Python code an event; fields that are missing or odd send their
chunk the slow way. A free that is completed in the very next event is one event: `FREE` is where
`allocated_bytes` falls (`free_requested`), and only a completion that comes later is an event of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from typing import Any

import numpy as np

from memtrack.readers.stacks import FrameReader
from memtrack.recording.categories import EventKind
from memtrack.recording.tables import Array

ACTIONS = {
    "alloc": EventKind.ALLOC,
    "free_requested": EventKind.FREE,
    "free_completed": EventKind.FREE_COMPLETED,
    "segment_alloc": EventKind.SEGMENT_ALLOC,
    "segment_free": EventKind.SEGMENT_FREE,
    "segment_map": EventKind.SEGMENT_MAP,
    "segment_unmap": EventKind.SEGMENT_UNMAP,
    "oom": EventKind.OOM,
}
"""Others (`snapshot`, `annotate`, `user_defined` and what may come) change nothing and are skipped."""
SEGMENT_KINDS = (
    EventKind.SEGMENT_ALLOC,
    EventKind.SEGMENT_FREE,
    EventKind.SEGMENT_MAP,
    EventKind.SEGMENT_UNMAP,
)
CHUNK = 4096
"""Entries read at a time: some 2 MB of dictionaries."""
LARGEST_SIZE = 1 << 55
"""Bytes: no device has more, and sums of millions of them stay whole in 64 bits."""
_SKIPPED = 255
_CODES = {**{action: int(kind) for action, kind in ACTIONS.items()}, "snapshot": _SKIPPED}
_OWNING = np.zeros(256, dtype=bool)
_OWNING[[int(EventKind.ALLOC), *map(int, SEGMENT_KINDS)]] = True

Entry = Mapping[str, Any]
COLUMNS = ("kind", "address", "size", "time_us", "stream", "stack")


class NotASnapshot(Exception):
    """Containers that are not those of a snapshot."""


@dataclass(slots=True)
class Trace:
    """Columns of the events that count, in their order.

    `size` is what was asked for (ALLOC, FREE), else the segment's or the range's. `time_us` is since
    the epoch, 0 where the torch was too old to tell. `stream` and `stack` are told at ALLOC and
    SEGMENT_*, else 0 and -1. `pools` are the ids of private pools by event, where told.
    """

    kind: Array
    address: Array
    size: Array
    time_us: Array
    stream: Array
    stack: Array
    pools: dict[int, str]

    def __len__(self) -> int:
        return len(self.kind)


def read_trace(chunks: Iterable[Sequence[Entry]], frames: FrameReader) -> Trace:
    """Return the columns of a trace that comes in chunks."""
    reader = _Reader(frames)
    for chunk in chunks:
        reader.take(chunk)
    return reader.trace()


def slices(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """Return the chunks of a trace that its owner goes on using."""
    for start in range(0, len(entries), CHUNK):
        yield entries[start : start + CHUNK]


def consumed(entries: MutableSequence[Any]) -> Iterator[Sequence[Entry]]:
    """Return the chunks of a trace and drop each once the next is wanted."""
    for start in range(0, len(entries), CHUNK):
        chunk = entries[start : start + CHUNK]
        entries[start : start + CHUNK] = [None] * len(chunk)
        yield chunk


class _Reader:
    def __init__(self, frames: FrameReader) -> None:
        self._frames = frames
        self._parts: list[tuple[Array, ...]] = []
        self._pools: dict[int, str] = {}
        self._count = 0
        self._last = (_SKIPPED, 0)  # kind and address of the latest event

    def take(self, chunk: Sequence[Entry]) -> None:
        kind = _kinds(chunk)
        address = column(chunk, "addr", "u8")
        wanted = self._wanted(kind, address)
        kept = list(compress(chunk, wanted.tolist()))
        kind, address = kind[wanted], address[wanted]
        size, time_us = column(kept, "size", "i8"), column(kept, "time_us", "i8")
        owns = _OWNING[kind]
        owners = list(compress(kept, owns.tolist()))
        stream = np.zeros(len(kept), dtype=np.int64)
        stream[owns] = column(owners, "stream", "i8")
        stack = np.full(len(kept), -1, dtype=np.int32)
        stack[owns] = self._frames.stacks_of(_frames_of(owners))
        for place in np.flatnonzero(owns & (kind != EventKind.ALLOC)).tolist():
            self._pools[self._count + place] = pool_name(kept[place].get("pool_id"))
        self._parts.append((kind, address, size, time_us, stream, stack))
        self._count += len(kept)

    def _wanted(self, kind: Array, address: Array) -> Array:
        """Return which events are kept: known ones, completions only if something came between."""
        if not len(kind):
            return np.zeros(0, dtype=bool)
        before = np.concatenate((np.array(self._last[:1], dtype="u1"), kind[:-1]))
        there = np.concatenate((np.array(self._last[1:], dtype="u8"), address[:-1]))
        self._last = int(kind[-1]), int(address[-1])
        at_once = (kind == EventKind.FREE_COMPLETED) & (before == EventKind.FREE)
        wanted: Array = (kind != _SKIPPED) & ~(at_once & (there == address))
        return wanted

    def trace(self) -> Trace:
        types = ("u1", "u8", "i8", "i8", "i8", "i4")
        empty = tuple(np.zeros(0, dtype=dtype) for dtype in types)
        columns = [np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True)]
        self._parts.clear()
        pools = {row: name for row, name in self._pools.items() if name}
        return Trace(**dict(zip(COLUMNS, columns, strict=True)), pools=pools)


def _kinds(chunk: Sequence[Entry]) -> Array:
    try:
        codes = bytes(map(_CODES.__getitem__, map(itemgetter("action"), chunk)))
    except (KeyError, TypeError):
        if not all(isinstance(entry, dict) for entry in chunk):
            raise NotASnapshot from None
        codes = bytes(_code(entry.get("action")) for entry in chunk)
    return np.frombuffer(codes, dtype=np.uint8)


def _code(action: Any) -> int:
    return _CODES.get(action, _SKIPPED) if isinstance(action, str) else _SKIPPED


def column(entries: Sequence[Entry], field: str, dtype: str) -> Array:
    """Return a field of each entry as whole numbers: 0 where it is missing or is none.

    Addresses (`u8`) may be written as negative numbers; sizes, times and streams are never below 0.
    """
    try:
        values = np.fromiter(map(itemgetter(field), entries), dtype, len(entries))
        if dtype == "u8" or not len(values) or int(values.min()) >= 0:
            return values
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    bits = 64 if dtype == "u8" else 63
    return np.fromiter((whole(entry.get(field), bits) for entry in entries), dtype, len(entries))


def whole(value: Any, bits: int = 63) -> int:
    """Return a number of a snapshot as one of `bits` bits, 0 for what is no whole number.

    With 64 bits it is an address, which may be written as a negative number.
    """
    if not isinstance(value, int):
        return 0
    return value & ((1 << 64) - 1) if bits == 64 else min(max(value, 0), (1 << bits) - 1)


def _frames_of(owners: Sequence[Entry]) -> Sequence[Any]:
    try:
        return list(map(itemgetter("frames"), owners))
    except KeyError:
        return [entry.get("frames") for entry in owners]


def pool_name(identifier: Any) -> str:
    """Return the id of a private pool as `0.1`; "" for the default pool and where it is not told."""
    if not isinstance(identifier, list | tuple) or not any(identifier):
        return ""
    return ".".join(str(part) for part in identifier[:2])
