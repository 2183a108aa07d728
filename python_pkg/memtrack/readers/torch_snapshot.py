"""What a torch allocator snapshot says happened on one device, as columns.

Comes in: the dictionary of `torch.cuda.memory._snapshot()`, every field beyond the first versions'
optional. Goes out: events with their allocations and stacks, in the order of the trace. Blocks that
were there before the trace began have `start` -1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.recording.builder import StackBuilder
from memtrack.recording.categories import EventKind
from memtrack.recording.tables import Array

ROUNDING = 512
"""Every block is a multiple of this many bytes (kMinBlockSize of the caching allocator)."""

ACTIONS = {
    "alloc": EventKind.ALLOC,
    "free_requested": EventKind.FREE_REQUESTED,
    "free_completed": EventKind.FREE,
    "segment_alloc": EventKind.SEGMENT_ALLOC,
    "segment_free": EventKind.SEGMENT_FREE,
    "segment_map": EventKind.SEGMENT_MAP,
    "segment_unmap": EventKind.SEGMENT_UNMAP,
    "oom": EventKind.OOM,
}
_LIVE_STATES = ("active_allocated", "active_pending_free", "active_awaiting_free")


@dataclass(frozen=True, slots=True)
class DeviceHistory:
    """Columns of one device's history; times are nanoseconds since the epoch, 0 where unknown."""

    events: Mapping[str, Array]
    allocations: Mapping[str, Array]
    reserved: int
    """Bytes of the segments at the moment of the snapshot."""


class _Rows:
    """Growing columns of one device."""

    def __init__(self) -> None:
        self.time_us: list[int] = []
        self.kind: list[int] = []
        self.size: list[int] = []
        self.allocation: list[int] = []
        self.address: list[int] = []
        self.stream: list[int] = []
        self.blocks: list[list[int]] = []  # bytes, requested, start, end, stack, address, stream
        self.live: dict[int, int] = {}

    def event(self, kind: int, entry: Mapping[str, Any], size: int, block: int) -> None:
        self.time_us.append(entry.get("time_us", 0))
        self.kind.append(kind)
        self.size.append(size)
        self.allocation.append(block)
        self.address.append(entry.get("addr", entry.get("device_free", 0)))
        self.stream.append(entry.get("stream", 0))

    def block(self, size: int, start: int, stack: int, address: int, stream: int) -> int:
        rounded = -(-size // ROUNDING) * ROUNDING
        self.blocks.append([rounded, size, start, -1, stack, address, stream])
        row = len(self.blocks) - 1
        self.live[address] = row
        return row


def device_history(snapshot: Mapping[str, Any], device: int, frames: FrameReader) -> DeviceHistory:
    """Return what happened on `device` (its index in the snapshot)."""
    rows = _Rows()
    traces = snapshot.get("device_traces") or []
    for entry in traces[device] if device < len(traces) else ():
        _take(rows, entry, frames)
    segments = [s for s in snapshot.get("segments", ()) if s.get("device", 0) == device]
    _take_living(rows, segments, frames)
    return _history(rows, sum(s.get("total_size", 0) for s in segments))


class FrameReader:
    """Turns a snapshot's frames into stacks; each list of frames is read once.

    `is_skipped` tells which files are left out, `rename` how people know a file.
    """

    def __init__(
        self, stacks: StackBuilder, is_skipped: Callable[[str], bool], rename: Callable[[str], str]
    ) -> None:
        self._stacks = stacks
        self._is_skipped = is_skipped
        self._rename = rename
        self._known: dict[int, tuple[Any, int]] = {}

    def stack(self, frames: Sequence[Mapping[str, Any]] | None) -> int:
        """Return the stack of `frames` (innermost first), -1 when none of them is kept."""
        if not frames:
            return -1
        known = self._known.get(id(frames))
        if known is not None:
            return known[1]
        stack = -1
        for frame in reversed(frames):
            file = str(frame.get("filename", ""))
            if not self._is_skipped(file):
                line = int(frame.get("line", 0)) & 0x7FFFFFFF
                row = self._stacks.frame(self._rename(file), str(frame.get("name", "")), line)
                stack = self._stacks.push(stack, row)
        # The list is kept with its row so that its id is not used again while we rely on it.
        self._known[id(frames)] = (frames, stack)
        return stack


def _take(rows: _Rows, entry: Mapping[str, Any], frames: FrameReader) -> None:
    kind = ACTIONS.get(entry.get("action", ""))
    if kind is None:
        return
    size, address = int(entry.get("size", 0)), int(entry.get("addr", 0))
    if kind is EventKind.ALLOC:
        stack = frames.stack(entry.get("frames"))
        stream = int(entry.get("stream", 0))
        block = rows.block(size, len(rows.kind), stack, address, stream)
        rows.event(int(kind), entry, rows.blocks[block][0], block)
    elif kind in (EventKind.FREE, EventKind.FREE_REQUESTED):
        row = rows.live.get(address)
        if row is None:
            row = rows.block(size, -1, -1, address, int(entry.get("stream", 0)))
        if kind is EventKind.FREE:
            del rows.live[address]
            rows.blocks[row][3] = len(rows.kind)
        rows.event(int(kind), entry, rows.blocks[row][0], row)
    else:
        rows.event(int(kind), entry, size, -1)


def _take_living(rows: _Rows, segments: Sequence[Mapping[str, Any]], frames: FrameReader) -> None:
    """Add the blocks that are there at the end but were never seen to be allocated."""
    for segment in segments:
        address = int(segment.get("address", 0))
        for block in segment.get("blocks", ()):
            size = int(block.get("size", 0))
            here = int(block.get("address", address))
            address = here + size
            if block.get("state") not in _LIVE_STATES or here in rows.live:
                continue
            asked = int(block.get("requested_size", size))
            row = rows.block(
                asked, -1, frames.stack(block.get("frames")), here, segment.get("stream", 0)
            )
            rows.blocks[row][0] = size


def _history(rows: _Rows, reserved: int) -> DeviceHistory:
    blocks = np.array(rows.blocks, dtype=object).reshape(-1, 7)
    names = ("bytes", "requested", "start", "end", "stack", "address", "stream")
    types = ("i8", "i8", "i8", "i8", "i8", "u8", "i8")
    columns = {n: blocks[:, i].astype(t) for i, (n, t) in enumerate(zip(names, types, strict=True))}
    columns["end"][columns["end"] < 0] = len(rows.kind)
    events = {
        "time_ns": np.maximum.accumulate(np.array(rows.time_us, dtype="i8") * 1000)
        if rows.time_us
        else np.zeros(0, dtype="i8"),
        "kind": np.array(rows.kind, dtype="u1"),
        "bytes": np.array(rows.size, dtype="i8"),
        "allocation": np.array(rows.allocation, dtype="i8"),
        "address": np.array([a & 0xFFFFFFFFFFFFFFFF for a in rows.address], dtype="u8"),
        "stream": np.array([s & 0x7FFFFFFFFFFFFFFF for s in rows.stream], dtype="i8"),
    }
    return DeviceHistory(events, columns, reserved)
