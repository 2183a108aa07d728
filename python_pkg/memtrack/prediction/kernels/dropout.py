"""Dropout and draws by probability: one kernel with a mask of bytes, probabilities in fp32.

Source: `Dropout.cpp` (`is_fused_kernel_acceptable`), `Dropout.cu`, `DistributionTemplates.h` and
`MultinomialKernel.cu`.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import FP32, argument, nbytes, row, swap


@swap("dropout")
def dropout(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """`native_dropout` where something is dropped and something kept."""
    x, p, training = args[0], args[1], args[2]
    if not training or not 0 < p < 1 or x.numel() == 0:
        return NotImplemented
    return torch.ops.aten.native_dropout(x, p, training)[0]


@row("native_dropout")
def native_dropout(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The output and its mask, a byte for each element."""
    return torch.empty_like(args[0]), torch.empty_like(args[0], dtype=torch.bool)


@row("native_dropout_backward")
def native_dropout_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The gradient."""
    return torch.empty_like(args[0])


@row("bernoulli", "bernoulli_")
def bernoulli(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The draws; probabilities of 16 bits are cast to fp32 first."""
    p = args[0]
    if "bernoulli_" in str(op) or len(args) > 1:
        p = argument(args, kwargs, 1, "p", None)
    if isinstance(p, torch.Tensor) and p.dtype not in (FP32, torch.float64):
        context.scratch(nbytes(p, FP32))
    return NotImplemented


@row("multinomial")
def multinomial(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The draws. Without replacement, and for one draw, probabilities are divided by random ones.

    With it a copy, its normalised one and the sums of that lie in memory (`multinomial_out`).
    """
    p, count = args[:2]
    again = argument(args, kwargs, 2, "replacement", False)
    context.scratch(nbytes(p) * (3 if again and count > 1 else 1))
    return NotImplemented
