"""What a torch allocator snapshot says happened on one device, as columns.

Comes in: the dictionary of `torch.cuda.memory._snapshot()`, every field beyond the first versions'
optional. Goes out: events with their allocations, segments and stacks, in the order of the trace.
What was there before the trace began has `start` -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.allocator.layout import Lives, charged_sizes, rounded_sizes
from memtrack.allocator.settings import Settings
from memtrack.readers.blocks import Blocks, read_blocks
from memtrack.readers.held import Segments, read_segments
from memtrack.readers.lives import Pairs, in_turns, pair
from memtrack.readers.stacks import FrameReader
from memtrack.readers.trace import Trace, read_trace, whole
from memtrack.recording.categories import EventKind
from memtrack.recording.tables import Array

LATEST_US = 1 << 52
"""Microseconds since the epoch, in the year 2112: later times are damage, and would leave int64."""
LARGEST_REQUEST = 1 << 62
"""Bytes: a request that failed may have been for more than any memory, and is rounded up later."""


@dataclass(frozen=True, slots=True)
class DeviceHistory:
    """Columns of one device's history; times are nanoseconds since the epoch, 0 where unknown."""

    events: Mapping[str, Array]
    allocations: Mapping[str, Array]
    segments: Mapping[str, Array]
    """Columns of the segments table except `device` and `pool`."""
    pools: Sequence[str]
    """Of each segment the id of its private pool such as `0.1`, "" for the default pool."""
    reserved: int
    """Bytes of the segments at the moment of the snapshot."""
    torn: int = 0
    """Events that were left out, having no counterpart."""


def device_history(
    snapshot: Mapping[str, Any],
    device: int,
    frames: FrameReader,
    initial: Sequence[Mapping[str, Any]] | None = None,
) -> DeviceHistory:
    """Return what happened on `device` (its index in the snapshot), leaving the snapshot as it is.

    `initial` are the `segments` of a snapshot taken when the history began: they tell the exact
    sizes and stacks of blocks that were freed since. Without them these are rebuilt.
    """
    traces = snapshot.get("device_traces") or ()
    entries = traces[device] if device < len(traces) else ()
    whole_trace = read_trace(entries, frames)
    trace, turns = in_turns(whole_trace)
    final = segments_of(snapshot.get("segments"), device)
    settings = Settings.from_snapshot(snapshot.get("allocator_settings"))
    at_end = read_blocks(final, frames)
    at_start = read_blocks(segments_of(initial, device), frames)
    segments = read_segments(trace, final, frames)
    pairs = pair(trace, turns, at_end, at_start, segments)
    charged = _charged(pairs, at_end, segments, settings)
    return DeviceHistory(
        events=_events(trace, pairs, charged),
        allocations=_allocations(pairs, charged),
        segments=segments.columns,
        pools=segments.pools,
        reserved=sum(whole(segment.get("total_size")) for segment in final),
        torn=len(whole_trace) - len(trace),
    )


def segments_of(segments: Any, device: int) -> list[Mapping[str, Any]]:
    """Return a device's segments; the first device's have no index in the oldest snapshots."""
    return [segment for segment in segments or () if segment.get("device", 0) == device]


def _charged(pairs: Pairs, final: Blocks, segments: Segments, settings: Settings) -> Array:
    known = pairs.exact >= 0
    size = np.where(known, pairs.exact, rounded_sizes(pairs.requested, settings))
    blocks = Lives(pairs.address, size, pairs.start, pairs.reusable)
    columns = segments.columns
    held = Lives(*(columns[name] for name in ("address", "bytes", "start", "end")))
    return charged_sizes(blocks, known, held, columns["expandable"] != 0, settings)


def _events(trace: Trace, pairs: Pairs, charged: Array) -> dict[str, Array]:
    has_block = pairs.allocation >= 0
    row = pairs.allocation
    size = trace.size.copy()
    size[has_block] = charged[row[has_block]]
    failed = trace.kind == EventKind.OOM
    size[failed] = np.minimum(size[failed], LARGEST_REQUEST)
    stream = trace.stream.copy()
    stream[has_block] = pairs.stream[row[has_block]]
    return {
        "time_ns": np.maximum.accumulate(np.minimum(trace.time_us, LATEST_US)) * 1000,
        "kind": trace.kind,
        "bytes": size,
        "allocation": row,
        "address": trace.address,
        "stream": stream,
    }


def _allocations(pairs: Pairs, charged: Array) -> dict[str, Array]:
    return {
        "bytes": charged,
        "requested": np.minimum(pairs.requested, charged),
        "start": pairs.start,
        "end": pairs.end,
        "stack": pairs.stack,
        "address": pairs.address,
        "stream": pairs.stream,
    }
