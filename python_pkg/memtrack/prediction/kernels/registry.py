"""Rows and swaps by the name of their operation, as the families of kernels declare them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext

Kernel = Callable[[Any, tuple[Any, ...], dict[str, Any], KernelContext], Any]

ROWS: dict[str, Kernel] = {}
"""Below autograd: `run` asks these."""
SWAPS: dict[str, Kernel] = {}
"""Above autograd: `swap` asks these."""

FP32 = torch.float32
HALVES = (torch.float16, torch.bfloat16)


def row(*names: str) -> Callable[[Kernel], Kernel]:
    """Declare what CUDA does for the aten operations of these names."""

    def declared(kernel: Kernel) -> Kernel:
        ROWS.update(dict.fromkeys(names, kernel))
        return kernel

    return declared


def swap(*names: str) -> Callable[[Kernel], Kernel]:
    """Declare what CUDA calls in place of these composite operations."""

    def declared(kernel: Kernel) -> Kernel:
        SWAPS.update(dict.fromkeys(names, kernel))
        return kernel

    return declared


def argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, default: Any
) -> Any:
    """Return an argument by its place or name."""
    return args[place] if len(args) > place else kwargs.get(name, default)


def nbytes(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> int:
    """Return the bytes of a tensor's elements, as another dtype where one is given."""
    size: int = (dtype or tensor.dtype).itemsize
    return tensor.numel() * size


def ceil_to(value: int, multiple: int) -> int:
    """Return the next multiple of a number."""
    return math.ceil(value / multiple) * multiple
