"""What each step keeps, in words: `Each step keeps 1.50 MiB more, made at train.py:88 step`."""

from __future__ import annotations

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
    worth = [group for group in growth.groups if _matters(group.bytes, peak)]
    findings = [_finding(data, group) for group in worth[:MOST_FINDINGS]]
    creep = growth.creep
    if creep is not None and creep.is_found and _matters(creep.bytes, peak):
        findings.append(_creeping(creep))
    slow = growth.creep_over_time
    if slow is not None and slow.is_found and _matters(slow.bytes, peak):
        findings.append(_creeping_over_time(slow))
    return findings


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


def _finding(data: RecordingData, group: GrowingGroup) -> GrowthFinding:
    return GrowthFinding(
        sentence=_sentence(data, group),
        step_bytes=group.step_bytes,
        bytes=group.bytes,
        steps=group.steps,
        layer=group.layer,
        category=Category(group.category).id,
        site=group.site,
    )


def _sentence(data: RecordingData, group: GrowingGroup) -> Text:
    values = {
        "each": format_bytes(group.step_bytes),
        "steps": group.steps,
        "bytes": format_bytes(group.bytes),
        "site": group.site,
    }
    if group.layer >= 0:
        values["layer"] = layer_name(data, group.layer)
    told = _place(group)
    if group.saved_bytes > 0:
        # By far the most common cause: a loss is kept with the graph behind it.
        return text(
            "{finding}; graphs of autograd are held, as by a loss kept without .item() or .detach()",
            finding=Text(told.template, values),
        )
    return Text(told.template, values)


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
