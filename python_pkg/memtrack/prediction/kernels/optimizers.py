"""Fused optimizers that torch does not run on meta: everything in place, nothing beside.

Source: `FusedSgdKernel.cu`, `FusedAdagradKernel.cpp` under aten/src/ATen/native.
"""

from __future__ import annotations

from typing import Any

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row


@row("_fused_sgd_", "_fused_adagrad_")
def in_place(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> None:
    """No outputs: weights and states are changed where they lie."""
    return
