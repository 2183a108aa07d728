"""A scene run again: through the simulated allocator, and as a recording of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memtrack.allocator.replay import recorded_settings
from memtrack.allocator.rules import SMALL_SEGMENT, SMALL_SIZE
from memtrack.allocator.settings import Settings
from memtrack.allocator.simulator import CachingAllocator
from memtrack.recording import EventKind, RecordingData
from memtrack.recording.data import Facts
from memtrack.recording.tables import TABLES, Array, Table
from memtrack.remedies.base import LASTING, OLDER, SCALE, after_cut
from memtrack.remedies.scene import Scene

MOST_EDGES = 16_000
"""Beginnings and ends of blocks that are simulated one by one: a tenth of a second."""


def reserved_peak(scene: Scene, settings: Settings | None = None) -> int | None:
    """Return the most bytes that the simulated allocator reserves for a scene; None where none serves it.

    What was there before is requested first, in the order of its rows. In a long window blocks of the
    small pool are counted rather than simulated: it is a pool of its own, which hardly fragments. Where
    the others alone are too many, the step of the peak is simulated without the one before it.
    """
    if not scene.ground.is_cached:
        return None
    known = settings or recorded_settings(scene.ground.data)
    if len(scene.edges[0]) <= MOST_EDGES:
        return _simulated(scene, known)
    small = scene["requested"] <= SMALL_SIZE
    counted = scene.only(small).peak if small.any() else 0
    large = scene.only(~small)
    since = _last_step(scene) if len(large.edges[0]) > MOST_EDGES else OLDER
    return _simulated(large, known, since) + -(-counted // SMALL_SEGMENT) * SMALL_SEGMENT


def _last_step(scene: Scene) -> int:
    """Return the position at which the last step of the window begins."""
    ground = scene.ground
    steps = ground.data.phases["step"][ground.phase_rows]
    return int(ground.phase_start[steps == steps[-1]][0]) if len(steps) else OLDER


def _simulated(scene: Scene, settings: Settings, since: int = OLDER) -> int:
    """Return what is reserved in the end, which is the most: nothing is given back."""
    allocator = CachingAllocator(settings)
    malloc, free = allocator.malloc, allocator.free
    requested = scene["requested"].tolist()
    streams = np.maximum(scene["stream"], 0).tolist()
    older = np.flatnonzero(scene.alive_at(since)).tolist()
    blocks = {row: malloc(requested[row], streams[row]) for row in older}
    position, rows, signs = scene.edges
    first = int(np.searchsorted(position, since, side="right"))
    for row, sign in zip(rows[first:].tolist(), signs[first:].tolist(), strict=True):
        if sign > 0:
            blocks[row] = malloc(requested[row], streams[row])
        else:
            free(blocks.pop(row))
    return allocator.reserved


def to_recording(scene: Scene) -> RecordingData:
    """Return the scene as a recording of its window, which keeps layers, calls and phases.

    What was measured of the run as it was (samples, statistics, segments) is not in it.
    """
    ground = scene.ground
    data = ground.data
    position, block, sign = scene.edges
    at = np.full(len(scene), -1, dtype=np.int64)
    until = np.full(len(scene), len(position), dtype=np.int64)
    at[block[sign > 0]] = np.flatnonzero(sign > 0)
    until[block[sign < 0]] = np.flatnonzero(sign < 0)
    cuts = _Cuts(scene, position)
    phases, phase_row = _phases(scene, cuts)
    calls, call_row = _calls(scene, cuts, phase_row)
    allocations = {
        name: scene[name] for name in ("bytes", "requested", "category", "layer", "stream")
    }
    allocations |= {
        "device": np.full(len(scene), ground.device),
        "start": at,
        "end": until,
        "call": call_row[scene["call"]],
        "phase": _phase_of(phases, at),
        "stack": _kept(data.allocations["stack"], scene["row"]),
        "name": _kept(data.allocations["name"], scene["row"]),
    }
    tables = {name: Table(name, {}) for name in TABLES}
    for name in ("layers", "devices", "frames", "stacks"):
        tables[name] = data.tables[name]
    tables["events"] = _events(scene, cuts, position, block, sign)
    tables["allocations"] = Table("allocations", allocations)
    tables["phases"] = Table("phases", phases)
    tables["calls"] = Table("calls", calls)
    tables["saved"] = _saved(scene, cuts, call_row)
    facts = Facts(label=data.facts.label, evidence="predicted", source=data.facts.source)
    facts = replace(facts, versions=data.facts.versions, extra=data.facts.extra)
    return RecordingData(facts, data.strings, tables)


class _Cuts:
    """Cuts of the recording to cuts of the scene."""

    def __init__(self, scene: Scene, position: Array) -> None:
        self._position = position
        self._first, self._last = scene.ground.first, scene.ground.last
        times = np.concatenate(([0], scene.ground.data.events["time_ns"]))
        self._times = times

    def of(self, cuts: Array) -> Array:
        """Return the new cuts; -1 stays -1, what lies outside the window goes to its edge."""
        inside = np.clip(cuts, self._first, self._last)
        found = np.searchsorted(self._position, after_cut(inside))
        found = np.where(inside >= self._last, len(self._position), found)
        found = np.where(inside <= self._first, 0, found)
        return np.where(cuts < 0, -1, found)

    def times(self, position: Array) -> Array:
        """Return when each position is reached: the time of the event before it, nanoseconds."""
        event = np.clip(position // SCALE, 0, len(self._times) - 2)
        return np.maximum.accumulate(self._times[event + 1]) if len(event) else event


def _events(scene: Scene, cuts: _Cuts, position: Array, block: Array, sign: Array) -> Table:
    columns = {
        "time_ns": cuts.times(position),
        "kind": np.where(sign > 0, int(EventKind.ALLOC), int(EventKind.FREE)),
        "device": np.full(len(position), scene.ground.device),
        "bytes": scene["bytes"][block],
        "allocation": block,
        "stream": scene["stream"][block],
    }
    return Table("events", columns)


def _phases(scene: Scene, cuts: _Cuts) -> tuple[dict[str, Array], Array]:
    """Return the phases of the window, and the new row of each of the recording's (-1: none)."""
    ground = scene.ground
    table, rows = ground.data.phases, ground.phase_rows
    moved = np.full(len(table) + 1, -1, dtype=np.int64)
    moved[rows] = np.arange(len(rows))
    columns = {name: table[name][rows].astype(np.int64) for name in table.columns}
    if len(rows):
        columns["step"] -= columns["step"][0]
        columns["start"] = cuts.of(columns["start"])
        columns["start"][0] = 0
        columns["end"] = np.append(columns["start"][1:], len(scene.edges[0]))
    return columns, moved


def _phase_of(phases: dict[str, Array], at: Array) -> Array:
    found = np.searchsorted(phases["start"], at, side="right") - 1
    return np.where(at < 0, -1, found)


def _calls(scene: Scene, cuts: _Cuts, phase_row: Array) -> tuple[dict[str, Array], Array]:
    ground = scene.ground
    table, rows = ground.data.calls, ground.calls
    moved = np.full(len(table) + 1, -1, dtype=np.int64)
    moved[rows] = np.arange(len(rows))
    columns = {name: table[name][rows].astype(np.int64) for name in table.columns}
    columns["parent"] = moved[columns["parent"]]
    columns["phase"] = phase_row[columns["phase"]]
    for name in ("start", "end", "backward_start", "backward_end"):
        columns[name] = cuts.of(columns[name])
    return columns, moved


def _saved(scene: Scene, cuts: _Cuts, call_row: Array) -> Table:
    """Return what autograd keeps, of the blocks that stand for those it kept and of the calls there are."""
    data = scene.ground.data
    stands = np.full(len(data.allocations), -1, dtype=np.int64)
    known = np.flatnonzero(scene["row"] >= 0)
    stands[scene["row"][known[::-1]]] = known[::-1]
    allocation, call = stands[data.saved["allocation"]], call_row[data.saved["call"]]
    kept = (allocation >= 0) & (call >= 0)
    columns = {"call": call, "allocation": allocation, "cut": cuts.of(data.saved["cut"])}
    return Table("saved", {name: values[kept] for name, values in columns.items()})


def _kept(column: Array, rows: Array) -> Array:
    return np.append(column, -1)[rows] if len(column) else np.full(len(rows), -1)


def is_whole(scene: Scene) -> bool:
    """Tell whether every life is sound: it begins before it ends, and holds something."""
    alive = (scene["start"] < scene["end"]) & (scene["bytes"] > 0)
    return bool(alive.all()) and bool((scene["end"] <= LASTING).all())
