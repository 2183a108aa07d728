"""Convolution: what cuDNN's heuristics need as workspace.

cuDNN's kernels for tensor cores work on channels that lie last. Tensors that do not are converted in the
workspace: input, output and weights. Sums over the batch for the gradient of the weights come in slices.
Fitted to the 140 convolutions of `bench/results/kernels.json` (an H200, cuDNN 9.19); what is left
of the differences widens the interval.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import FP32, nbytes, row
from memtrack.units import MIB

SLICES, MOST_SLICES = 14, 8 * MIB
"""The gradient of the weights is summed in up to so many slices of their size, of at most so much."""


@row("convolution")
def forward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The output, and the workspace of the conversion."""
    x, weight = args[:2]
    outputs = op(*args, **kwargs)
    context.scratch(_converted(x, weight, outputs, args, context))
    return outputs


@row("convolution_backward")
def backward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """Gradients of the input, then of the weights, each with its own workspace."""
    grad, x, weight = args[:3]
    wanted = args[-1]
    outputs = op(*args, **kwargs)
    forward_args = (x, weight, None, *args[4:])
    converted = _converted(x, weight, grad, forward_args, context)
    slices = min(SLICES * nbytes(weight), MOST_SLICES) if not _native(weight, args[-2]) else 0
    pieces = [converted if wanted[0] else 0, converted + slices if wanted[1] else 0]
    context.scratch_sequence(pieces)
    return outputs


def _native(weight: torch.Tensor, groups: int) -> bool:
    """Tell a depthwise convolution, which PyTorch's own kernels do without a workspace."""
    return bool(groups > 1 and weight.shape[1] == 1)


def _converted(
    x: torch.Tensor,
    weight: torch.Tensor,
    y: torch.Tensor,
    args: tuple[Any, ...],
    context: KernelContext,
) -> int:
    """Return the bytes of the workspace in which tensors are converted; args as of `convolution`."""
    groups = args[8] if len(args) > 8 else 1
    last = x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last)
    if not context.cudnn or _native(weight, groups) or (last and not x.is_contiguous()):
        return 0
    kernel, stride = tuple(weight.shape[2:]), tuple(args[3])
    one = all(size == 1 for size in kernel)
    patches = kernel == stride
    if (one and all(step == 1 for step in stride)) or patches:
        # A plain product: the tensors are taken as they lie.
        context.widen(nbytes(x) // 2 if patches and not one else 0)
        return 0
    whole = nbytes(x) + nbytes(weight) + nbytes(y)
    if x.dtype is FP32:
        context.widen(nbytes(y) // 2)
    return whole
