"""Matrix products: the workspaces that cuBLAS keeps for each handle and stream.

Source: `CUDABlas.cpp` and `CublasHandlePool.cpp` (`getChosenWorkspaceSize`): 32 MiB on Hopper and 8.125
MiB before, and as much as was measured beyond it (`first` in `bench/results/kernels.json`). Backward
runs on a thread of its own, whose handle has its own.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row
from memtrack.units import KIB

HOPPER, BEFORE = 34_078_720, 8320 * KIB
_GROUPED = ((9, 0), (10, 0))
_TENSOR_MAPS = 3 * 128
"""Bytes of the descriptors of a group's three matrices, for each multiprocessor."""


@row("mm", "addmm", "bmm", "baddbmm", "addbmm", "_addmm_activation")
def product(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The output, and the workspace with the first product of each thread."""
    size = HOPPER if context.gpu.capability[0] >= 9 else BEFORE
    context.keep(("cublas", context.backward), size)
    return NotImplemented


@row("_grouped_mm")
def grouped(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """One kernel for all groups in bf16 on Hopper and Blackwell, else a product for each (`GroupedBlas.cpp`)."""
    if args[0].dtype is torch.bfloat16 and context.gpu.capability in _GROUPED:
        context.scratch(_TENSOR_MAPS * context.gpu.multiprocessors)
        return NotImplemented
    return product(op, args, kwargs, context)
