"""Operations that are taken apart on meta where CUDA has a kernel, and storages larger than shown.

Source: `ActivationMishKernel.cu`, `Im2Col.cu`, `Col2Im.cu`, and `cumprod_backward` of `ReduceOps.cpp`.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import nbytes, row, swap

aten = torch.ops.aten


@swap("mish")
def mish(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """One node, as on CUDA, whose gradient is one kernel."""
    if not (context.grad and args[0].requires_grad):
        return NotImplemented
    return _Mish.apply(args[0])  # type: ignore[no-untyped-call]


class _Mish(torch.autograd.Function):
    """`x * tanh(softplus(x))`."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return aten.mish(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (x,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            sigmoid, tanh = x.sigmoid(), torch.nn.functional.softplus(x).tanh()
            return gradients[0] * (tanh + x * sigmoid * (1 - tanh * tanh))
        return torch.empty_like(x)


@swap("cumprod")
def cumprod(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """One node; its gradient takes the way of an input without zeros, which a prediction assumes."""
    x, dim = args[:2]
    if kwargs or len(args) > 2 or not (context.grad and x.requires_grad):
        return NotImplemented
    if not x.is_floating_point() or not x.dim():
        return NotImplemented
    return _Cumprod.apply(x, dim)  # type: ignore[no-untyped-call]


class _Cumprod(torch.autograd.Function):
    """Products along a dimension, and the sums of their gradients from behind."""

    @staticmethod
    def forward(ctx: Any, x: Any, dim: int) -> Any:
        output = aten.cumprod(x, dim)
        ctx.save_for_backward(x, output)
        ctx.dim = dim
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        x, output = ctx.saved_tensors
        weighted = output * gradients[0]
        zeros = x == 0  # asked, and alive to the end
        flipped = weighted.flip(ctx.dim)
        summed = flipped.cumsum(ctx.dim)
        back = summed.flip(ctx.dim)
        del flipped, summed
        found = back.div(x)
        del zeros
        return found, None


@row("im2col")
def im2col(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The columns, in an output made for the input's size that was too small."""
    context.scratch(nbytes(args[0]))
    return NotImplemented


@row("col2im")
def col2im(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The image in a storage of the columns' size: the output was made like the input."""
    columns, size, kernel = args[0], args[1], args[2]
    planes = columns.shape[-2] // math.prod(kernel)
    shape = (*columns.shape[:-2], planes, *size)
    return torch.empty_like(columns).resize_(shape)
