"""Normalisation: cuDNN's or PyTorch's own batch norm, the fused RMS norm.

Sources: `Normalization.cpp` (`_select_batch_norm_backend`), `cudnn/BatchNorm.cpp`, `layer_norm.cpp`.
cuDNN keeps mean and deviation; its reserve is empty for the spatial mode that is taken by default.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import FP32, argument, row, swap

aten = torch.ops.aten
_MIN_EPSILON = 1e-5
_MOST_BATCH = 880_801


@swap("batch_norm")
def batch_norm(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Call cuDNN's where CUDA would: 3 dimensions or more, weights, no bf16, weights of fp32."""
    names = (
        "input",
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "training",
        "momentum",
        "eps",
    )
    given = [argument(args, kwargs, place, name, None) for place, name in enumerate(names)]
    x, weight, bias, mean, variance, training, momentum, eps = given
    suits = (
        context.cudnn
        and x.dim() >= 3
        and x.dtype in (FP32, torch.float16)
        and weight is not None
        and bias is not None
        and weight.dtype is FP32
        and x.shape[0] <= _MOST_BATCH
        and eps >= _MIN_EPSILON
        and (training or (mean is not None and variance is not None))
    )
    if not suits:
        return NotImplemented
    return aten.cudnn_batch_norm(x, weight, bias, mean, variance, training, momentum, eps)[0]


@row("cudnn_batch_norm")
def cudnn_forward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Output; in training mean and inverse deviation; a reserve that is empty."""
    x, weight = args[:2]
    training = args[5]
    kept = weight.shape if training else (0,)
    mean, deviation = (torch.empty(kept, dtype=FP32, device="meta") for _ in range(2))
    reserve = torch.empty(0, dtype=torch.uint8, device="meta")
    return torch.empty_like(x), mean, deviation, reserve


@row("cudnn_batch_norm_backward")
def cudnn_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Gradients of input, weight and bias."""
    x, _, weight = args[:3]
    return torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)


@swap("rms_norm")
def rms_norm(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """Call the fused one, which torch has since 2.9, where input and weight have one dtype."""
    weight, eps = argument(args, kwargs, 2, "weight", None), argument(args, kwargs, 3, "eps", None)
    x, shape = args[:2]
    mixed = weight is not None and weight.dtype is not x.dtype
    transformed = torch._C._functorch.peek_interpreter_stack() is not None
    if mixed or transformed or not hasattr(aten, "_fused_rms_norm_backward"):
        return NotImplemented
    return _FusedRmsNorm.apply(x, shape, weight, eps)  # type: ignore[no-untyped-call]


class _FusedRmsNorm(torch.autograd.Function):
    """The fused RMS norm as autograd has it for CUDA; on meta torch takes it apart."""

    @staticmethod
    def forward(ctx: Any, x: Any, shape: Any, weight: Any, eps: Any) -> Any:
        """Keep the input and what its rows are divided by."""
        with torch._C._AutoDispatchBelowAutograd():
            output, deviation = aten._fused_rms_norm(x, shape, weight, eps)
        ctx.shape = shape
        ctx.save_for_backward(x, weight, deviation)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of input and weight."""
        x, weight, deviation = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient itself is to be differentiated
            return _differentiable(grads[0], x, ctx.shape, weight, ctx.needs_input_grad)
        wanted = [ctx.needs_input_grad[0], ctx.needs_input_grad[2]]
        with torch._C._AutoDispatchBelowAutograd():
            of_input, of_weight = aten._fused_rms_norm_backward(
                grads[0], x, ctx.shape, deviation, weight, wanted
            )
        return of_input, None, of_weight, None


def _differentiable(grad: Any, x: Any, shape: Any, weight: Any, needed: Any) -> Any:
    """Return gradients that have gradients: those of the norm taken apart, as CUDA has them too."""
    asked = [one for one, place in ((x, 0), (weight, 2)) if needed[place]]
    found = iter(
        torch.autograd.grad(aten.rms_norm(x, shape, weight), asked, grad, create_graph=True)
    )
    return next(found) if needed[0] else None, None, next(found) if needed[2] else None, None


@row("_fused_rms_norm")
def fused_forward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The output, and for each row what it is divided by, in fp32 (`layer_norm_kernel.cu`)."""
    x, shape = args[:2]
    rows = (*x.shape[: x.dim() - len(shape)], *(1 for _ in shape))
    dtype = torch.float64 if x.dtype is torch.float64 else FP32
    output = torch.empty_like(x, memory_format=torch.contiguous_format)
    return output, torch.empty(rows, dtype=dtype, device="meta")


@row("_fused_rms_norm_backward")
def fused_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Gradients of input and weight."""
    x, weight, wanted = args[1], args[4], args[5]
    of_input = torch.empty_like(x, memory_format=torch.contiguous_format) if wanted[0] else None
    of_weight = torch.empty_like(weight) if wanted[1] and weight is not None else None
    return of_input, of_weight


@row("native_group_norm", "native_group_norm_backward")
def group_norm(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Factors for each channel of each image, in fp32."""
    x = args[1] if "backward" in str(op) else args[0]
    for _ in range(3 if "backward" in str(op) else 2):
        context.scratch(x.shape[0] * x.shape[1] * 4)
    return NotImplemented
