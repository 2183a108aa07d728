"""Softmax: from fp16 to fp32 in one kernel; the gradient's product with the output lies in memory.

Source: `SoftMax.cpp` and `SoftMax.cu`.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import nbytes, row, swap


@swap("softmax", "log_softmax")
def softmax(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """From fp16 to fp32 without a copy in fp32."""
    x, dim = args[:2]
    dtype = args[2] if len(args) > 2 else kwargs.get("dtype")
    if x.dtype is not torch.float16 or dtype is not torch.float32:
        return NotImplemented
    name = "_log_softmax" if "log" in str(op) else "_softmax"
    return getattr(torch.ops.aten, name)(x, dim, True)


@row("_softmax", "_log_softmax")
def forward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The output; an input that lies otherwise, as channels last do, is copied first (`host_softmax`)."""
    _copied(args[:1], context)
    return NotImplemented


@row("_softmax_backward_data", "_log_softmax_backward_data")
def backward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The gradient of the input, and the product beside it; log_softmax needs none."""
    grad, output = args[:2]
    if "log" in str(op):
        _copied((grad, output), context)
    else:
        context.scratch(grad.numel() * max(grad.dtype.itemsize, output.dtype.itemsize))
        _copied((output,), context)
    return NotImplemented


def _copied(tensors: tuple[torch.Tensor, ...], context: KernelContext) -> None:
    """Declare copies of tensors that are not contiguous."""
    for one in tensors:
        context.scratch(0 if one.is_contiguous() else nbytes(one))
