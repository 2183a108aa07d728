"""Lookups: gradients summed after their indices were sorted.

Source: `Embedding.cu`, `EmbeddingBackwardKernel.cu`, `EmbeddingBag.cu` and `Indexing.cu`
(`index_put_with_sort_kernel`), under aten/src/ATen/native/cuda.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import argument, row

FEW, SEGMENT = 3072, 10
"""Up to so many indices are added one by one; more in segments of so many equal ones."""
INDEX = 8
_MAXIMUM = 2
"""The mode of an `EmbeddingBag` whose gradients are scattered."""
_ONE_TILE = 4096
"""What one block sorts needs no memory (`cub::DeviceRadixSort`); beyond, keys and values once more."""


@row("embedding_dense_backward")
def embedding_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The gradient of the whole table, with the sums of the segments beside it."""
    grad, indices, rows = args[:3]
    if indices.numel() > FEW:
        _by_segments(indices.numel(), rows, grad.shape[-1], 0, context)
    return NotImplemented


@row("_embedding_bag_backward")
def embedding_bag_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """As for an embedding, whatever the number of indices, for sums and means; with the bag of each."""
    grad, indices, rows, mode = args[0], args[1], args[6], args[8]
    if mode != _MAXIMUM:
        _by_segments(indices.numel(), rows, grad.shape[-1], 1, context)
    return NotImplemented


def _by_segments(count: int, rows: int, width: int, beside: int, context: KernelContext) -> None:
    """Sort, then sum by segment in fp32; `beside` so many tensors like the indices are there too."""
    most = min(count, rows)
    segments = count // SEGMENT + most
    context.scratch_sequence(
        [
            (4 + beside) * INDEX * count,
            segments * (width * 4 + INDEX) + 2 * INDEX * most + (2 + beside) * INDEX * count,
        ]
    )


@row("index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put")
def index_put(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Accumulating sorts the rows' numbers: them and their order, both before and after."""
    if not argument(args, kwargs, 3, "accumulate", False) and not context.deterministic:
        return NotImplemented
    indices = [one for one in args[1] if one is not None]
    if not indices or any(one.dtype in (torch.bool, torch.uint8) for one in indices):
        return NotImplemented
    count = torch.broadcast_shapes(*(one.shape for one in indices)).numel()
    for _ in range(4):
        context.scratch(INDEX * count)
    context.scratch(2 * INDEX * count if count > _ONE_TILE else 0)
    return NotImplemented
