"""Reductions over rows: partial sums in memory where one output is the work of several blocks.

Source: `Reduce.cuh` (`setReduceConfig`, `global_memory_size`): the columns' block is 32 wide, each thread
takes 4 of them and a quarter of the rows; with 64 rows or more for a thread, blocks share an output.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row, swap

WIDE, VECTOR, HIGH = 32, 4, 4
_THREADS_OF_A_PROCESSOR = 2048
_BYTES = 4
"""Partial sums are fp32."""


def partial_sums(rows: int, columns: int, multiprocessors: int) -> int:
    """Return the bytes of partial sums of `columns` outputs over `rows` values each."""
    each = -(-rows // HIGH)
    if each < 16 * HIGH or columns < WIDE * VECTOR // 2:
        return 0
    blocks = -(-columns // (WIDE * VECTOR))
    target = multiprocessors * (_THREADS_OF_A_PROCESSOR // (WIDE * HIGH))
    sharing = max(min(-(-target // blocks), -(-each // 16)), -(-each // 256))
    return columns * _BYTES * sharing * WIDE * VECTOR if sharing > 1 else 0


@row("sum", "mean")
def over_rows(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """A sum over the leading dimensions of a contiguous tensor, as the gradient of a bias is."""
    x = args[0]
    dims = args[1] if len(args) > 1 and isinstance(args[1], (list, tuple)) else None
    if not dims or not x.is_contiguous():
        return NotImplemented
    reduced = sorted(dim % x.dim() for dim in dims)
    if reduced == list(range(len(reduced))) and len(reduced) < x.dim():
        rows = 1
        for dim in reduced:
            rows *= x.shape[dim]
        columns = x.numel() // max(rows, 1)
        context.scratch(partial_sums(rows, columns, context.gpu.multiprocessors))
    return NotImplemented


@swap("dropout")
def dropout(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """On CUDA one kernel with a mask of bytes (`Dropout.cpp`, `is_fused_kernel_acceptable`)."""
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


@swap("softmax", "log_softmax")
def softmax(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """From fp16 to fp32 in one kernel, without a copy in fp32 (`SoftMax.cpp`)."""
    x, dim = args[:2]
    dtype = args[2] if len(args) > 2 else kwargs.get("dtype")
    if x.dtype is not torch.float16 or dtype is not torch.float32:
        return NotImplemented
    name = "_log_softmax" if "log" in str(op) else "_softmax"
    return getattr(torch.ops.aten, name)(x, dim, True)
