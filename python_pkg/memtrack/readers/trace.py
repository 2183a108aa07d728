"""The trace of one device, as columns: what is kept of each entry of a snapshot's `device_traces`.

A snapshot is a dictionary an event, a million of them. They are read in chunks that fit a processor's
cache, a field at a time without Python code an event; fields that are missing or odd send their
chunk the slow way. A free that is completed in the very next event is one event: `FREE` is where
`allocated_bytes` falls (`free_requested`), and only a completion that comes later is an event of its
own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from memtrack.readers.bulk import CUT, MixedTrace
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
_SKIPPED = 255
_CODES = {**{action: int(kind) for action, kind in ACTIONS.items()}, "snapshot": _SKIPPED}
_FREE, _COMPLETED = int(EventKind.FREE), int(EventKind.FREE_COMPLETED)
_RUN_KINDS = np.array([int(ACTIONS[action]) for action in CUT], dtype=np.uint8)
_OF_SEGMENTS = np.zeros(256, dtype=bool)
_OF_SEGMENTS[list(map(int, SEGMENT_KINDS))] = True
_OWNING = _OF_SEGMENTS.copy()
_OWNING[[int(EventKind.ALLOC), int(EventKind.OOM)]] = True

Entry = Mapping[str, Any]
COLUMNS = ("kind", "address", "size", "time_us", "stream", "stack")


class NotASnapshot(Exception):
    """Containers that are not those of a snapshot."""


@dataclass(slots=True)
class Trace:
    """Columns of the events that count, in their order.

    `size` is what was asked for (ALLOC, FREE), else the segment's or the range's. `time_us` is since
    the epoch, 0 where the torch was too old to tell. `stream` and `stack` are told at ALLOC and
    SEGMENT_* at least. `pools` are the ids of private pools by event, where told.
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

    def chosen(self, kept: Array) -> Trace:
        """Return the trace of some of its events (a mask)."""
        place = np.cumsum(kept) - 1
        pools = {int(place[row]): name for row, name in self.pools.items()}
        return Trace(**{name: getattr(self, name)[kept] for name in COLUMNS}, pools=pools)


def read_trace(entries: Sequence[Entry] | MixedTrace, frames: FrameReader) -> Trace:
    """Return the columns of a trace."""
    if isinstance(entries, MixedTrace):
        return _read_mixed(entries, frames)
    reader = _Reader(frames)
    for start in range(0, len(entries), CHUNK):
        reader.take(entries[start : start + CHUNK])
    return reader.trace()


def _read_mixed(mixed: MixedTrace, frames: FrameReader) -> Trace:
    cut, others = mixed.cut, mixed.others
    stacks = np.array([*map(frames.stack, cut.frames), -1], dtype=np.int32)
    below = np.uint64((1 << 63) - 1)
    kinds = _kinds(others)
    columns = {
        "kind": (_RUN_KINDS[cut.action], kinds),
        "address": (cut.addr, _addresses(others, kinds)),
        "size": (np.minimum(cut.size, below), column(others, "size", "i8")),
        "time_us": (np.minimum(cut.time_us, below), column(others, "time_us", "i8")),
        "stream": (np.minimum(cut.stream, below), column(others, "stream", "i8")),
        "stack": (stacks[cut.frame], _stacks_of_owners(others, frames)),
    }
    all_of = {name: np.insert(*_ordered(pair, mixed.before)) for name, pair in columns.items()}
    places = _wanted(all_of["kind"], all_of["address"], (_SKIPPED, 0))
    found = {name: values[places] for name, values in all_of.items()}
    for name in ("size", "time_us", "stream"):
        found[name] = found[name].astype(np.int64)
    pools = {}
    for row, entry in enumerate(others):
        pool = pool_name(entry.get("pool_id"))
        if pool:
            pools[int(np.searchsorted(places, mixed.before[row] + row))] = pool
    return Trace(**found, pools=pools)


def _ordered(
    pair: tuple[Array, Array], before: Sequence[int]
) -> tuple[Array, Sequence[int], Array]:
    return pair[0], before, pair[1]


def _stacks_of_owners(entries: Sequence[Entry], frames: FrameReader) -> Array:
    """Return the stack of each entry, -1 for frees: where a block was freed is not told."""
    rows = zip(_OWNING[_kinds(entries)].tolist(), entries, strict=True)
    return frames.stacks_of([entry.get("frames") if owns else None for owns, entry in rows])


class _Reader:
    def __init__(self, frames: FrameReader) -> None:
        self._frames = frames
        self._parts: list[tuple[Array, ...]] = []
        self._pools: dict[int, str] = {}
        self._count = 0
        self._last = (_SKIPPED, 0)  # kind and address of the latest event

    def take(self, chunk: Sequence[Entry]) -> None:
        kind = _kinds(chunk)
        address = _addresses(chunk, kind)
        places = _wanted(kind, address, self._last)
        if len(kind):
            self._last = int(kind[-1]), int(address[-1])
        kind, address = kind[places], address[places]
        kept = _at(chunk, places)
        owning = np.flatnonzero(_OWNING[kind])
        owners = _at(chunk, places[owning])
        stream = np.zeros(len(places), dtype=np.int64)
        stream[owning] = column(owners, "stream", "i8")
        stack = np.full(len(places), -1, dtype=np.int32)
        stack[owning] = self._frames.stacks_of(_frames_of(owners))
        for place in np.flatnonzero(_OF_SEGMENTS[kind]).tolist():
            self._pools[self._count + place] = pool_name(kept[place].get("pool_id"))
        size, time_us = column(kept, "size", "i8"), column(kept, "time_us", "i8")
        self._add(kind, address, size, time_us, stream, stack)

    def _add(self, *columns: Array) -> None:
        self._parts.append(columns)
        self._count += len(columns[0])

    def trace(self) -> Trace:
        types = ("u1", "u8", "i8", "i8", "i8", "i4")
        empty = tuple(np.zeros(0, dtype=dtype) for dtype in types)
        columns = [np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True)]
        pools = {row: name for row, name in self._pools.items() if name}
        return Trace(**dict(zip(COLUMNS, columns, strict=True)), pools=pools)


def _at(chunk: Sequence[Entry], places: Array) -> Sequence[Entry]:
    """Return the entries at some places."""
    if len(places) < 2:
        return [chunk[place] for place in places.tolist()]
    found: Sequence[Entry] = itemgetter(*places.tolist())(chunk)
    return found


def _wanted(kind: Array, address: Array, last: tuple[int, int]) -> Array:
    """Return which entries are kept: known ones, completions only if something came between.

    `last` are the kind and the address of the entry before the first.
    """
    wanted = kind != _SKIPPED
    at_once = (kind[1:] == _COMPLETED) & (kind[:-1] == _FREE) & (address[1:] == address[:-1])
    wanted[1:] &= ~at_once
    if len(kind):
        wanted[0] &= (int(kind[0]), *last) != (_COMPLETED, _FREE, int(address[0]))
    return np.flatnonzero(wanted)


def _addresses(entries: Sequence[Entry], kind: Array) -> Array:
    """Return the address of each entry; of a request that failed what the device had free, bytes."""
    found = column(entries, "addr", "u8")
    for row in np.flatnonzero(kind == EventKind.OOM).tolist():
        found[row] = whole(entries[row].get("device_free"))
    return found


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
