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
    """Call the fused one, which torch has since 2.9."""
    fused = getattr(aten, "_fused_rms_norm", None)
    if fused is None:
        return NotImplemented
    x, shape = args[:2]
    weight, eps = argument(args, kwargs, 2, "weight", None), argument(args, kwargs, 3, "eps", None)
    return fused(x, shape, weight, eps)[0]


@row("native_group_norm", "native_group_norm_backward")
def group_norm(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Factors for each channel of each image, in fp32."""
    x = args[1] if "backward" in str(op) else args[0]
    for _ in range(3 if "backward" in str(op) else 2):
        context.scratch(x.shape[0] * x.shape[1] * 4)
    return NotImplemented
