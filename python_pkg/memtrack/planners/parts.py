"""What planners answer: parts in bytes that sum to a total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.units import GIB, MIB

CONTEXT = (400 * MIB, 1 * GIB)
"""From least to most of what a CUDA context and its libraries take beside PyTorch's allocator: 0.4 to
0.6 GiB for the context of Ampere to Hopper, the rest for cuBLAS, cuDNN and NCCL as they are used."""


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A part of a plan; `id` is the category that it would be in a recording."""

    id: str
    bytes: int


def total_of(parts: Sequence[PlanPart]) -> int:
    """Return the sum of the parts."""
    return sum(part.bytes for part in parts)


def verdict(total: int, capacity: int) -> str:
    """Tell whether a plan fits a device: `fits`, `close` or `over`.

    `capacity` is all that a process may use; the context has to fit beside the plan.

    >>> verdict(10 * GIB, 24 * GIB), verdict(23 * GIB + 300 * MIB, 24 * GIB), verdict(24 * GIB, 24 * GIB)
    ('fits', 'close', 'over')
    """
    least, most = CONTEXT
    if total + most <= capacity:
        return "fits"
    return "close" if total + least <= capacity else "over"
