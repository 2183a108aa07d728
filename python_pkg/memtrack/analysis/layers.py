"""The layer table: one row a layer, what it holds, saves, runs and makes.

Columns (`ADDITIVE` ones are the layer's own bytes, and with `total_` those of its subtree):

    calls             forward calls, recomputation not counted
    output_shape, output_dtype, output_bytes   of its largest call; "" and -1 without a call
    at_peak           bytes of its allocations alive at the device's peak
    saved             bytes autograd kept for backward, each allocation once, under the call that
                      saved it first; parameters and buffers left out
    parameters, buffers, gradients, optimizer   bytes of each
    parameter_count   elements of its parameters
    peak              most bytes allocated on the device while it ran, forward or backward; of a list
                      of layers while one of them did; -1: never
    change            bytes allocated after minus before a forward call of it in the step of the peak:
                      of several calls the one with the largest; 0 without one
    live_after        bytes allocated right after the last of these calls; -1 without one
    needs_grad        1: an output of it needs a gradient
    forward_ns, backward_ns   median over steps of its time in the step; -1: never ran

Each column that adds up is taken at one moment, the one where its sum over all layers is greatest, so
that children always sum to parents and the roots with `outside` to the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from memtrack.analysis.peak import Peak, layer_peaks, peak_of
from memtrack.analysis.running import call_steps
from memtrack.analysis.totals import CategoryLevels, alive, allocated, category_levels, sum_by
from memtrack.errors import UnavailableError
from memtrack.recording import CallKind, Category, RecordingData
from memtrack.recording.tables import Array
from memtrack.units import format_bytes

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 10
ADDITIVE = (
    "at_peak",
    "saved",
    "parameters",
    "buffers",
    "gradients",
    "optimizer",
    "parameter_count",
)
_HELD = {
    "parameters": Category.PARAMETER,
    "buffers": Category.BUFFER,
    "gradients": Category.GRADIENT,
    "optimizer": Category.OPTIMIZER_STATE,
}


@dataclass(frozen=True, slots=True, repr=False)
class LayerTable:
    """The layer table of one device; see the module for its columns. `outside` belongs to no layer."""

    path: Sequence[str]
    type: Sequence[str]
    columns: Mapping[str, Array | Sequence[str]]
    outside: Mapping[str, int]

    def __repr__(self) -> str:
        lines = [f"<LayerTable: {len(self.path)} layers; the heaviest at the peak:"]
        lines += [f"  {path}  {kind}  {size}" for path, kind, size in self._heaviest()]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(path)}</td><td>{escape(kind)}</td><td>{escape(size)}</td></tr>"
            for path, kind, size in self._heaviest()
        )
        return f"<table><tbody>{rows}</tbody></table>"

    def _heaviest(self) -> list[tuple[str, str, str]]:
        """Return path, type and size of the layers that hold the most at the peak with theirs inside."""
        size = np.asarray(self.columns["total_at_peak"])
        rows = np.sort(np.argsort(-size, kind="stable")[:SHOWN_ROWS]).tolist()
        return [(self.path[row], self.type[row], format_bytes(int(size[row]))) for row in rows]

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame indexed by path.

        Raises UnavailableError where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            hint = "Install it with `pip install pandas`."
            raise UnavailableError("A layer table as a DataFrame needs pandas.", hint) from error
        columns = {"type": list(self.type), **self.columns}
        table: pd.DataFrame = pd.DataFrame(columns, index=pd.Index(self.path, name="layer"))
        return table


def layer_table(data: RecordingData, device: int) -> LayerTable:
    """Return the layer table of a device."""
    levels = allocated(data, device)
    categories = category_levels(data, device)
    peak = peak_of(data, levels)
    return layer_table_of(data, device, peak, levels, categories, layer_peaks(data, levels))


def layer_table_of(
    data: RecordingData,
    device: int,
    peak: Peak,
    levels: Array,
    categories: CategoryLevels,
    peaks: Array,
) -> LayerTable:
    """Return the layer table from the levels and peaks of a device that are already known.

    `peaks` are those of the layers, as `layer_peaks` gives them.
    """
    own = {"at_peak": _by_layer(data, alive(data, device, peak.cut))}
    own["saved"] = _saved(data, device)
    for column, category in _HELD.items():
        rows = alive(data, device, categories.peak_cut(category))
        own[column] = _by_layer(data, rows[data.allocations["category"][rows] == category])
    own["parameter_count"] = np.append(data.layers["parameters"], 0)
    columns: dict[str, Array | Sequence[str]] = {**_outputs(data)}
    for column in ADDITIVE:
        columns[column] = own[column][:-1]
        columns[f"total_{column}"] = subtree_sums(data, own[column][:-1])
    columns["peak"] = peaks
    columns |= _around_calls(data, levels, peak.step)
    columns |= _times(data)
    strings = {
        name: [data.string(int(row)) for row in data.layers[name]] for name in ("path", "type")
    }
    outside = {column: int(own[column][-1]) for column in ADDITIVE}
    return LayerTable(strings["path"], strings["type"], columns, outside)


def subtree_sums(data: RecordingData, own: Array) -> Array:
    """Return per layer the sum of `own` over its subtree."""
    before = np.concatenate(([0], np.cumsum(own)))
    rows = np.arange(len(own))
    return before[rows + data.layers["subtree"]] - before[rows]


def _by_layer(data: RecordingData, allocations: Array) -> Array:
    """Return the bytes of allocations per layer, and last what belongs to none."""
    table, layers = data.allocations, len(data.layers)
    layer = table["layer"][allocations]
    return sum_by(np.where(layer < 0, layers, layer), table["bytes"][allocations], layers + 1)


def _saved(data: RecordingData, device: int) -> Array:
    """Return the bytes saved for backward per layer, where they are most together, and by no layer."""
    saved, table = data.saved, data.allocations
    layers = len(data.layers)
    allocation, first = np.unique(saved["allocation"], return_index=True)
    lasting = np.isin(table["category"][allocation], (Category.PARAMETER, Category.BUFFER))
    keep = (table["device"][allocation] == device) & ~lasting & (allocation >= 0)
    allocation, first = allocation[keep], first[keep]
    start, end = saved["cut"][first], table["end"][allocation]
    size = table["bytes"][allocation]
    cut = _fullest_cut(start, end, size)
    at_once = (start <= cut) & (cut <= end)
    layer = np.append(data.calls["layer"], layers)[saved["call"][first]]
    return sum_by(layer[at_once], size[at_once], layers + 1)


def _fullest_cut(start: Array, end: Array, size: Array) -> int:
    """Return the earliest cut at which lives from `start` to `end`, both included, sum to the most."""
    cuts = np.concatenate((start, end + 1))
    order = np.argsort(cuts, kind="stable")
    together = np.cumsum(np.concatenate((size, -size))[order])
    last = np.flatnonzero(np.diff(cuts[order], append=-1))  # of several changes at one cut
    return int(cuts[order][last[np.argmax(together[last])]]) if len(last) else 0


def _outputs(data: RecordingData) -> dict[str, Array | Sequence[str]]:
    calls, layers = data.calls, len(data.layers)
    forward = np.flatnonzero(calls["kind"] == CallKind.FORWARD)
    layer, size = calls["layer"][forward], calls["output_bytes"][forward]
    order = np.lexsort((-size, layer))
    found, first = np.unique(layer[order], return_index=True)
    largest = np.full(layers, -1, dtype=np.int64)
    largest[found] = forward[order[first]]
    shapes, dtypes = (
        np.append(calls[column], -1)[largest].tolist()
        for column in ("output_shape", "output_dtype")
    )
    needs_grad = np.zeros(layers, dtype=np.uint8)
    needs_grad[layer[calls["needs_grad"][forward] != 0]] = 1
    return {
        "calls": np.bincount(layer, minlength=layers).astype(np.int32),
        "output_shape": [data.string(row) for row in shapes],
        "output_dtype": [data.string(row) for row in dtypes],
        "output_bytes": np.append(calls["output_bytes"], -1)[largest],
        "needs_grad": needs_grad,
    }


def _around_calls(data: RecordingData, levels: Array, step: int) -> dict[str, Array]:
    calls, layers = data.calls, len(data.layers)
    ended = (calls["kind"] == CallKind.FORWARD) & (calls["end"] >= calls["start"])
    rows = np.flatnonzero(ended & (call_steps(data) == step))
    layer, start, end = calls["layer"][rows], calls["start"][rows], calls["end"][rows]
    # Not their sum: with gradients accumulated over calls it would count what is freed in between.
    change = np.full(layers, np.iinfo(np.int64).min)
    np.maximum.at(change, layer, levels[end] - levels[start])
    change[change == np.iinfo(np.int64).min] = 0
    live_after = np.full(layers, -1, dtype=np.int64)
    by_end = np.argsort(end, kind="stable")
    live_after[layer[by_end]] = levels[end[by_end]]  # of several calls the last one stays
    return {"change": change, "live_after": live_after}


def _times(data: RecordingData) -> dict[str, Array]:
    calls = data.calls
    spans = {}
    for window in ("forward", "backward"):
        prefix = "backward_" if window == "backward" else ""
        start, end = calls[f"{prefix}start_ns"], calls[f"{prefix}end_ns"]
        seen = (start >= 0) & (end >= start)
        if window == "forward":
            seen &= calls["kind"] == CallKind.FORWARD
        spans[f"{window}_ns"] = _median_of_steps(data, np.flatnonzero(seen), end - start)
    return spans


def _median_of_steps(data: RecordingData, rows: Array, duration: Array) -> Array:
    """Return per layer the median, over the steps it ran in, of its calls' time in the step; -1: none."""
    steps = data.steps + 1
    key = data.calls["layer"][rows].astype(np.int64) * steps + call_steps(data)[rows]
    ran, codes = np.unique(key, return_inverse=True)
    spent = np.zeros(len(ran), dtype=np.int64)
    np.add.at(spent, codes, duration[rows])
    layer = ran // steps
    spent = spent[np.lexsort((spent, layer))]
    found, first, count = np.unique(layer, return_index=True, return_counts=True)
    medians = np.full(len(data.layers), -1, dtype=np.int64)
    medians[found] = (spent[first + (count - 1) // 2] + spent[first + count // 2]) // 2
    return medians
