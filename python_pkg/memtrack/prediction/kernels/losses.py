"""Losses: what their reductions leave in memory, and cross entropy under autocast.

Source: `Loss.cpp`, `LossNLL.cpp` and `LossCTC.cu`, and the formulas of `FunctionsManual.cpp`.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import argument, nbytes, row, swap

aten = torch.ops.aten
_NONE, _MEAN = 0, 1


@row("mse_loss", "smooth_l1_loss")
def elementwise(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """A scalar in a storage of all elements, which was made before it was known to be reduced.

    The elements' losses lie in another meanwhile (`TORCH_META_FUNC(smooth_l1_loss)`).
    """
    if argument(args, kwargs, 2, "reduction", _MEAN) == _NONE:
        return NotImplemented
    shape = torch.broadcast_shapes(args[0].shape, args[1].shape)
    dtype = torch.promote_types(args[0].dtype, args[1].dtype)
    output = torch.empty(shape, dtype=dtype, device="meta")
    context.scratch(nbytes(output))
    return output.resize_(())


@row("huber_loss", "soft_margin_loss")
def composed(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The elements' losses lie in memory until they are reduced."""
    if argument(args, kwargs, 2, "reduction", _MEAN) != _NONE:
        context.scratch(nbytes(args[0]))
    return NotImplemented


@row("binary_cross_entropy")
def binary_cross_entropy(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """A scalar in the storage of the elements' losses, which was resized (`Loss.cu`)."""
    if argument(args, kwargs, 3, "reduction", _MEAN) == _NONE:
        return NotImplemented
    return torch.empty_like(args[0]).resize_(())


@row("binary_cross_entropy_with_logits")
def with_logits(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The logarithms of the sigmoid beside the elements' losses; weights take a tensor more."""
    reduction = argument(args, kwargs, 4, "reduction", _MEAN)
    size = nbytes(args[0])
    context.scratch(size)
    context.scratch(size if reduction != _NONE else 0)
    context.scratch(size if argument(args, kwargs, 3, "pos_weight", None) is not None else 0)
    return NotImplemented


@swap("binary_cross_entropy_with_logits")
def differentiated(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """One node whose gradient is computed in place; torch's own formula is not where modes are on."""
    logits, target = args[:2]
    weights = [
        argument(args, kwargs, n, name, None) for n, name in ((2, "weight"), (3, "pos_weight"))
    ]
    plain = all(one is None for one in weights) and not target.requires_grad
    if not plain or not (context.grad and logits.requires_grad):
        return NotImplemented
    reduction = argument(args, kwargs, 4, "reduction", _MEAN)
    return _WithLogits.apply(logits, target, reduction)  # type: ignore[no-untyped-call]


class _WithLogits(torch.autograd.Function):
    """`binary_cross_entropy_with_logits` and `binary_cross_entropy_with_logits_backward`."""

    @staticmethod
    def forward(ctx: Any, logits: Any, target: Any, reduction: int) -> Any:
        ctx.save_for_backward(logits, target)
        ctx.reduction = reduction
        return aten.binary_cross_entropy_with_logits(logits, target, None, None, reduction)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        logits, target = ctx.saved_tensors
        gradient = gradients[0]
        if torch.is_grad_enabled():
            found = (logits.sigmoid() - target) * gradient
            return found / logits.numel() if ctx.reduction == _MEAN else found, None, None
        found = logits.sigmoid().sub_(target).mul_(gradient)
        return found.div_(logits.numel()) if ctx.reduction == _MEAN else found, None, None


@row("_ctc_loss_backward")
def ctc_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The backward variables, as many as the forward ones, are there until the gradient is."""
    context.scratch(nbytes(args[6]))
    return NotImplemented


@swap("cross_entropy_loss")
def cross_entropy(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Under autocast the logarithms are in the logits' dtype, and cast to fp32 for the loss.

    `cross_entropy_loss` asks `log_softmax` for this dtype, which autocast then leaves alone; `nll_loss`
    is in its list. Probabilities as targets are multiplied in the logits' dtype and summed in fp32.
    """
    logits, target = args[:2]
    if context.autocast is None or logits.dtype not in (torch.float16, torch.bfloat16):
        return NotImplemented
    weight, reduction, ignored, smoothing = (
        argument(args, kwargs, n, name, default)
        for n, name, default in (
            (2, "weight", None),
            (3, "reduction", _MEAN),
            (4, "ignore_index", -100),
            (5, "label_smoothing", 0.0),
        )
    )
    classes = 0 if logits.dim() == 1 else 1
    count = logits.shape[classes]
    logs = aten.log_softmax.int(logits, classes, logits.dtype)
    if weight is not None:
        each = weight.view([-1 if dim == classes else 1 for dim in range(logits.dim())])
    if target.is_floating_point():
        if smoothing > 0:
            target = target * (1 - smoothing) + smoothing / count
        product = logs * target if weight is None else logs * target * each
        losses = -product.sum(dtype=torch.float32)
        return losses / (logits.numel() // count) if reduction == _MEAN else losses
    full = None if weight is None else weight.float()
    loss = aten.nll_loss_nd(logs.float(), target, full, reduction, ignored)
    if not smoothing:
        return loss
    scaled = logs if weight is None else logs * each
    smooth = -scaled.sum(classes, dtype=torch.float32)
    smooth = smooth.masked_fill(target == ignored, 0.0)
    if reduction == _MEAN:
        smooth = smooth.sum() / (target != ignored).sum()
    elif reduction != _NONE:
        smooth = smooth.sum()
    return loss * (1 - smoothing) + smooth * (smoothing / count)
