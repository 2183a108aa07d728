"""Weights in four bytes a number where nothing is trained: half would do."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.totals import by_category
from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.origins import kinds_of_allocations
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.titles import title
from memtrack.i18n import text
from memtrack.recording import Category, PhaseKind
from memtrack.units import format_bytes, format_count, format_percent

FLOAT32 = 4
MOST_OF_IT = 0.5


def float32_load(now: Situation) -> Cause | None:
    """Parameters of four bytes are most of what is in use, and no backward or optimizer ran."""
    elements, size = (
        int(now.data.layers[name].sum()) for name in ("parameters", "parameter_bytes")
    )
    if not elements or size < FLOAT32 * elements or is_training(now):
        return None
    weights = parameters_in_use(now)
    if weights < MOST_OF_IT * now.allocated or weights // 2 < now.needed:
        return None
    line = text(
        "{bytes} ({percent}) of what is in use are parameters, {count} of them at 4 bytes each",
        bytes=format_bytes(weights),
        percent=format_percent(weights, now.allocated),
        count=format_count(elements),
    )
    return Cause("dtype_fp32_load", 0.5, title("dtype_fp32_load"), (line,))


def parameters_in_use(now: Situation) -> int:
    """Return the bytes of parameters in use at the failure."""
    sizes = by_category(now.data, now.device, np.array([now.cut]))[0]
    return int(sizes[Category.PARAMETER])


def is_training(now: Situation) -> bool:
    """Tell whether anything was made in a backward or by an optimizer before the failure."""
    kinds = kinds_of_allocations(now.data)[now.data.allocations["start"] < now.cut]
    return bool(np.isin(kinds, (PhaseKind.BACKWARD, PhaseKind.OPTIMIZER)).any())
