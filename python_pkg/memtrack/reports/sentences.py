"""What a report says in words, each statement computed from the recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtrack.analysis import DRAW_ORDER, alive
from memtrack.analysis.device import DeviceAnalysis
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import sum_by
from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind, RecordingData
from memtrack.recording.tables import Array
from memtrack.reports.names import layer_name, tensor_name
from memtrack.reports.outcome import (
    cached,
    is_unstructured,
    largest_sites,
    moment_headline,
    nothing_used,
    out_of_memory,
)
from memtrack.reports.words import PHASES, joined, literal, part_name
from memtrack.units import MIB, format_bytes, format_percent

MOST_SHARES = 4
SHARE_WORTH_NAMING = 0.15
SHARE_OF_A_LAYER = 0.5
SHARE_OF_ROUNDING = 0.01
SHARE_FROM_BEFORE = 0.1
MOST_TENSORS_NAMED = 3


def headline(analysis: DeviceAnalysis) -> Text:
    """Return the answer in one line: how much, in which phase of which layer, in which step."""
    peak = analysis.peak
    if peak.bytes == 0:
        return nothing_used(analysis)
    if is_unstructured(analysis):
        return moment_headline(analysis)
    values = {"peak": format_bytes(peak.bytes), "phase": PHASES[peak.phase], "step": peak.step + 1}
    if peak.layer >= 0:
        values["layer"] = layer_name(analysis.data, peak.layer)
    if analysis.data.steps > 1:
        return Text(_place_in_step(peak.phase, peak.layer).template, values)
    return Text(_place(peak.phase, peak.layer).template, values)


def _place_in_step(phase: str, layer: int) -> Text:
    if phase == PhaseKind.OTHER.id:
        if layer < 0:
            return text("Peak {peak} outside of forward, backward and optimizer, step {step}")
        return text("Peak {peak} in {layer}, step {step}")
    if layer < 0:
        return text("Peak {peak} in {phase}, step {step}")
    return text("Peak {peak} in {phase} of {layer}, step {step}")


def _place(phase: str, layer: int) -> Text:
    if phase == PhaseKind.OTHER.id:
        if layer < 0:
            return text("Peak {peak} outside of forward, backward and optimizer")
        return text("Peak {peak} in {layer}")
    if layer < 0:
        return text("Peak {peak} in {phase}")
    return text("Peak {peak} in {phase} of {layer}")


def details(analysis: DeviceAnalysis) -> list[Text]:
    """Return the lines of evidence under the headline, the most telling first."""
    if analysis.peak.bytes == 0:
        return []
    rows = alive(analysis.data, analysis.device, analysis.peak.cut)
    found = (
        out_of_memory(analysis),
        largest_sites(analysis, rows) if is_unstructured(analysis) else None,
        _shares(analysis),
        _large_tensors(analysis, rows),
        _heavy_layer(analysis),
        _saved(analysis),
        _made_outside(analysis, rows),
        _from_before(analysis, rows),
        _rounding(analysis, rows),
        cached(analysis),
    )
    return [sentence for sentence in found if sentence is not None]


def _shares(analysis: DeviceAnalysis) -> Text | None:
    size, peak = analysis.by_category, analysis.peak.bytes
    told: Sequence[Category] = DRAW_ORDER
    if is_unstructured(analysis):  # that most of it is unknown goes without saying
        told = [category for category in told if category is not Category.UNKNOWN]
    largest = sorted(told, key=lambda category: -size[category])[:MOST_SHARES]
    shares = [
        text("{percent} {part}", percent=format_percent(size[c], peak), part=part_name(c.id))
        for c in largest
        if size[c] * 100 >= peak
    ]
    return text("At the peak: {shares}", shares=joined(shares)) if shares else None


def _large_tensors(analysis: DeviceAnalysis, rows: Array) -> Text | None:
    """Tell of the largest allocation at the peak, and of those of the very same size."""
    data, peak = analysis.data, analysis.peak.bytes
    size = data.allocations["bytes"][rows]
    largest = int(size.max())
    if largest < SHARE_WORTH_NAMING * peak:
        return None
    same = rows[size == largest]
    together = largest * len(same)
    values = {"bytes": format_bytes(together), "percent": format_percent(together, peak)}
    names = _different([tensor_name(data, int(row)) for row in same[:MOST_TENSORS_NAMED]])
    if (data.allocations["category"][same] == Category.WORKSPACE).all():
        told = joined(names)
        return text(
            "{bytes} of it ({percent}) is what libraries work in: {names}", names=told, **values
        )
    if len(same) == 1:
        return text("{bytes} of it ({percent}) is one tensor: {tensor}", tensor=names[0], **values)
    each = format_bytes(largest)
    if len(same) > MOST_TENSORS_NAMED:
        names.append(literal("…"))
    return text(
        "{bytes} of it ({percent}) is {count} tensors of {each} each: {tensors}",
        count=len(same),
        each=each,
        tensors=joined(names),
        **values,
    )


def _different(names: list[Text]) -> list[Text]:
    return list({str(name): name for name in names}.values())


def _heavy_layer(analysis: DeviceAnalysis) -> Text | None:
    """Tell of the layer that holds most of the peak."""
    held, peak = np.asarray(analysis.layers.columns["total_at_peak"]), analysis.peak.bytes
    layer = _telling_layer(analysis.data, held, peak)
    if layer < 0:
        return None
    values = {
        "layer": layer_name(analysis.data, layer),
        "bytes": format_bytes(int(held[layer])),
        "percent": format_percent(int(held[layer]), peak),
    }
    if analysis.data.layers["subtree"][layer] == 1:
        return text("{layer} holds {bytes} of it ({percent})", **values)
    return text("{layer} and the layers inside it hold {bytes} of it ({percent})", **values)


def _telling_layer(data: RecordingData, total: Array, whole: int) -> int:
    """Return the layer to name for `total`, a column of subtrees: -1 where none stands out.

    That is the deepest with at least half of what all layers have. A root says nothing that its
    reader does not know, so where only a root has half, the largest layer inside it is taken.
    """
    parent = data.layers["parent"]
    heavy = np.flatnonzero(total >= max(1, SHARE_OF_A_LAYER * total[parent == -1].sum()))
    if not len(heavy):
        return -1
    layer = int(heavy[np.argmax(data.layers["depth"][heavy])])
    children = np.flatnonzero(parent == layer)
    if parent[layer] < 0 and len(children):
        layer = int(children[np.argmax(total[children])])
    return layer if total[layer] >= SHARE_WORTH_NAMING * whole else -1


def _saved(analysis: DeviceAnalysis) -> Text | None:
    columns, outside = analysis.layers.columns, analysis.layers.outside
    total = np.asarray(columns["total_saved"])
    whole = int(np.asarray(columns["saved"]).sum()) + outside["saved"]
    if whole == 0:
        return None
    layer = _telling_layer(analysis.data, total, whole)
    if layer < 0:
        return text("Up to {bytes} was saved for backward", bytes=format_bytes(whole))
    return text(
        "Up to {bytes} was saved for backward, {percent} of it by {layer}",
        bytes=format_bytes(whole),
        percent=format_percent(int(total[layer]), whole),
        layer=layer_name(analysis.data, layer),
    )


def _made_outside(analysis: DeviceAnalysis, rows: Array) -> Text | None:
    """Tell of memory made in the run by no layer, such as a loss, and the line that made the largest part."""
    data, table = analysis.data, analysis.data.allocations
    made = rows[(table["start"][rows] >= 0) & (table["layer"][rows] == -1)]
    size = int(table["bytes"][made].sum())
    if not len(data.layers) or size < SHARE_WORTH_NAMING * analysis.peak.bytes:
        return None
    values = {"bytes": format_bytes(size), "percent": format_percent(size, analysis.peak.bytes)}
    codes, labels = sites(data, table["stack"][made])
    if not labels:
        return text("{bytes} of it ({percent}) was made outside the layers", **values)
    site = labels[int(np.argmax(sum_by(codes, table["bytes"][made], len(labels))))]
    return text(
        "{bytes} of it ({percent}) was made outside the layers, the largest part at {site}",
        site=site,
        **values,
    )


def _from_before(analysis: DeviceAnalysis, rows: Array) -> Text | None:
    """Tell of memory that is older than the recording and belongs to no layer."""
    table = analysis.data.allocations
    older = rows[(table["start"][rows] == -1) & (table["layer"][rows] == -1)]
    size = int(table["bytes"][older].sum())
    if size < SHARE_FROM_BEFORE * analysis.peak.bytes:
        return None
    values = {
        "bytes": format_bytes(size),
        "percent": format_percent(size, analysis.peak.bytes),
    }
    if is_unstructured(analysis):
        return text("{bytes} of it ({percent}) was there before the recording", **values)
    return text(
        "{bytes} of it ({percent}) was there before the recording and belongs to no layer", **values
    )


def _rounding(analysis: DeviceAnalysis, rows: Array) -> Text | None:
    table = analysis.data.allocations
    asked = table["requested"][rows]
    lost = int(np.where(asked >= 0, table["bytes"][rows] - asked, 0).sum())
    if lost < MIB or lost < SHARE_OF_ROUNDING * analysis.peak.bytes:
        return None
    return text(
        "{bytes} of it ({percent}) is rounding: the allocator gives whole blocks",
        bytes=format_bytes(lost),
        percent=format_percent(lost, analysis.peak.bytes),
    )
