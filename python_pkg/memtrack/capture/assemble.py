"""What was observed, made into a recording's tables: by the life of storages, or by history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memtrack.capture import merge
from memtrack.capture.hindsight import categories, phases_of, targets, with_inner_backward
from memtrack.capture.libraries import Sizes
from memtrack.capture.observer import Observer
from memtrack.capture.repeats import complete
from memtrack.capture.samples import settled_cuts
from memtrack.capture.stacks import is_machinery
from memtrack.readers.onetimeline import tables_of
from memtrack.readers.torch_snapshot import FrameReader, device_history
from memtrack.recording.categories import Category, EventKind
from memtrack.recording.tables import Array, Table

Tables = dict[str, dict[str, Array]]


@dataclass(frozen=True, slots=True)
class History:
    """What the allocator told: its snapshot, its segments at the beginning where they were read.

    `beginning_ns` is the recording's beginning on the trace's clock, nanoseconds; `libraries` the
    sizes of what libraries keep in the allocator.
    """

    snapshot: Mapping[str, Any]
    initial: Sequence[Mapping[str, Any]] | None
    beginning_ns: int
    libraries: Sizes


def tables_of_storages(observer: Observer, libraries: Sizes) -> dict[str, Table]:
    """Return the tables of a recording by the life of storages; `libraries` has sizes in bytes."""
    tables = _built(observer, "allocations", "phases", "saved", "events")
    tables["calls"] = observer.calls.columns()
    blocks, phases = tables["allocations"], tables["phases"]
    _take_lives(blocks, tables["events"])
    blocks["phase"] = phases_of(blocks["start"], phases)
    candidates, forward_ns = observer.storages.target_candidates()
    _name_targets(observer, tables, candidates, forward_ns, tables["events"]["time_ns"])
    return _finished(tables, libraries, older=Category.OTHER)  # each was seen as a tensor


def tables_of_history(
    observer: Observer, history: History, names: Callable[[str], str] | None
) -> dict[str, Table]:
    """Return the tables of a recording by the allocator's history."""
    tables = _built(observer, "phases", "marks", "samples", "readings")
    calls = tables["calls"] = observer.calls.columns()
    frames = FrameReader(observer.builder.stacks, is_machinery, names or str)
    devices = observer.blocks.device_rows()
    histories = [
        device_history(history.snapshot, device.index or 0, frames, history.initial)
        for device in sorted(devices, key=devices.__getitem__)
    ]
    joined, first_ns = tables_of(histories, observer.builder.strings)
    tables.update(merge.since(joined, first_ns, history.beginning_ns))
    blocks, segments = tables["allocations"], tables["segments"]
    times = tables["events"]["time_ns"]
    phases, trace = tables["phases"], observer.calls.backward_trace()
    merge.backward_windows(calls, trace, phases)
    merge.place_calls(calls, times)
    merge.place_phases(phases, times)
    for name in ("marks", "samples", "readings"):
        tables[name]["cut"] = merge.cuts_at(times, tables[name]["time_ns"])
    tables["samples"]["cut"] = settled_cuts(tables["samples"], segments, len(times))
    merge.attribute(blocks, times, calls, phases, trace)
    seen, saves = observer.sightings.columns(), observer.sightings.saves()
    merge.name_blocks(blocks, seen, merge.resolve(blocks, times, seen["address"], seen["seen_ns"]))
    blocks["phase"] = phases_of(blocks["start"], phases)
    found = merge.resolve(blocks, times, saves["address"], saves["seen_ns"])
    tables["saved"] = _saved_rows(saves, found, times)
    candidates = (found >= 0) & (saves["forward_ns"] >= 0)
    _name_targets(observer, tables, found[candidates], saves["forward_ns"][candidates], times)
    complete(tables, observer.passes.columns())
    blocks["phase"] = phases_of(blocks["start"], tables["phases"])
    return _finished(tables, history.libraries, older=Category.UNKNOWN)


def _saved_rows(saves: dict[str, Array], found: Array, times: Array) -> dict[str, Array]:
    """Return the saved table: each allocation once for each call that saves it, the first time."""
    rows = np.flatnonzero(found >= 0)
    pairs = np.stack((saves["call"][rows], found[rows]), axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    rows = rows[np.sort(first)]
    cut = merge.cuts_at(times, saves["seen_ns"][rows])
    return {"call": saves["call"][rows], "allocation": found[rows], "cut": cut}


def _take_lives(blocks: dict[str, Array], events: dict[str, Array]) -> None:
    """Fill in each allocation's start and end from its events.

    An interrupt can fall between an allocation's row and its event, which then counts nothing, or
    let a release be written twice, of which the second becomes an event of no bytes.
    """
    kind, row, count = events["kind"], events["allocation"], len(events["kind"])
    allocated = np.flatnonzero(kind == EventKind.ALLOC)
    freed = np.flatnonzero(kind == EventKind.FREE)
    _, first = np.unique(row[freed], return_index=True)
    again = np.delete(freed, first)
    kind[again] = int(EventKind.FREE_REQUESTED)
    freed = freed[np.sort(first)]
    start = np.full(len(blocks["start"]), -1, dtype=np.int64)
    end = np.full(len(start), count, dtype=np.int64)
    start[row[allocated]] = allocated
    end[row[freed]] = freed
    torn = (blocks["start"] >= 0) & (start < 0)
    blocks.update(start=start, end=end, bytes=np.where(torn, 0, blocks["bytes"]))
    of_blocks = row >= 0
    events["bytes"][of_blocks] = blocks["bytes"][row[of_blocks]]
    events["bytes"][again] = 0


def _built(observer: Observer, *names: str) -> Tables:
    built = {name: observer.builder[name].build().columns for name in names}
    return {name: {n: v.copy() for n, v in columns.items()} for name, columns in built.items()}


def _name_targets(
    observer: Observer, tables: Tables, candidates: Array, forward_ns: Array, times: Array
) -> None:
    """Name the targets of the loss among constants that it keeps, as part of the batch."""
    blocks = tables["allocations"]
    target = targets(blocks, candidates, forward_ns, times)
    blocks["category"][target] = int(Category.INPUT)
    blocks["name"][target] = observer.builder.strings.add("target")


def _finished(tables: Tables, libraries: Sizes, older: Category) -> dict[str, Table]:
    """Tell the category of what has no name from its life."""
    blocks, events = tables["allocations"], len(tables["events"]["kind"])
    blocks["category"] = categories(tables, events, libraries, older)
    tables["calls"] = with_inner_backward(tables["calls"])
    return {name: Table(name, columns) for name, columns in tables.items()}
