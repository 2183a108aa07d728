"""The tables of a recording that are written out; docs/exports.md says what each column is.

`layers` has one row a layer and device, and one with layer "" for what belongs to none: with it each
column that adds up sums to the whole. `ledger` has the parts of each device at its peak; those with
`within` split the part it names. `timeline` is memory at the points that bound each of a thousand
buckets, `events` everything the allocator did, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memtrack.analysis import DRAW_ORDER, layer_table
from memtrack.analysis.device import devices_in_order
from memtrack.analysis.layers import ADDITIVE
from memtrack.analysis.ledger import ledger
from memtrack.analysis.parts import Part
from memtrack.analysis.peak import peak
from memtrack.analysis.running import phases_at
from memtrack.analysis.sites import sites
from memtrack.analysis.timeline import timeline
from memtrack.errors import UsageError
from memtrack.exports.table import Column, DataTable, numbers, stacked
from memtrack.i18n import text
from memtrack.recording import Category, EventKind, PhaseKind, RecordingData
from memtrack.recording.tables import Array

_COUNTS = ("calls", "needs_grad", "parameter_count", "total_parameter_count")
_TEXTS = ("output_shape", "output_dtype")
_MAY_BE_UNKNOWN = ("output_bytes", "peak", "live_after", "forward_ns", "backward_ns")


def table_of(data: RecordingData, name: str) -> DataTable:
    """Return the table called `name`; UsageError where there is none."""
    if name not in _TABLES:
        raise UsageError.unknown_word(text("table"), name, _TABLES)
    return _TABLES[name](data)


def device_name(data: RecordingData, device: int) -> str:
    """Return a device as torch names it, such as `cuda:0`; the CPU has no number."""
    kind = data.string(int(data.devices["kind"][device]))
    return kind if kind == "cpu" else f"{kind}:{int(data.devices['index'][device])}"


def _layers(data: RecordingData) -> DataTable:
    parts = []
    for device in devices_in_order(data):
        table = layer_table(data, device)
        columns: dict[str, Column] = {
            "device": Column([device_name(data, device)] * (len(table.path) + 1)),
            "layer": Column([*table.path, ""]),
            "type": Column([*table.type, ""]),
        }
        for name, values in table.columns.items():
            columns[_with_unit(name)] = _with_outside(name, values, table.outside)
        parts.append(columns)
    return stacked("layers", parts) if parts else DataTable("layers", {})


def _with_unit(name: str) -> str:
    bare = name in _COUNTS or name in _TEXTS or name.endswith(("_ns", "_bytes"))
    return name if bare else f"{name}_bytes"


def _with_outside(name: str, values: Array | Sequence[str], outside: Mapping[str, int]) -> Column:
    """Return a column of the layer table with the row of what belongs to no layer."""
    if name in _TEXTS:
        return Column([*map(str, values), ""])
    own = name.removeprefix("total_")
    added = np.append(np.asarray(values).astype(np.int64), outside.get(own, -1))
    if own in ADDITIVE:
        return Column(added)
    known = np.append(
        np.asarray(values) != -1 if name in _MAY_BE_UNKNOWN else np.ones(len(values)), 0
    )
    return Column(added, known.astype(bool))


def _ledger(data: RecordingData) -> DataTable:
    rows: list[tuple[str, str, str, int, str]] = []
    for device in devices_in_order(data):
        name = device_name(data, device)
        for part in ledger(data, device, peak(data, device).cut).parts:
            rows += [
                _ledger_row(name, part, ""),
                *(_ledger_row(name, d, part.id) for d in part.details),
            ]
    devices, parts, within, sizes, certainty = zip(*rows, strict=True) if rows else [()] * 5
    return DataTable(
        "ledger",
        {
            "device": Column(list(devices)),
            "part": Column(list(parts)),
            "within": Column(list(within)),
            "bytes": Column(np.array(sizes, dtype=np.int64)),
            "certainty": Column(list(certainty)),
        },
    )


def _ledger_row(device: str, part: Part, within: str) -> tuple[str, str, str, int, str]:
    return device, part.id, within, part.bytes, part.certainty


def _timeline(data: RecordingData) -> DataTable:
    paths = _strings(data, data.layers["path"])
    parts = []
    for device in devices_in_order(data):
        points = timeline(data, device)
        rows = len(points.cut)
        step, phase = _step_and_phase(data, points.cut)
        reserved = np.full(rows, -1) if points.reserved is None else points.reserved
        parts.append(
            {
                "device": Column([device_name(data, device)] * rows),
                "cut": Column(points.cut),
                "time_ns": Column(points.time_ns),
                "step": step,
                "phase": phase,
                "layer": Column(_named(paths, points.layer)),
                "allocated_bytes": Column(points.allocated),
                "reserved_bytes": numbers(reserved, -1),
                **{
                    f"{category.id}_bytes": Column(points.by_category[:, category])
                    for category in DRAW_ORDER
                },
            }
        )
    return stacked("timeline", parts) if parts else DataTable("timeline", {})


def _events(data: RecordingData) -> DataTable:
    events, allocations = data.events, data.allocations
    row = events["allocation"]
    of_block = {name: np.append(allocations[name], -1)[row] for name in ("layer", "name", "stack")}
    category = np.where(row >= 0, np.append(allocations["category"], 0)[row], -1)
    step, phase = _step_and_phase(data, np.arange(1, len(events) + 1))
    devices = [device_name(data, device) for device in range(len(data.devices))]
    place, lines = sites(data, of_block["stack"])
    has_address = events["address"] > 0
    return DataTable(
        "events",
        {
            "time_ns": Column(events["time_ns"]),
            "step": step,
            "phase": phase,
            "event": Column(_named([kind.name.lower() for kind in EventKind], events["kind"])),
            "device": Column(_named(devices, events["device"])),
            "bytes": Column(events["bytes"]),
            "allocation": numbers(row, -1),
            "category": Column(_named([one.id for one in Category], category)),
            "layer": Column(_named(_strings(data, data.layers["path"]), of_block["layer"])),
            "name": Column(_named(data.strings, of_block["name"])),
            "line": Column(_named(lines, place)),
            "address": Column(events["address"].astype(np.int64), has_address),
            "stream": numbers(events["stream"], -1),
        },
    )


def _step_and_phase(data: RecordingData, cuts: Array) -> tuple[Column, Column]:
    """Return the step, from 1 as reports count them, and the phase of each cut."""
    rows = phases_at(data, cuts)
    kinds = np.append(data.phases["kind"], PhaseKind.OTHER)[rows]
    steps = np.append(data.phases["step"], 0)[rows]
    return Column(steps.astype(np.int64) + 1), Column(
        _named([kind.id for kind in PhaseKind], kinds)
    )


def _named(names: Sequence[str], codes: Array) -> Array:
    """Return the name of each code, "" for -1; each text is there once, however many rows have it."""
    return np.array([*names, ""], dtype=object)[codes]


def _strings(data: RecordingData, references: Array) -> list[str]:
    return [data.string(int(reference)) for reference in references]


_TABLES: Mapping[str, Callable[[RecordingData], DataTable]] = {
    "layers": _layers,
    "ledger": _ledger,
    "timeline": _timeline,
    "events": _events,
}
TABLE_NAMES = tuple(_TABLES)
