"""Fused optimizers, of which torch runs some on meta: everything in place, nothing beside.

Source: `FusedSgdKernel.cu`, `FusedAdamKernel.cu` and the like under aten/src/ATen/native/cuda.
"""

from __future__ import annotations

from typing import Any

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row


@row("_fused_sgd_", "_fused_adagrad_", "_fused_adam_", "_fused_adamw_")
def in_place(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> None:
    """No outputs: weights and states are changed where they lie."""
    return
