"""The gradient of a softmax: the product of gradient and output lies in memory (`SoftMax.cu`)."""

from __future__ import annotations

from typing import Any

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row


@row("_softmax_backward_data")
def backward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The gradient of the input, and the product beside it; log_softmax needs none."""
    grad, output = args[:2]
    context.scratch(grad.numel() * max(grad.dtype.itemsize, output.dtype.itemsize))
    return NotImplemented
