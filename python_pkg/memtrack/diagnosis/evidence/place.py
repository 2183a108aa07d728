"""Where it happened: the phase, the layer, the step and the line of the request that failed."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.running import layer_behind, step_and_phase
from memtrack.analysis.sites import sites
from memtrack.diagnosis.diagnosis import Place
from memtrack.diagnosis.evidence.origins import kinds_of_stacks, knows_phases, without_stack
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.recording import PhaseKind


def place_of(now: Situation) -> Place:
    """Return the place of the failure; what the live process told outranks what the recording tells."""
    told, data = now.facts.place, now.data
    # The event of the failure belongs to what was running, the cut before it to what ran before.
    cut = min(now.cut + 1, data.cuts)
    layer = layer_behind(data, cut) if len(data.layers) else -1
    path = data.string(int(data.layers["path"][layer])) if layer >= 0 else ""
    step = step_and_phase(data, cut)[0] + 1 if data.steps_run else 0
    return Place(
        phase=told.phase or _phase(now, cut),
        layer=told.layer or path,
        step=told.step or step,
        site=told.site or _site(now),
    )


def _phase(now: Situation, cut: int) -> str:
    """Return the id of the phase, "" where it is not known or none of the model's."""
    if knows_phases(now.data):
        phase = step_and_phase(now.data, cut)[1]
    elif now.stack >= 0:
        phase = PhaseKind(int(kinds_of_stacks(now.data)[now.stack])).id
    elif now.told_stack:
        phase = without_stack(now.data).id
    else:
        phase = PhaseKind.OTHER.id
    return "" if phase == PhaseKind.OTHER.id else phase


def _site(now: Situation) -> str:
    code, names = sites(now.data, np.array([now.stack]))
    return names[int(code[0])] if code[0] >= 0 else ""


def names_around(now: Situation, most: int = 6) -> str:
    """Return what is around the request, for words in it: its layer, its line, the innermost functions."""
    place = place_of(now)
    frames = now.data.stack_frames(now.stack)[:most]
    functions = [f"{file.rsplit('/', 1)[-1]}:{function}" for file, function, _ in frames]
    return " ".join((place.layer, place.site, *functions))
