"""What the allocator held from the device, and when: rows of the segments table.

The end is known from a snapshot's `segments`; walking the trace back from there gives the beginning,
and walking forward again the rows. What is unmapped in part is cut into rows of its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memtrack.allocator.rules import SMALL_SEGMENT
from memtrack.readers.stacks import FrameReader
from memtrack.readers.trace import SEGMENT_KINDS, Trace, pool_name, whole
from memtrack.recording.categories import EventKind
from memtrack.recording.tables import Array

_GROWS = (int(EventKind.SEGMENT_ALLOC), int(EventKind.SEGMENT_MAP))
_MAPS = (int(EventKind.SEGMENT_MAP), int(EventKind.SEGMENT_UNMAP))


@dataclass(frozen=True, slots=True)
class _Held:
    """One range of memory, from the event `start`; `small` is None where it is a guess."""

    start: int
    stream: int
    pool: str
    expandable: bool
    stack: int
    small: bool | None = None


@dataclass(frozen=True, slots=True)
class Segments:
    """Columns of the segments table, in order of their starts; `pools` are ids, "" the default."""

    columns: Mapping[str, Array]
    pools: Sequence[str]


class _Ranges:
    """Ranges of addresses that do not overlap, each with what is known of it."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._at: dict[int, tuple[int, _Held]] = {}

    def __iter__(self) -> Iterator[tuple[int, int, _Held]]:
        return ((start, *self._at[start]) for start in self._starts)

    def add(self, start: int, end: int, held: _Held) -> None:
        """Put in what of `[start, end)` is not there already."""
        for first, last, _ in [*self._inside(start, end), (end, end, held)]:
            if start < first:
                insort(self._starts, start)
                self._at[start] = (first, held)
            start = max(start, last)

    def take(self, start: int, end: int) -> list[tuple[int, int, _Held]]:
        """Take out what of `[start, end)` is there, and return it."""
        taken = []
        for first, last, held in list(self._inside(start, end)):
            del self._starts[bisect_left(self._starts, first)], self._at[first]
            inner = max(first, start), min(last, end)
            for rest_start, rest_end in ((first, inner[0]), (inner[1], last)):
                if rest_start < rest_end:
                    insort(self._starts, rest_start)
                    self._at[rest_start] = (rest_end, held)
            taken.append((*inner, held))
        return taken

    def _inside(self, start: int, end: int) -> Iterator[tuple[int, int, _Held]]:
        place = max(bisect_right(self._starts, start) - 1, 0)
        while place < len(self._starts) and self._starts[place] < end:
            first = self._starts[place]
            last, held = self._at[first]
            if last > start:
                yield first, last, held
            place += 1


def read_segments(
    trace: Trace, final: Sequence[Mapping[str, Any]], frames: FrameReader
) -> Segments:
    """Return what was held over a trace that ends with the segments `final`."""
    at_end = _ranges_of(final, frames)
    changes = np.flatnonzero(np.isin(trace.kind, SEGMENT_KINDS)).tolist()
    ranges = _ranges_of(final, frames)
    for event in reversed(changes):
        start, end = _extent(trace, event)
        if trace.kind[event] in _GROWS:
            ranges.take(start, end)
        else:
            ranges.add(start, end, _from_event(trace, event, -1))
    rows = []
    for event in changes:
        start, end = _extent(trace, event)
        if trace.kind[event] in _GROWS:
            ranges.add(start, end, _from_event(trace, event, event))
        else:
            rows += [(*piece, event) for piece in ranges.take(start, end)]
    for start, end, held in ranges:
        rows += [(*piece, len(trace)) for piece in _as_known(start, end, held, at_end)]
    return _columns(sorted(rows, key=lambda row: (row[2].start, row[0])))


def _ranges_of(segments: Sequence[Mapping[str, Any]], frames: FrameReader) -> _Ranges:
    ranges = _Ranges()
    for segment in segments:
        address, size = whole(segment.get("address"), 64), whole(segment.get("total_size"))
        held = _Held(
            start=-1,
            stream=whole(segment.get("stream")),
            pool=pool_name(segment.get("segment_pool_id")),
            expandable=segment.get("is_expandable") is True,
            stack=frames.stack(segment.get("frames")),
            small=segment.get("segment_type") == "small",
        )
        ranges.add(address, address + size, held)
    return ranges


def _extent(trace: Trace, event: int) -> tuple[int, int]:
    address = int(trace.address[event])
    return address, address + int(trace.size[event])


def _from_event(trace: Trace, event: int, start: int) -> _Held:
    return _Held(
        start=start,
        stream=int(trace.stream[event]),
        pool=trace.pools.get(event, ""),
        expandable=int(trace.kind[event]) in _MAPS,
        stack=int(trace.stack[event]) if start >= 0 else -1,
    )


def _as_known(
    start: int, end: int, held: _Held, known: _Ranges
) -> Iterator[tuple[int, int, _Held]]:
    """Return a range that is there at the end with what the snapshot says of it."""
    for first, last, told in known.take(start, end):
        stack = held.stack if held.stack >= 0 else told.stack
        yield first, last, replace(told, start=held.start, stack=stack)
        known.add(first, last, told)


def _columns(rows: Sequence[tuple[int, int, _Held, int]]) -> Segments:
    held = [row[2] for row in rows]
    smalls = [
        row[2].small if row[2].small is not None else row[1] - row[0] == SMALL_SEGMENT
        for row in rows
    ]
    columns: dict[str, Array] = {
        "address": np.array([row[0] & 0xFFFF_FFFF_FFFF_FFFF for row in rows], dtype=np.uint64),
        "bytes": np.array([row[1] - row[0] for row in rows], dtype=np.int64),
        "start": np.array([one.start for one in held], dtype=np.int64),
        "end": np.array([row[3] for row in rows], dtype=np.int64),
        "stream": np.array([one.stream for one in held], dtype=np.int64),
        "small": np.array(smalls, dtype=np.uint8),
        "expandable": np.array([one.expandable for one in held], dtype=np.uint8),
        "stack": np.array([one.stack for one in held], dtype=np.int32),
    }
    return Segments(columns, [one.pool for one in held])
