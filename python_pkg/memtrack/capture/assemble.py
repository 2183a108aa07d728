"""What was observed, made into a recording's tables: by the life of storages, or by history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from memtrack.capture import merge
from memtrack.capture.hindsight import categories, phases_of, targets, with_inner_backward
from memtrack.capture.observer import Observer
from memtrack.capture.stacks import is_machinery
from memtrack.readers.torch_snapshot import FrameReader, device_history
from memtrack.recording.categories import Category, EventKind
from memtrack.recording.tables import Array, Table

Tables = dict[str, dict[str, Array]]


def tables_of_storages(observer: Observer) -> dict[str, Table]:
    """Return the tables of a recording by the life of storages."""
    tables = _built(observer, "allocations", "calls", "phases", "saved", "events")
    blocks = tables["allocations"]
    _take_lives(blocks, tables["events"])
    rows = np.arange(len(blocks["end"]))
    return _finished(observer, tables, rows, tables["events"]["time_ns"])


def tables_of_history(
    observer: Observer,
    snapshot: Mapping[str, Any],
    beginning_ns: int,
    names: Callable[[str], str] | None,
) -> dict[str, Table]:
    """Return the tables of a recording by the allocator's history.

    `beginning_ns` is the recording's beginning on the trace's clock, nanoseconds.
    """
    tables = _built(observer, "allocations", "calls", "phases", "saved", "marks", "samples")
    frames = FrameReader(observer.builder.stacks, is_machinery, names or str)
    histories = [
        (row, device_history(snapshot, device.index or 0, frames))
        for device, row in observer.blocks.device_rows().items()
        if device.type == "cuda"
    ]
    events, blocks = merge.merge_histories(histories, beginning_ns)
    times = events["time_ns"]
    merge.place_calls(tables["calls"], times)
    merge.place_phases(tables["phases"], times)
    for name in ("marks", "samples"):
        tables[name]["cut"] = merge.cuts_at(times, tables[name]["time_ns"])
    sightings = merge.Sightings(tables["allocations"], observer.blocks.seen_ns())
    trace = observer.calls.backward_trace()
    merge.attribute(blocks, times, tables["calls"], tables["phases"], trace)
    found = merge.resolve(blocks, times, sightings)
    merge.name_blocks(blocks, sightings, found)
    saved = tables["saved"]
    kept = found[saved["allocation"]]
    saved["allocation"] = kept
    saved["cut"] = merge.cuts_at(times, observer.saved_ns())
    tables["saved"] = {name: values[kept >= 0] for name, values in saved.items()}
    tables.update(events=events, allocations=blocks)
    return _finished(observer, tables, found, times)


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
    events["bytes"] = blocks["bytes"][row]
    events["bytes"][again] = 0


def _built(observer: Observer, *names: str) -> Tables:
    built = {name: observer.builder[name].build().columns for name in names}
    return {name: {n: v.copy() for n, v in columns.items()} for name, columns in built.items()}


def _finished(observer: Observer, tables: Tables, rows: Array, times: Array) -> dict[str, Table]:
    """Fill in phases and categories; `rows` are the allocations behind the observer's rows."""
    blocks, phases = tables["allocations"], tables["phases"]
    blocks["phase"] = phases_of(blocks["start"], phases)
    candidates, forward_ns = observer.target_candidates()
    found = rows[candidates]
    target = targets(blocks, found[found >= 0], forward_ns[found >= 0], times)
    for column, value in (
        ("category", int(Category.INPUT)),
        ("name", observer.builder.strings.add("target")),
    ):
        blocks[column] = blocks[column].copy()
        blocks[column][target] = value
    blocks["category"] = categories(blocks, phases, tables["saved"], len(times))
    tables["calls"] = with_inner_backward(tables["calls"])
    return {name: Table(name, columns) for name, columns in tables.items()}
