"""The allocator's history and what our probes saw, put together by time and by address.

The history knows every block and when it lived; the probes know which layer ran, what autograd kept
and which tensors are parameters, gradients, state and batch. What they wrote are sightings: an
address at a time. Each is found again among the blocks that were alive there and then.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtrack.analysis.ranges import smallest_cover
from memtrack.capture.hindsight import PRECEDENCE
from memtrack.recording.categories import Category, PhaseKind
from memtrack.recording.tables import Array, Table

HALF_MICROSECOND_NS = 500
"""Trace times are whole microseconds, rounded down: an event lies half of one later on average."""

Columns = dict[str, Array]


def since(tables: Mapping[str, Table], first_ns: int, beginning_ns: int) -> dict[str, Columns]:
    """Return events, allocations and segments from the recording's beginning on.

    `first_ns` is when the times of `tables` begin and `beginning_ns` when the recording does, both
    on the trace's clock. What ended before is left out, what began before has `start` -1.
    """
    cut: dict[str, Columns] = {name: dict(table.columns) for name, table in tables.items()}
    times = cut["events"]["time_ns"] + (first_ns + HALF_MICROSECOND_NS - beginning_ns)
    earlier = int(np.searchsorted(times, 0))
    cut["events"] = {name: values[earlier:] for name, values in cut["events"].items()}
    cut["events"]["time_ns"] = times[earlier:]
    for name in ("allocations", "segments"):
        kept = cut[name]["end"] >= earlier
        if name == "allocations":
            row = np.append(np.cumsum(kept) - 1, -1)
            cut["events"]["allocation"] = row[cut["events"]["allocation"]]
        cut[name] = {column: values[kept] for column, values in cut[name].items()}
        cut[name]["start"] = np.maximum(cut[name]["start"] - earlier, -1)
        cut[name]["end"] = cut[name]["end"] - earlier
    return cut


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


def resolve(blocks: Columns, event_times: Array, address: Array, seen_ns: Array) -> Array:
    """Return the block behind each sighting, -1 where none was alive at its address and time."""
    addresses, rank = np.unique(blocks["address"], return_inverse=True)
    events = len(event_times)
    if not len(addresses):
        return np.full(len(seen_ns), -1)
    # One number per block that sorts by address, then by start, so that one search finds both.
    keys = rank.astype(np.int64) * (events + 2) + blocks["start"] + 1
    order = np.argsort(keys)
    cut = cuts_at(event_times, seen_ns)
    seen = address.astype(addresses.dtype)
    seen_rank = np.minimum(np.searchsorted(addresses, seen), len(addresses) - 1)
    at = np.searchsorted(keys[order], seen_rank * (events + 2) + cut, side="right") - 1
    found = order[np.maximum(at, 0)]
    alive = (at >= 0) & (blocks["address"][found] == seen)
    alive &= (blocks["start"][found] < np.maximum(cut, 0)) & (blocks["end"][found] >= cut)
    return np.where(alive, found, -1)


def name_blocks(blocks: Columns, sightings: Columns, found: Array) -> None:
    """Give blocks the category, layer and name they were sighted with, the weightiest last."""
    rows = len(blocks["bytes"])
    blocks["category"] = np.zeros(rows, dtype="u1")
    blocks["name"] = np.full(rows, -1)
    for known in sorted(PRECEDENCE, key=lambda c: PRECEDENCE[c]):
        if known is Category.UNKNOWN:
            continue
        chosen = (sightings["category"] == known) & (found >= 0)
        if known is Category.INPUT:  # what another tracked model made is its output, not a batch
            chosen &= blocks["call"][found] < 0
        at = found[chosen]
        blocks["category"][at] = int(known)
        for column in ("name", "layer"):
            given = sightings[column][chosen]
            blocks[column][at[given >= 0]] = given[given >= 0]


def backward_windows(calls: Columns, backward: tuple[Array, Array], phases: Columns) -> None:
    """Fill in when each call's backward ran: from the reading of what it saved to the next."""
    when, call = backward
    if not len(when):
        return
    phase = np.searchsorted(phases["start_ns"], when, side="right") - 1
    until = np.minimum(np.append(when[1:], np.iinfo(np.int64).max), phases["end_ns"][phase])
    until = np.maximum(until, when)
    known = call >= 0
    first = np.full(len(calls["layer"]), np.iinfo(np.int64).max)
    np.minimum.at(first, call[known], when[known])
    last = np.full(len(first), -1)
    np.maximum.at(last, call[known], until[known])
    seen = last >= 0
    calls["backward_start_ns"] = np.where(seen, first, -1)
    calls["backward_end_ns"] = last
