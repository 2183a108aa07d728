"""The blocks in a snapshot's `segments`, as columns: what the allocator held at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.readers.stacks import FrameReader
from memtrack.readers.trace import whole
from memtrack.recording.tables import Array

_PENDING = ("active_pending_free", "active_awaiting_free")


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks in use, in order of their addresses.

    `live` tells those that are allocated; the others were freed but wait for a stream.
    """

    address: Array
    size: Array
    requested: Array
    stream: Array
    stack: Array
    live: Array

    def live_at(self, addresses: Array) -> Array:
        """Return the row of the live block at each address, -1 for none."""
        return self._row_at(addresses, self.live)

    def waiting_at(self, addresses: Array) -> Array:
        """Return the row of the block at each address that waits for a stream, -1 for none."""
        return self._row_at(addresses, ~self.live)

    def _row_at(self, addresses: Array, chosen: Array) -> Array:
        if not len(self.address):
            return np.full(len(addresses), -1)
        place = np.minimum(np.searchsorted(self.address, addresses), len(self.address) - 1)
        return np.where((self.address[place] == addresses) & chosen[place], place, -1)


def read_blocks(segments: Sequence[Mapping[str, Any]], frames: FrameReader) -> Blocks:
    """Return the blocks in use of some segments."""
    rows: dict[int, tuple[int, ...]] = {}
    for segment in segments:
        stream = whole(segment.get("stream"))
        for address, block in _placed(segment):
            state = block.get("state")
            if state == "active_allocated" or state in _PENDING:
                size = whole(block.get("size"))
                row = (address, size, *_asked(block, size, frames), stream)
                rows.setdefault(address, (*row, state == "active_allocated"))
    table = np.array(sorted(rows.values()), dtype=object).reshape(-1, 6)
    return Blocks(
        address=table[:, 0].astype(np.uint64),
        size=table[:, 1].astype(np.int64),
        requested=table[:, 2].astype(np.int64),
        stack=table[:, 3].astype(np.int32),
        stream=table[:, 4].astype(np.int64),
        live=table[:, 5].astype(bool),
    )


def _placed(segment: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Return the blocks of a segment with their addresses, which the oldest torches do not tell."""
    address = whole(segment.get("address"), 64)
    blocks = segment.get("blocks")
    for block in blocks if isinstance(blocks, list | tuple) else ():
        if isinstance(block, dict):
            if "address" in block:
                address = whole(block["address"], 64)
            yield address, block
            address = (address + whole(block.get("size"))) & 0xFFFF_FFFF_FFFF_FFFF


def _asked(block: Mapping[str, Any], size: int, frames: FrameReader) -> tuple[int, int]:
    """Return what was asked for, bytes, and the stack: until torch 2.0 both are in `history`."""
    history = block.get("history")
    if isinstance(history, list | tuple) and history and isinstance(history[0], dict):
        latest = history[0]
        return whole(latest.get("real_size", size)), frames.stack(latest.get("frames"))
    return whole(block.get("requested_size", size)), frames.stack(block.get("frames"))
