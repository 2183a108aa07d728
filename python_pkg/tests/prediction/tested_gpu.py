"""A GPU and a table of kernels for tests of the stage: an H200 whose kernels are torch's on meta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TestedGpu:
    """What the stage wants to know of a GPU."""

    name: str = "NVIDIA H200"
    total: int = 150_754_820_096
    capability: tuple[int, int] = (9, 0)
    multiprocessors: int = 132


class NoKernels:
    """A table without rows."""

    rows: frozenset[str] = frozenset()
    swaps: frozenset[str] = frozenset()

    def run(self, op: Any, args: Any, kwargs: Any, context: Any) -> Any:
        """Leave every operation to torch."""
        return NotImplemented

    swap = run


GPU = TestedGpu()
KERNELS = NoKernels()
