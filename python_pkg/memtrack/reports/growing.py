"""What each step keeps, in words: `Each step keeps 1.50 MiB more, made at train.py:88 step`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memtrack.analysis.creep import Creep
from memtrack.analysis.growth import GrowingGroup, Growth
from memtrack.i18n import Text, text
from memtrack.recording import Category, RecordingData
from memtrack.reports.answers import GrowthFinding
from memtrack.reports.names import layer_name
from memtrack.units import MIB, format_bytes

MOST_FINDINGS = 3
LEAST_BYTES = MIB
"""In all steps together: a counter or a list of losses on the GPU is no reason for an alarm."""
SHARE_OF_PEAK = 0.001
"""What would take a thousand such recordings to fill the peak again is not told either."""


def growth_findings(data: RecordingData, growth: Growth, peak: int = 0) -> list[GrowthFinding]:
    """Return what is worth a notice, the most a step first; `peak` in bytes puts it in proportion."""
    whole = _whole_graph(data, growth.groups)
    apart = [one for one in growth.groups if whole is None or not _in_graph(one)]
    findings = [_finding(data, group) for group in apart if _matters(group.bytes, peak)]
    if whole is not None and _matters(whole.bytes, peak):
        findings.append(whole)
    findings.sort(key=lambda one: (-one.step_bytes, -one.bytes))
    del findings[MOST_FINDINGS:]
    creep = growth.creep
    if creep is not None and creep.is_found and _matters(creep.bytes, peak):
        findings.append(_creeping(creep))
    slow = growth.creep_over_time
    if slow is not None and slow.is_found and _matters(slow.bytes, peak):
        findings.append(_creeping_over_time(slow))
    return findings


def _in_graph(group: GrowingGroup) -> bool:
    return group.saved_bytes > 0 and group.layer >= 0


def _whole_graph(data: RecordingData, groups: Sequence[GrowingGroup]) -> GrowthFinding | None:
    """Return one finding for a graph kept through several layers: it has one cause. None for one layer."""
    parts = [group for group in groups if _in_graph(group)]
    layers = {group.layer for group in parts}
    if len(layers) < 2:
        return None
    most = max(parts, key=lambda one: one.step_bytes)
    whole = replace(
        most,
        layer=_common_layer(data, min(layers), max(layers)),
        steps=max(one.steps for one in parts),
        step_bytes=sum(one.step_bytes for one in parts),
        bytes=sum(one.bytes for one in parts),
        saved_bytes=sum(one.saved_bytes for one in parts),
    )
    several = len({one.site for one in parts}) > 1
    return _finding(data, whole, len(layers), several)


def _common_layer(data: RecordingData, first: int, last: int) -> int:
    """Return the innermost layer that both rows lie in, -1 for none."""
    row, subtree = first, data.layers["subtree"]
    while row >= 0 and row + int(subtree[row]) <= last:
        row = int(data.layers["parent"][row])
    return row


def _creeping_over_time(creep: Creep) -> GrowthFinding:
    """Return the finding of a recording without steps: its equal parts are not told one by one."""
    sentence = text(
        "Reserved memory grew by {bytes} over the recording while what is in use did not: the free"
        " memory is in pieces too small for what is asked for",
        bytes=format_bytes(creep.bytes),
    )
    return GrowthFinding(sentence, creep.bytes // creep.steps, creep.bytes, creep.steps)


def _creeping(creep: Creep) -> GrowthFinding:
    each = int(np.median(creep.grown[creep.grown > 0]))
    sentence = text(
        "Reserved memory grows by {each} a step while what is in use does not: the free memory is in"
        " pieces too small for what is asked for; {steps} steps, {bytes}",
        each=format_bytes(each),
        steps=creep.steps,
        bytes=format_bytes(creep.bytes),
    )
    return GrowthFinding(sentence, each, creep.bytes, creep.steps)


def _matters(size: int, peak: int) -> bool:
    return size >= max(LEAST_BYTES, SHARE_OF_PEAK * peak)


def _finding(
    data: RecordingData, group: GrowingGroup, layers: int = 1, several_sites: bool = False
) -> GrowthFinding:
    return GrowthFinding(
        sentence=_sentence(data, group, layers, several_sites),
        step_bytes=group.step_bytes,
        bytes=group.bytes,
        steps=group.steps,
        layer=group.layer,
        category=Category(group.category).id,
        site=group.site,
    )


def _sentence(data: RecordingData, group: GrowingGroup, layers: int, several_sites: bool) -> Text:
    values = {
        "each": format_bytes(group.step_bytes),
        "steps": group.steps,
        "bytes": format_bytes(group.bytes),
        "site": group.site,
        "count": layers,
    }
    if group.layer >= 0:
        values["layer"] = layer_name(data, group.layer)
    inside = layers > 1 and group.layer >= 0
    told = _place_of_several(group, several_sites) if inside else _place(group)
    if group.saved_bytes > 0:
        # By far the most common cause: a loss is kept with the graph behind it.
        return text(
            "{finding}; graphs of autograd are held, as by a loss kept without .item() or .detach()",
            finding=Text(told.template, values),
        )
    return Text(told.template, values)


def _place_of_several(group: GrowingGroup, several_sites: bool) -> Text:
    if group.site and several_sites:
        return text(
            "Each step keeps {each} more, made in {count} layers inside {layer}, most at {site};"
            " {steps} steps, {bytes}"
        )
    if group.site:
        return text(
            "Each step keeps {each} more, made in {count} layers inside {layer} at {site};"
            " {steps} steps, {bytes}"
        )
    return text(
        "Each step keeps {each} more, made in {count} layers inside {layer}; {steps} steps, {bytes}"
    )


def _place(group: GrowingGroup) -> Text:
    if group.site and group.layer >= 0:
        return text(
            "Each step keeps {each} more, made in {layer} at {site}; {steps} steps, {bytes}"
        )
    if group.site:
        return text("Each step keeps {each} more, made at {site}; {steps} steps, {bytes}")
    if group.layer >= 0:
        return text("Each step keeps {each} more, made in {layer}; {steps} steps, {bytes}")
    return text("Each step keeps {each} more; {steps} steps, {bytes}")
