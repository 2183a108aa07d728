"""Reductions: partial sums in memory where one output is the work of several blocks, and copies cast.

Source: `Reduce.cuh` (`setReduceConfig`, `global_memory_size`) and `ReduceOps.cpp`, under
aten/src/ATen/native.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import FP32, HALVES, argument, nbytes, row

_WARP, _MOST_THREADS, _THREADS_OF_A_PROCESSOR = 32, 512, 2048
_LEAST_VALUES, _MOST_VALUES, _WARP_VALUES, _VECTOR = 16, 256, 16, 4
_WIDEST_INDEX = 2**31
"""Tensors of more bytes are reduced in halves (`can_use_32bit_indexing`)."""
_ACCUMULATED = {"argmax": 16, "argmin": 16, "max": 16, "min": 16, "any": 1, "all": 1}
"""Bytes of a value and its index, of a truth value; `var` keeps mean, squares and two counts."""
_WELFORD = frozenset(("var", "var_mean", "std", "std_mean"))
_FIRST_DIMS = {"linalg_vector_norm": 2, "norm": 2}
"""The place of the argument that says which dimensions, where it is not the second."""


def partial_results(
    rows: int, columns: int, multiprocessors: int, size: int = 4, last: int | None = None
) -> int:
    """Return the bytes of partial results of `columns` outputs, each over `rows` values.

    The columns lie next to each other in memory, `last` of them in one run; `size` is that of what
    is accumulated, bytes.
    """
    last = columns if last is None else last
    vector = math.gcd(last, _VECTOR)
    threads = _MOST_THREADS // vector
    wide, high = _power(columns // vector, threads), _power(rows, threads)
    width = min(wide, _WARP)
    height = min(high, threads // width)
    width = min(wide, threads // height)
    if rows < min(height * _WARP_VALUES, _MOST_VALUES):
        return 0
    values = -(-rows // height)
    grid = -(-(columns // vector) // width)
    target = multiprocessors * (_THREADS_OF_A_PROCESSOR // (width * height))
    if values < _MOST_VALUES or grid > target:
        return 0
    sharing = max(min(-(-target // grid), -(-values // _LEAST_VALUES)), -(-values // _MOST_VALUES))
    return size * columns * sharing * width * vector if sharing > 1 else 0


@row(
    "sum",
    "mean",
    "linalg_vector_norm",
    "norm",
    "amax",
    "amin",
    "prod",
    "argmax",
    "argmin",
    "max",
    "min",
    "any",
    "all",
    *_WELFORD,
)
def reduced(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The output, with partial results where the columns of a tall tensor are few.

    Sums over a last dimension or over everything need kilobytes at most.
    """
    name = op._schema.name.rpartition("::")[2]
    x = args[0]
    _cast(name, x, args, kwargs, context)
    found = _tall(x, argument(args, kwargs, _FIRST_DIMS.get(name, 1), "dim", None))
    if found is not None and not (name in ("max", "min") and isinstance(args[-1], torch.Tensor)):
        size = 16 if name in _WELFORD else _ACCUMULATED.get(name, max(4, x.dtype.itemsize))
        rows, columns, last = found
        while rows * columns * x.dtype.itemsize > _WIDEST_INDEX:
            rows = -(-rows // 2)
        needed = partial_results(rows, columns, context.gpu.multiprocessors, size, last)
        context.scratch(needed)
    return NotImplemented


@row("cumsum", "cumprod", "logcumsumexp")
def scanned(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The output; an input of another dtype is cast first (`impl_func_cum_ops`)."""
    x = args[0]
    dtype = kwargs.get("dtype") or (x.dtype if x.is_floating_point() else torch.int64)
    context.scratch(nbytes(x, dtype) if dtype is not x.dtype and not x.is_complex() else 0)
    return NotImplemented


@row("logsumexp")
def logsumexp(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The exponentials of all elements lie in memory before they are summed (`logsumexp_out_impl`)."""
    context.scratch(nbytes(args[0]))
    return NotImplemented


@row("abs", "angle")
def of_complex(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Of a complex tensor a complex result is made first (`unary_op_impl_with_complex_to_float_out`)."""
    if args[0].is_complex():
        context.scratch(nbytes(args[0]))
    return NotImplemented


def _cast(name: str, x: Any, args: Any, kwargs: Any, context: KernelContext) -> None:
    """Declare the copy in the dtype of the result; from 16 bits to fp32 it is read as it is.

    `make_reduction_from_out_ty`: integers and truth values are summed as int64.
    """
    if name not in ("sum", "prod", "mean"):
        return
    dtype = kwargs.get("dtype") or next((one for one in args if type(one) is torch.dtype), None)
    if dtype is None and not (x.is_floating_point() or x.is_complex()):
        dtype = torch.int64
    if dtype is None or dtype is x.dtype or (x.dtype in HALVES and dtype is FP32):
        return
    context.scratch(nbytes(x, dtype))


def _tall(x: torch.Tensor, dims: Any) -> tuple[int, int, int] | None:
    """Return (values for each output, outputs, those in one run) of a reduction.

    None unless it keeps the last dimension of a contiguous tensor.
    """
    if isinstance(dims, int):
        dims = [dims]
    if not dims or not x.dim() or not x.numel() or not x.is_contiguous():
        return None
    reduced_dims = {dim % x.dim() for dim in dims}
    sizes = list(x.shape)
    while sizes and sizes[-1] == 1:
        sizes.pop()
    if not sizes or len(sizes) - 1 in reduced_dims:
        return None
    rows = math.prod(size for dim, size in enumerate(sizes) if dim in reduced_dims)
    begin = max((dim for dim in reduced_dims if dim < len(sizes)), default=-1) + 1
    return rows, x.numel() // rows, math.prod(sizes[begin:])


def _power(value: int, most: int) -> int:
    """Return the greatest power of two that is not above a number, `most` at most."""
    return most if value >= most else 1 << (max(value, 1).bit_length() - 1)
