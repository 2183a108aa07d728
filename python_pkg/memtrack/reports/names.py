"""How layers and tensors are named to people."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.sites import sites
from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind, RecordingData
from memtrack.reports.words import PARTS, PHASES, literal


def layer_name(data: RecordingData, layer: int) -> str:
    """Return the path of a layer, without the root's label where there is one root only.

    What is only a number below it, as in a Sequential, keeps the label: "0" is no name.
    """
    path = data.string(int(data.layers["path"][layer]))
    roots = int((data.layers["parent"] == -1).sum())
    below = path.partition(".")[2]
    return below if roots == 1 and below and not below[0].isdigit() else path


def tensor_name(data: RecordingData, row: int) -> Text:
    """Return what an allocation is: its name, the output it holds, or where it was made."""
    allocation = data.allocations.row(row)
    shape = _output_shape(data, allocation)
    if allocation["name"] >= 0:
        name = data.string(allocation["name"])
        return text("{name} ({shape})", name=name, shape=shape) if shape else literal(name)
    if shape:
        layer = layer_name(data, int(data.calls["layer"][allocation["call"]]))
        return text("output of {layer} ({shape})", layer=layer, shape=shape)
    return _maker(data, allocation)


def _maker(data: RecordingData, allocation: dict[str, int]) -> Text:
    phase = allocation["phase"]
    kind = PhaseKind(data.phases["kind"][phase]).id if phase >= 0 else PhaseKind.OTHER.id
    if allocation["layer"] >= 0:
        layer = layer_name(data, allocation["layer"])
        if kind == PhaseKind.OTHER.id:
            return text("made by {layer}", layer=layer)
        return text("made in {phase} of {layer}", phase=PHASES[kind], layer=layer)
    if allocation["stack"] >= 0:
        _, labels = sites(data, np.array([allocation["stack"]]))
        return text("made at {site}", site=labels[0])
    if allocation["category"] == Category.UNKNOWN:
        return text("a block that no line is known of")
    return PARTS[Category(allocation["category"]).id]


def _output_shape(data: RecordingData, allocation: dict[str, int]) -> str:
    """Return shape and type where the allocation is as large as the only output of its call."""
    if allocation["call"] < 0:
        return ""
    call = data.calls.row(allocation["call"])
    shape, dtype = data.string(call["output_shape"]), data.string(call["output_dtype"])
    is_output = call["output_bytes"] in (allocation["requested"], allocation["bytes"])
    return f"{shape} {dtype}" if is_output and shape and "," not in shape else ""
