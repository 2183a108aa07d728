"""The histories of several devices as the tables of one recording, their events on one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memtrack.readers.devicehistory import DeviceHistory
from memtrack.recording import Table
from memtrack.recording.builder import StringBuilder
from memtrack.recording.tables import Array

Columns = Mapping[str, Array]


def tables_of(
    histories: Sequence[DeviceHistory], strings: StringBuilder
) -> tuple[dict[str, Table], int]:
    """Return the tables of events, allocations and segments, and when the first event was.

    A history's place in the sequence is its row of the devices. Times become nanoseconds since the
    first event, whose own is since the epoch (0 where the trace has no times).
    """
    counts = [len(history.events["kind"]) for history in histories]
    times = np.concatenate([np.zeros(0, dtype=np.int64), *(h.events["time_ns"] for h in histories)])
    # Entries of a torch that tells no times, or of one device among them, come at the beginning.
    begin = int(times[times > 0].min(initial=np.iinfo(np.int64).max)) if times.any() else 0
    times = np.maximum(times - begin, 0)
    place = _places(times, counts)
    events, blocks, segments = [], [], []
    blocks_before = 0
    for row, history in enumerate(histories):
        move = _Move(sum(counts[:row]), counts[row], place, sum(counts))
        numbers = dict(history.events)
        allocation = numbers["allocation"]
        if blocks_before:
            numbers["allocation"] = np.where(allocation < 0, -1, allocation + blocks_before)
        events.append(_with_device(numbers, row))
        blocks.append(_with_device(move.edges(history.allocations), row))
        pools = [strings.add(name) if name else -1 for name in history.pools]
        held = {**move.edges(history.segments), "pool": np.array(pools, dtype=np.int32)}
        segments.append(_with_device(held, row))
        blocks_before += len(history.allocations["bytes"])
    ordered = {**_concatenated(events), "time_ns": times}
    if place is not None:
        order = np.argsort(place)
        ordered = {name: values[order] for name, values in ordered.items()}
    return {
        "events": Table("events", ordered),
        "allocations": Table("allocations", {**_concatenated(blocks), "category": _zeros(blocks)}),
        "segments": Table("segments", _concatenated(segments)),
    }, begin


def _places(times: Array, counts: Sequence[int]) -> Array | None:
    """Return where each event goes, in order of time; None where they are in order already."""
    if sum(count > 0 for count in counts) < 2:
        return None
    place = np.empty(len(times), dtype=np.int64)
    place[np.argsort(times, kind="stable")] = np.arange(len(times))
    return place


class _Move:
    """Takes events of one device's history, numbered from 0, to their places among all."""

    def __init__(self, offset: int, count: int, place: Array | None, total: int) -> None:
        self._count = count
        self._total = total
        self._place = place if place is None else place[offset : offset + count]

    def edges(self, columns: Columns) -> dict[str, Array]:
        """Return the columns with `start` and `end` moved."""
        if self._place is None and self._count == self._total:
            return dict(columns)
        return {**columns, **{name: self._moved(columns[name]) for name in ("start", "end")}}

    def _moved(self, event: Array) -> Array:
        if self._place is None:  # a device without events
            return np.where(event < 0, -1, self._total)
        places = np.append(self._place, self._total)
        return np.where(event < 0, -1, places[event])


def _with_device(columns: Columns, row: int) -> dict[str, Array]:
    rows = len(next(iter(columns.values())))
    return {**columns, "device": np.full(rows, row, dtype=np.int16)}


def _zeros(parts: Sequence[Columns]) -> Array:
    return np.zeros(sum(len(part["bytes"]) for part in parts), dtype=np.uint8)


def _concatenated(parts: Sequence[Columns]) -> dict[str, Array]:
    if len(parts) == 1:
        return dict(parts[0])
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
