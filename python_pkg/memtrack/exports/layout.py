"""Where blocks and segments lie in an exported snapshot: as recorded, or made up where nobody knows.

A viewer needs every block inside a segment at every moment. Where a recording has no segments, as on
the CPU, each block gets one of its own at an address that is used once: reserved is then what is
allocated, rounded, and nothing is claimed about a layout that was never seen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from memtrack.allocator.rules import MIN_BLOCK
from memtrack.recording.data import RecordingData
from memtrack.recording.tables import Array

FIRST_ADDRESS = 1 << 40
"""Where made up addresses begin; a viewer reads them as floating point numbers, exact below 2^53."""


@dataclass(frozen=True, slots=True)
class HeldBlock:
    """A block alive at the end: row of allocations, address and bytes."""

    row: int
    address: int
    size: int


@dataclass(slots=True)
class HeldSegment:
    """A segment, or a contiguous mapped range, held at the end; sizes in bytes."""

    address: int
    size: int
    stream: int
    blocks: list[HeldBlock]
    pool: str = ""
    small: bool = False
    expandable: bool = False
    stack: int = -1


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of everything on one device. `made_up`: each block is a segment, which comes and goes with it."""

    made_up: bool
    addresses: Array
    """Of every row of allocations."""
    sizes: Array
    """Bytes of the block of every row of allocations."""
    segments: list[HeldSegment]
    """Held at the end, by address."""


def layout_of(data: RecordingData, device: int) -> Layout:
    """Return where the blocks of a device (row of devices) lie."""
    if (data.segments["device"] == device).any():
        return _recorded(data, device)
    return _made_up(data, device)


def _made_up(data: RecordingData, device: int) -> Layout:
    allocations = data.allocations
    sizes = np.maximum(-(-allocations["bytes"] // MIN_BLOCK), 1) * MIN_BLOCK
    addresses = FIRST_ADDRESS + np.cumsum(sizes) - sizes
    streams = np.maximum(allocations["stream"], 0)
    segments = [
        HeldSegment(
            address=int(addresses[row]),
            size=int(sizes[row]),
            stream=int(streams[row]),
            blocks=[HeldBlock(int(row), int(addresses[row]), int(sizes[row]))],
            stack=int(allocations["stack"][row]),
        )
        for row in _alive(data, device)
    ]
    return Layout(True, addresses, sizes, segments)


def _recorded(data: RecordingData, device: int) -> Layout:
    allocations = data.allocations
    segments = list(_held(data, device))
    starts = [segment.address for segment in segments]
    strays = []
    for row in _alive(data, device):
        address, size = int(allocations["address"][row]), int(allocations["bytes"][row])
        if not size:
            continue
        block = HeldBlock(int(row), address, size)
        place = bisect_right(starts, address) - 1
        if place >= 0 and address + size <= starts[place] + segments[place].size:
            segments[place].blocks.append(block)
        else:  # nobody saw the segment it lies in
            stream = max(int(allocations["stream"][row]), 0)
            strays.append(HeldSegment(address, size, stream, [block]))
    segments = sorted(segments + strays, key=lambda segment: segment.address)
    return Layout(False, allocations["address"], allocations["bytes"], segments)


def _alive(data: RecordingData, device: int) -> Array:
    """Return the allocations alive at the end, by address where they have one."""
    allocations = data.allocations
    rows = np.flatnonzero((allocations["device"] == device) & (allocations["end"] == data.cuts))
    return np.asarray(rows[np.argsort(allocations["address"][rows], kind="stable")])


def _held(data: RecordingData, device: int) -> Iterator[HeldSegment]:
    """Go through the segments at the end by address, contiguous mapped ranges as one."""
    table = data.segments
    rows = np.flatnonzero((table["device"] == device) & (table["end"] == data.cuts))
    last: HeldSegment | None = None
    for row in rows[np.argsort(table["address"][rows], kind="stable")]:
        found = table.row(int(row))
        segment = HeldSegment(
            address=found["address"],
            size=found["bytes"],
            stream=max(found["stream"], 0),
            blocks=[],
            pool=data.string(found["pool"]),
            small=bool(found["small"]),
            expandable=bool(found["expandable"]),
            stack=found["stack"],
        )
        if last is not None and _continues(last, segment):
            last.size += segment.size
            continue
        if last is not None:
            yield last
        last = segment
    if last is not None:
        yield last


def _continues(last: HeldSegment, segment: HeldSegment) -> bool:
    return (
        last.expandable
        and segment.expandable
        and last.address + last.size == segment.address
        and (last.stream, last.pool, last.small) == (segment.stream, segment.pool, segment.small)
    )
