"""The allocator's history and what our probes saw, put together by time and by address.

The history knows every block and when it lived; the probes know which layer ran, what autograd kept
and which tensors are parameters, gradients, state and batch. The rows that the probes wrote as
`allocations` are sightings: an address at a time. Each is found again among the blocks that were
alive there and then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.analysis.ranges import smallest_cover
from memtrack.capture.hindsight import PRECEDENCE
from memtrack.readers.torch_snapshot import DeviceHistory
from memtrack.recording.categories import Category, PhaseKind
from memtrack.recording.tables import Array

HALF_MICROSECOND_NS = 500
"""Trace times are whole microseconds, rounded down: an event lies half of one later on average."""

Columns = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Sightings:
    """What the probes saw: columns of the `allocations` table they wrote, and when, nanoseconds."""

    columns: Mapping[str, Array]
    seen_ns: Array


def merge_histories(
    histories: Sequence[tuple[int, DeviceHistory]], beginning_ns: int
) -> tuple[Columns, Columns]:
    """Return events and allocations of several devices (row, history) on one clock.

    `beginning_ns` is the recording's beginning on the trace's clock. What ended before it is left
    out, what began before it has `start` -1.
    """
    events, blocks = _joined(histories)
    events["time_ns"] += HALF_MICROSECOND_NS - beginning_ns
    order = np.argsort(events["time_ns"], kind="stable")
    order = order[events["time_ns"][order] >= 0]
    new_place = np.full(len(events["time_ns"]) + 1, -1, dtype=np.int64)
    new_place[order] = np.arange(len(order))
    events = {name: values[order] for name, values in events.items()}
    ends_inside = blocks["end"] >= 0
    blocks["end"] = np.where(ends_inside, new_place[blocks["end"]], len(order))
    blocks["start"] = np.where(blocks["start"] >= 0, new_place[blocks["start"]], -1)
    kept = blocks["end"] >= 0
    renumbered = np.cumsum(kept) - 1
    has_block = events["allocation"] >= 0
    events["allocation"] = np.where(has_block, renumbered[events["allocation"]], -1)
    return events, {name: values[kept] for name, values in blocks.items()}


def _joined(histories: Sequence[tuple[int, DeviceHistory]]) -> tuple[Columns, Columns]:
    events, blocks = [], []
    event_count = block_count = 0
    for row, history in histories:
        own_events, own_blocks = dict(history.events), dict(history.allocations)
        count, size = len(own_events["kind"]), len(own_blocks["bytes"])
        own_events["device"] = np.full(count, row)
        own_blocks["device"] = np.full(size, row)
        has_block = own_events["allocation"] >= 0
        own_events["allocation"] = np.where(has_block, own_events["allocation"] + block_count, -1)
        alive = own_blocks["end"] >= count
        own_blocks["end"] = np.where(alive, -1, own_blocks["end"] + event_count)
        inside = own_blocks["start"] >= 0
        own_blocks["start"] = np.where(inside, own_blocks["start"] + event_count, -1)
        event_count, block_count = event_count + count, block_count + size
        events.append(own_events)
        blocks.append(own_blocks)
    return _concatenated(events), _concatenated(blocks)


def _concatenated(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def cuts_at(event_times: Array, moments_ns: Array) -> Array:
    """Return the cut at each moment: how many events came before it."""
    return np.asarray(np.searchsorted(event_times, moments_ns, side="left"))


def place_calls(calls: Columns, event_times: Array) -> None:
    """Fill in the cuts of calls from their times."""
    for name in ("start", "end"):
        calls[name] = cuts_at(event_times, calls[f"{name}_ns"])
        seen = calls[f"backward_{name}_ns"] >= 0
        placed = cuts_at(event_times, calls[f"backward_{name}_ns"])
        calls[f"backward_{name}"] = np.where(seen, placed, -1)


def place_phases(phases: Columns, event_times: Array) -> None:
    """Fill in the cuts of phases, back to back over all events."""
    starts = cuts_at(event_times, phases["start_ns"])
    starts[0] = 0
    phases["start"] = starts
    phases["end"] = np.append(starts[1:], len(event_times))


def attribute(
    blocks: Columns,
    event_times: Array,
    calls: Columns,
    phases: Columns,
    backward: tuple[Array, Array],
) -> None:
    """Fill in which call and layer made each block.

    In forward that is the innermost call under way. In backward it is the call whose saved tensor
    was unpacked last: `backward` has the times and calls of unpacking, in order.
    """
    made = blocks["start"] >= 0
    when = event_times[blocks["start"][made]]
    order = np.argsort(when, kind="stable")
    call = np.full(len(when), -1)
    call[order] = smallest_cover(when[order], calls["start_ns"], calls["end_ns"])
    phase = np.searchsorted(phases["start"], blocks["start"][made], side="right") - 1
    unpack_ns, unpack_call = backward
    if len(unpack_ns):
        latest = np.searchsorted(unpack_ns, when, side="right") - 1
        in_backward = (phases["kind"][phase] == PhaseKind.BACKWARD) & (call < 0) & (latest >= 0)
        in_backward &= unpack_ns[latest] >= phases["start_ns"][phase]
        call = np.where(in_backward, unpack_call[latest], call)
    blocks["call"] = np.full(len(made), -1)
    blocks["call"][made] = call
    layer_of = np.append(calls["layer"], -1)
    blocks["layer"] = layer_of[blocks["call"]]


def resolve(blocks: Columns, event_times: Array, sightings: Sightings) -> Array:
    """Return the block behind each sighting, -1 where none was alive at its address and time."""
    addresses, rank = np.unique(blocks["address"], return_inverse=True)
    events = len(event_times)
    if not len(addresses):
        return np.full(len(sightings.seen_ns), -1)
    # One number per block that sorts by address, then by start, so that one search finds both.
    keys = rank.astype(np.int64) * (events + 2) + blocks["start"] + 1
    order = np.argsort(keys)
    cut = cuts_at(event_times, sightings.seen_ns)
    seen = sightings.columns["address"]
    seen_rank = np.minimum(np.searchsorted(addresses, seen), len(addresses) - 1)
    at = np.searchsorted(keys[order], seen_rank * (events + 2) + cut, side="right") - 1
    found = order[np.maximum(at, 0)]
    alive = (at >= 0) & (blocks["address"][found] == seen)
    alive &= (blocks["start"][found] < np.maximum(cut, 0)) & (blocks["end"][found] >= cut)
    alive &= blocks["device"][found] == sightings.columns["device"]
    return np.where(alive, found, -1)


def name_blocks(blocks: Columns, sightings: Sightings, found: Array) -> None:
    """Give blocks the category, layer and name they were sighted with, the weightiest last."""
    rows = len(blocks["bytes"])
    blocks["category"] = np.zeros(rows, dtype="u1")
    blocks["name"] = np.full(rows, -1)
    category = sightings.columns["category"]
    for known in sorted(PRECEDENCE, key=lambda c: PRECEDENCE[c]):
        if known is Category.UNKNOWN:
            continue
        chosen = (category == known) & (found >= 0)
        at = found[chosen]
        blocks["category"][at] = int(known)
        blocks["name"][at] = sightings.columns["name"][chosen]
        blocks["layer"][at] = sightings.columns["layer"][chosen]
