"""A large recording in a moment: training steps of a model of blocks of layers, made of columns.

Each layer keeps an activation and uses a temporary in forward, makes a gradient and a temporary in
backward, and a temporary in the optimizer step: ten events a layer and step.
"""

from __future__ import annotations

import numpy as np

from memtrack.recording import Category, EventKind, Facts, PhaseKind, RecordingData, Table
from memtrack.recording.tables import TABLES, Array

EVENTS_A_LAYER = 10
FORWARD, BACKWARD, OPTIMIZER = 3, 4, 3
ACTIVATION, SCRATCH, GRADIENT, PASSED, UPDATE = range(5)
# What each event does to which of the layer's five allocations of a step.
_SCRIPT = (
    (ACTIVATION, SCRATCH, SCRATCH),
    (PASSED, GRADIENT, ACTIVATION, PASSED),
    (UPDATE, UPDATE, GRADIENT),
)
_CATEGORIES = (
    Category.ACTIVATION,
    Category.TEMPORARY,
    Category.GRADIENT,
    Category.TEMPORARY,
    Category.TEMPORARY,
)


def large_recording(steps: int = 10, blocks: int = 100, leaves: int = 100) -> RecordingData:
    """Return a recording of `10 * steps * blocks * leaves` events on one device."""
    layers, leaf_rows = _layers(blocks, leaves)
    events, allocations = _events(steps, leaf_rows)
    calls = _calls(steps, blocks, leaves, len(layers["parent"]))
    strings = ["", *(f"layer{row}" for row in range(len(layers["parent"]))), "8×512×768", "float32"]
    tables = {name: Table(name, {}) for name in TABLES}
    tables["devices"] = Table(
        "devices",
        {"kind": [0], "index": [0], "name": [0], "total": [80 << 30], "context": [1 << 29]},
    )
    calls["output_shape"] = np.full(len(calls["layer"]), len(strings) - 2)
    calls["output_dtype"] = np.full(len(calls["layer"]), len(strings) - 1)
    activation = np.flatnonzero(allocations["category"] == Category.ACTIVATION)
    saved = {
        "call": allocations["call"][activation],
        "allocation": activation,
        "cut": allocations["start"][activation] + 1,
    }
    columns = {
        "events": events,
        "allocations": allocations,
        "layers": layers,
        "calls": calls,
        "saved": saved,
        "phases": _phases(steps, len(leaf_rows)),
    }
    tables |= {name: Table(name, table) for name, table in columns.items()}
    return RecordingData(Facts(), strings, tables)


def _layers(blocks: int, leaves: int) -> tuple[dict[str, Array], Array]:
    count = 1 + blocks * (1 + leaves)
    rows = np.arange(count)
    inner = (rows - 1) % (1 + leaves)
    is_block = (rows > 0) & (inner == 0)
    parent = np.where(is_block, 0, rows - inner)
    parent[0] = -1
    subtree = np.where(is_block, 1 + leaves, 1)
    subtree[0] = count
    depth = np.where(is_block, 1, 2)
    depth[0] = 0
    numbers = {"parameters": np.full(count, 1 << 18), "parameter_bytes": np.full(count, 1 << 20)}
    names = dict.fromkeys(("name", "path", "type"), rows + 1)
    layers = {"parent": parent, "depth": depth, "subtree": subtree, **names, **numbers}
    return layers, np.flatnonzero(depth == 2)


def _events(steps: int, leaf_rows: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    count = len(leaf_rows)
    layer = np.arange(count)
    # Allocation number of each event of a step, layers in order, in reverse order in backward.
    order = (layer, layer[::-1], layer)
    parts = [
        (which[:, None] * 5 + np.array(script)).ravel()
        for which, script in zip(order, _SCRIPT, strict=True)
    ]
    one_step = np.concatenate(parts)
    allocation = (np.arange(steps)[:, None] * (5 * count) + one_step).ravel()
    rows, first = np.unique(allocation, return_index=True)
    _, from_end = np.unique(allocation[::-1], return_index=True)
    last = len(allocation) - 1 - from_end
    kind = np.full(len(allocation), EventKind.FREE)
    kind[first] = EventKind.ALLOC
    leaf = rows // 5 % count
    size = 4096 * (1 + (rows * 2_654_435_761) % 1000)
    phase = first // (EVENTS_A_LAYER * count) * 3 + np.array([0, 0, 1, 1, 2])[rows % 5]
    allocations = {
        "device": np.zeros(len(rows), dtype=np.int16),
        "bytes": size,
        "requested": size - 100,
        "start": first,
        "end": last,
        "category": np.array(_CATEGORIES)[rows % 5],
        "layer": leaf_rows[leaf],
        "call": rows // (5 * count) * (leaf_rows[-1] + 1) + leaf_rows[leaf],
        "phase": phase,
    }
    events = {
        "time_ns": np.arange(len(allocation)) * 1000,
        "kind": kind,
        "device": np.zeros(len(allocation), dtype=np.int16),
        "bytes": size[allocation],
        "allocation": allocation,
    }
    return events, allocations


def _calls(steps: int, blocks: int, leaves: int, layers: int) -> dict[str, Array]:
    rows = np.arange(layers)
    inner = (rows - 1) % (1 + leaves)
    # Leaves before each layer, and leaves in it: a layer's windows are those of its leaves.
    before = (rows - 1) // (1 + leaves) * leaves + np.maximum(inner - 1, 0)
    within = np.where(inner == 0, leaves, 1)
    before[0], within[0] = 0, blocks * leaves
    count = blocks * leaves
    backward = FORWARD * count + BACKWARD * (count - before - within)
    at = (np.arange(steps) * EVENTS_A_LAYER * count)[:, None]
    windows = {
        "start": at + FORWARD * before,
        "end": at + FORWARD * (before + within),
        "backward_start": at + backward,
        "backward_end": at + backward + BACKWARD * within,
    }
    calls = {name: column.ravel() for name, column in windows.items()}
    calls |= {f"{name}_ns": column * 1000 for name, column in calls.items()}
    calls["layer"] = np.tile(rows, steps)
    calls["kind"] = np.zeros(len(calls["layer"]), dtype=np.uint8)
    calls["phase"] = np.repeat(np.arange(steps) * 3, layers)
    calls["output_bytes"] = np.full(len(calls["layer"]), 1 << 20)
    return calls


def _phases(steps: int, leaves: int) -> dict[str, Array]:
    ends = np.cumsum(np.tile([FORWARD, BACKWARD, OPTIMIZER], steps)) * leaves
    starts = np.concatenate(([0], ends[:-1]))
    return {
        "kind": np.tile([PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER], steps),
        "step": np.repeat(np.arange(steps), 3),
        "start": starts,
        "end": ends,
        "start_ns": starts * 1000,
        "end_ns": ends * 1000,
    }
