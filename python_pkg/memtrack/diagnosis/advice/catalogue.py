"""All advice, in the order of least harm: what changes no result first, what costs most last."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.allocator import ALLOCATOR
from memtrack.diagnosis.advice.batches import BATCHES
from memtrack.diagnosis.advice.devicesharing import DEVICE_SHARING
from memtrack.diagnosis.advice.distributed import DISTRIBUTED
from memtrack.diagnosis.advice.entry import Entry
from memtrack.diagnosis.advice.host import HOST
from memtrack.diagnosis.advice.notmemory import NOT_MEMORY
from memtrack.diagnosis.advice.oldercards import OLDER_CARDS
from memtrack.diagnosis.advice.optimizers import OPTIMIZERS
from memtrack.diagnosis.advice.otherlibraries import OTHER_LIBRARIES
from memtrack.diagnosis.advice.precision import PRECISION
from memtrack.diagnosis.advice.recompute import RECOMPUTE
from memtrack.diagnosis.advice.references import REFERENCES
from memtrack.diagnosis.advice.shapes import SHAPES

CATALOGUE: Sequence[Entry] = (
    *REFERENCES,
    *SHAPES,
    *ALLOCATOR,
    *OTHER_LIBRARIES,
    *DEVICE_SHARING,
    *PRECISION,
    *BATCHES,
    *RECOMPUTE,
    *OPTIMIZERS,
    *DISTRIBUTED,
    *OLDER_CARDS,
    *HOST,
    *NOT_MEMORY,
)
