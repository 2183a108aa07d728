"""Lookups: the gradient of an embedding is summed after its indices were sorted.

Source: `Embedding.cu` and `EmbeddingBackwardKernel.cu`: up to 3,072 indices without padding are added one
by one; more are sorted, cut into segments of 10, and summed in fp32 by segment.
"""

from __future__ import annotations

from typing import Any

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row

FEW, SEGMENT = 3072, 10
INDEX = 8


@row("embedding_dense_backward")
def backward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The gradient of the whole table, with the sums of the segments beside it."""
    grad, indices = args[:2]
    count = indices.numel()
    if count > FEW:
        segments = count + count // SEGMENT
        context.scratch_sequence(
            [4 * INDEX * count, (segments * (grad.shape[-1] * 4 + INDEX)) + 2 * INDEX * count]
        )
    return NotImplemented
