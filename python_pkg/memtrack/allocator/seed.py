"""What a recording found already there, laid into a simulated allocator before its events are replayed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from memtrack.allocator.blocks import Block, Segment
from memtrack.allocator.reserve import ADDRESS_SPACE
from memtrack.allocator.simulator import CachingAllocator
from memtrack.recording.data import RecordingData
from memtrack.recording.tables import Array

START_NOTHING, START_LAYOUT, START_GUESSED = "nothing", "layout", "guess"


@dataclass(frozen=True, slots=True)
class Seed:
    """The blocks that were there, by row of allocations, and how well their places were known."""

    live: Mapping[int, Block]
    start: str


def seed_as_recorded(data: RecordingData, device: int, allocator: CachingAllocator) -> Seed:
    """Take over the segments and blocks from before the recording, at their addresses.

    A block that lies in no known segment is requested anew, which makes the start a guess.
    """
    segments = sorted(_adopted(data, device, allocator), key=lambda segment: segment.address)
    addresses = [segment.address for segment in segments]
    rows = _older(data, device)
    live: dict[int, Block] = {}
    lost = []
    columns = [data.allocations[name][rows].tolist() for name in ("address", "bytes", "requested")]
    # From the highest address down each block is found at the head of what is left.
    for row, address, size, requested in sorted(
        zip(rows.tolist(), *columns, strict=True), key=lambda found: -found[1]
    ):
        place = bisect_right(addresses, address) - 1
        block = allocator.carve(segments[place], address, size, requested) if place >= 0 else None
        if block is None:
            lost.append(row)
        else:
            live[row] = block
    live.update(_requested(data, np.array(lost[::-1], dtype=np.int64), allocator))
    if lost:
        return Seed(live, START_GUESSED)
    return Seed(live, START_LAYOUT if segments else START_NOTHING)


def seed_anew(data: RecordingData, device: int, allocator: CachingAllocator) -> Seed:
    """Request what was alive before the recording, in the order of its addresses."""
    rows = _older(data, device)
    live = dict(_requested(data, rows, allocator))
    return Seed(live, START_GUESSED if live else START_NOTHING)


def segment_addresses(data: RecordingData, device: int) -> dict[int, int]:
    """Return the address that each event of segments is about, by event.

    An event of an expandable segment may be about several rows, which then follow each other.
    """
    segments = data.segments
    rows = np.flatnonzero(segments["device"] == device)
    found: dict[int, int] = {}
    for row in rows[np.argsort(segments["address"][rows], kind="stable")].tolist():
        for edge in ("start", "end"):
            found.setdefault(int(segments[edge][row]), int(segments["address"][row]))
    return found


def _older(data: RecordingData, device: int) -> Array:
    """Return the allocations from before the recording, by address; those of no bytes are not known."""
    allocations = data.allocations
    older = (allocations["start"] < 0) & (allocations["bytes"] > 0)
    rows = np.flatnonzero(older & (allocations["device"] == device))
    order = np.argsort(allocations["address"][rows], kind="stable")
    return np.asarray(rows[order])


def _requested(
    data: RecordingData, rows: Array, allocator: CachingAllocator
) -> Iterator[tuple[int, Block]]:
    columns = [data.allocations[name][rows].tolist() for name in ("requested", "stream")]
    for row, size, stream in zip(rows.tolist(), *columns, strict=True):
        yield row, allocator.malloc(size, max(stream, 0))


def _adopted(data: RecordingData, device: int, allocator: CachingAllocator) -> Iterator[Segment]:
    segments = data.segments
    rows = np.flatnonzero((segments["device"] == device) & (segments["start"] < 0))
    spaces: dict[tuple[bool, int, Hashable], list[tuple[int, int]]] = {}
    for row in rows[np.argsort(segments["address"][rows], kind="stable")]:
        found = segments.row(int(row))
        pool: Hashable = data.string(found["pool"]) if found["pool"] >= 0 else None
        key = (bool(found["small"]), max(found["stream"], 0), pool)
        place = (found["address"], found["bytes"])
        if found["expandable"]:
            spaces.setdefault(key, []).append(place)
        else:
            yield allocator.adopt(found["address"], [place], *key)
    for key, ranges in spaces.items():
        for part in _spaces(ranges, allocator.total):
            yield allocator.adopt(part[0][0], part, *key, expandable_segment=True)


def _spaces(ranges: list[tuple[int, int]], total: int | None) -> Iterator[list[tuple[int, int]]]:
    """Part mapped ranges by the address spaces they can lie in."""
    reach = ADDRESS_SPACE if total is None else total + total // 8
    part: list[tuple[int, int]] = []
    for address, size in ranges:
        if part and address + size > part[0][0] + reach:
            yield part
            part = []
        part.append((address, size))
    if part:
        yield part
