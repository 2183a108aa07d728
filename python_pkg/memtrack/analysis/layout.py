"""Where the blocks lie in the segments at one moment, and the gaps between them. Addresses only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.reserved import Pool, pools_of, segments_of
from memtrack.analysis.totals import alive
from memtrack.recording import EventKind, RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Ranges:
    """Memory held from the device, in order of addresses: what blocks can lie in without a break.

    A range is a `cudaMalloc`ed segment, or mapped pages of an expandable one that follow each other.
    `start` and `end` are addresses (uint64), `pool` an index into `pools`, `expandable` bool.
    """

    pools: Sequence[Pool]
    pool: Array
    start: Array
    end: Array
    expandable: Array

    def around(self, address: Array) -> Array:
        """Return the range each address lies in; -1 for none."""
        row = np.searchsorted(self.start, address, side="right") - 1
        inside = (row >= 0) & (address < np.append(self.end, 0)[row])
        return np.where(inside, row, -1)


@dataclass(frozen=True, slots=True)
class Layout:
    """All blocks of a device at a cut, and the gaps (free blocks) they leave, none of 0 bytes.

    `blocks` are rows of the allocations, `block_range` the range each lies in (-1: in none, or its
    address is unknown), `pending` those that were freed but wait for a stream. Gaps are in order
    of their addresses (uint64, int64 bytes).
    """

    ranges: Ranges
    blocks: Array
    block_range: Array
    pending: Array
    gap_start: Array
    gap_bytes: Array
    gap_range: Array


def ranges_at(data: RecordingData, device: int, cut: int) -> Ranges:
    """Return what a device's allocator held at a cut; no ranges where no history tells."""
    table = data.segments
    rows = segments_of(data, device)
    rows = rows[(table["start"][rows] < cut) & (cut <= table["end"][rows])]
    rows = rows[np.argsort(table["address"][rows], kind="stable")]
    pools, pool = pools_of(data, rows)
    start = table["address"][rows]
    end = start + table["bytes"][rows].astype(np.uint64)
    expandable = table["expandable"][rows] != 0
    follows = expandable[1:] & expandable[:-1] & (start[1:] == end[:-1]) & (pool[1:] == pool[:-1])
    first = np.flatnonzero(np.concatenate((np.ones(min(len(rows), 1), dtype=bool), ~follows)))
    last = np.append(first[1:], len(rows)) - 1
    last = last[: len(first)]
    return Ranges(pools, pool[first], start[first], end[last], expandable[first])


def layout_at(data: RecordingData, device: int, cut: int) -> Layout:
    """Return where everything on a device lay at a cut."""
    table = data.allocations
    ranges = ranges_at(data, device, cut)
    pending = pending_blocks(data, device, cut)
    blocks = np.concatenate((alive(data, device, cut), pending))
    waiting = np.arange(len(blocks)) >= len(blocks) - len(pending)
    around = ranges.around(table["address"][blocks])
    placed = blocks[(around >= 0) & (table["bytes"][blocks] > 0)]
    begin = np.sort(table["address"][placed])
    # Blocks never overlap, so that their ends stand in the order of their addresses too.
    finish = np.sort(table["address"][placed] + table["bytes"][placed].astype(np.uint64))
    gap_start = np.sort(np.concatenate((ranges.start, finish)))
    gap_end = np.sort(np.concatenate((begin, ranges.end)))
    free = gap_end > gap_start
    gap_start, gap_end = gap_start[free], gap_end[free]
    return Layout(
        ranges=ranges,
        blocks=blocks,
        block_range=around,
        pending=waiting,
        gap_start=gap_start,
        gap_bytes=(gap_end - gap_start).astype(np.int64),
        gap_range=ranges.around(gap_start),
    )


def pending_blocks(data: RecordingData, device: int, cut: int) -> Array:
    """Return the allocations that were freed before a cut and that a stream still used then."""
    events = data.events
    done = np.flatnonzero(events["kind"][cut:] == EventKind.FREE_COMPLETED) + cut
    rows = events["allocation"][done]
    rows = rows[rows >= 0]
    table = data.allocations
    waiting = (table["device"][rows] == device) & (table["end"][rows] < cut)
    return np.asarray(rows[waiting])
