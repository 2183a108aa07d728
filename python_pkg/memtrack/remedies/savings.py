"""What advice of a diagnosis would save in a recorded run: a few remedies weighed, by their ids."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType

from memtrack.errors import UnavailableError
from memtrack.recording import RecordingData
from memtrack.remedies.advise import base_of, scene_of
from memtrack.remedies.catalogue import SINGLE_DEVICE
from memtrack.remedies.weigh import Weighing

SAME = MappingProxyType(
    {
        "accumulate_gradients": ("accumulate_gradients_4",),  # what the code of that advice does
        "leaner_optimizer": ("adafactor",),
        "load_in_bf16": ("load_in_bf16", "bf16_weights"),  # one of inference, one of training
    }
)
"""Ids of diagnoses whose figure is that of remedies with other ids, of the one that applies."""


def savings(data: RecordingData, ids: Collection[str]) -> dict[str, int]:
    """Return the bytes that advice with these ids would save at the peak of a recording.

    Only what saves something is told, and where sizes had to be assumed the least it would save.
    Sharding is left out: its figure is of so many GPUs.
    """
    wanted = {one: name for name in ids for one in SAME.get(name, (name,))}
    chosen = [one for one in SINGLE_DEVICE if one.id in wanted]
    if not chosen:
        return {}
    try:
        scene = scene_of(data)
    except UnavailableError:
        return {}
    weighing = Weighing(scene, base_of(scene))
    found = {}
    for recipe in chosen:
        one = weighing.remedy(recipe)
        if not one.applies or one.peak is None:
            continue
        certain = weighing.base.peak - (one.high or one.peak)
        saved = certain if one.evidence == "estimated" else one.gain
        if saved > 0:
            found[wanted[recipe.id]] = saved
    return found
