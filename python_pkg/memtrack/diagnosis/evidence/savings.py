"""What some advice would save, in bytes, where the recording allows an honest figure.

Most does not: how much autocast, a smaller batch or checkpointing saves shows only once the whole
timeline is computed anew, since the peak moves.
"""

from __future__ import annotations

import numpy as np

from memtrack.analysis.totals import by_category
from memtrack.diagnosis.evidence.dtypes import float32_load, parameters_in_use
from memtrack.diagnosis.evidence.leaks import OLD
from memtrack.diagnosis.evidence.piling import piling
from memtrack.diagnosis.evidence.place import place_of
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.recording import Category, PhaseKind


def savings(now: Situation) -> dict[str, int]:
    """Return bytes by the names that the catalogue of advice uses, none of them 0."""
    sizes = by_category(now.data, now.device, np.array([now.cut]))[0]
    state, gradient = int(sizes[Category.OPTIMIZER_STATE]), int(sizes[Category.GRADIENT])
    grown = piling(now)
    expandable = now.expandable
    in_forward = place_of(now).phase == PhaseKind.FORWARD.id
    found = {
        # 8 bits in the place of 32.
        "eight_bit_states": state * 3 // 4,
        "optimizer_states": state,
        "half_parameters": parameters_in_use(now) // 2 if float32_load(now) else 0,
        # Before the forward they can be gone; in a backward they are needed.
        "gradients_in_forward": gradient if in_forward else 0,
        "gaps": 0 if expandable is None else (now.reserved or 0) - expandable.reserved,
        "piled_up": 0 if grown is None else grown.bytes,
        "old_references": sum(max(one.bytes, 0) for one in now.facts.held if one.kind in OLD),
        "other_processes": now.others or 0,
    }
    return {name: size for name, size in found.items() if size > 0}
