"""Attention: which fused kernel CUDA takes, what it saves, what its backward needs.

Sources: `sdp_utils.cpp` (order and conditions), `attention.cu`, `attention_backward.cu` and
`flash_api.cpp` under aten/src/ATen/native/transformers/cuda, `cudnn/MHA.cpp`; sizes checked against
`bench/results/kernels.json`.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import FP32, HALVES, argument, ceil_to, nbytes, row, swap

aten = torch.ops.aten
CUDNN_WORKSPACE = 256
CUDNN_FIRST = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 9)
MASK_ALIGNMENT = 8
FLASH, EFFICIENT, CUDNN, MATH = "flash", "efficient", "cudnn", "math"


def backend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    context: KernelContext,
    causal: bool = False,
    grouped: bool = False,
) -> str:
    """Return which implementation of `scaled_dot_product_attention` CUDA takes.

    Heads of keys are shared by several of queries only where the call says so (`grouped`, its
    `enable_gqa`); else fewer of them are broadcast by the composite
    (`check_batch_size_and_num_heads_dense`).

    Since torch 2.9 cuDNN comes first on Hopper and Blackwell, flash first elsewhere. Of a mask that is
    learnt, as Swin's bias of positions is, only the efficient kernel gives a gradient, and only where
    its rows are dense, as those of T5's are not.
    """
    width, length = query.shape[-1], query.shape[-2]
    if (
        query.dim() != 4
        or key.shape[-2] == 0
        or (value.shape[-1] != width and query.dtype not in HALVES)
        or not _heads_fit(query, key, value, grouped)
    ):
        return MATH
    shared = query.shape[1] != key.shape[1]
    half = query.dtype in HALVES
    modern = context.gpu.capability >= (8, 0)
    flags = torch.backends.cuda
    learnt = mask is not None and mask.requires_grad and context.grad
    cudnn = CUDNN_FIRST and context.gpu.capability[0] >= 9 and context.cudnn
    cudnn = cudnn and flags.cudnn_sdp_enabled() and not context.deterministic
    if half and cudnn and not learnt:
        limit = 256 if context.gpu.capability[0] == 9 else 128
        if width % 8 == 0 and width <= limit and length > 1:
            return CUDNN
    square = not causal or length == key.shape[-2]
    if half and modern and square and mask is None and width <= 256 and flags.flash_sdp_enabled():
        return FLASH
    aligned = width % (8 if half else 4) == 0
    dense = all(one is None or one.stride(-1) == 1 for one in (query, key, value, mask))
    if aligned and dense and not shared and flags.mem_efficient_sdp_enabled():
        return EFFICIENT
    return MATH


def _heads_fit(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, grouped: bool) -> bool:
    """Tell whether batches and heads are such as the fused kernels take."""
    if not query.shape[0] == key.shape[0] == value.shape[0] or key.shape[1] != value.shape[1]:
        return False
    return bool(query.shape[1] == key.shape[1] or (grouped and query.shape[1] % key.shape[1] == 0))


@swap("scaled_dot_product_attention")
def scaled_dot_product_attention(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Call the fused operation; a mask of truth values becomes one that is added."""
    query, key, value = (
        argument(args, kwargs, n, name, None) for n, name in enumerate(("query", "key", "value"))
    )
    mask = argument(args, kwargs, 3, "attn_mask", None)
    dropout = argument(args, kwargs, 4, "dropout_p", 0.0)
    causal = argument(args, kwargs, 5, "is_causal", False)
    scale = kwargs.get("scale")
    grouped = bool(kwargs.get("enable_gqa"))
    chosen = backend(query, key, value, mask, context, causal, grouped)
    grads = context.grad and any(one.requires_grad for one in (query, key, value))
    if mask is not None and mask.dtype is torch.bool and chosen != MATH:
        mask = torch.zeros_like(mask, dtype=query.dtype)
    if mask is not None and chosen == EFFICIENT:
        mask = _aligned(mask)
    if mask is not None and chosen in (EFFICIENT, CUDNN):
        mask = mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    if chosen == CUDNN:
        return aten._scaled_dot_product_cudnn_attention(
            query, key, value, mask, grads, dropout, causal, False, scale=scale
        )[0]
    if chosen == EFFICIENT:
        return aten._scaled_dot_product_efficient_attention(
            query, key, value, mask, grads, dropout, causal, scale=scale
        )[0]
    if chosen == FLASH:
        return _flash(query, key, value, dropout, causal, scale)
    return _math(query, key, value, mask, dropout, causal, scale, grouped)


def _aligned(mask: torch.Tensor) -> torch.Tensor:
    """Pad the rows of a mask where they do not begin at multiples of 8 values (`preprocess_mask`)."""
    if all(step % MASK_ALIGNMENT == 0 for step in mask.stride()[:-1]):
        return mask
    length = mask.shape[-1]
    return torch.nn.functional.pad(mask, (0, MASK_ALIGNMENT - length % MASK_ALIGNMENT))[
        ..., :length
    ]


def _flash(query: Any, key: Any, value: Any, dropout: float, causal: bool, scale: Any) -> Any:
    """Heads are padded to a multiple of 8, and the scale stays that of the true width."""
    width = query.shape[-1]
    if width % 8 == 0:
        return aten._scaled_dot_product_flash_attention(
            query, key, value, dropout, causal, False, scale=scale
        )[0]
    scale = 1 / math.sqrt(width) if scale is None else scale
    padded = [torch.nn.functional.pad(one, (0, -width % 8)) for one in (query, key, value)]
    outputs = aten._scaled_dot_product_flash_attention(*padded, dropout, causal, False, scale=scale)
    return outputs[0][..., :width]


def _math(
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    dropout: float,
    causal: bool,
    scale: Any,
    grouped: bool,
) -> Any:
    """The composite of products, softmax and dropout, as `_scaled_dot_product_attention_math` has it.

    Halves are computed in fp32 unless `allow_fp16_bf16_reduction_math_sdp` is on.
    """
    origin = query.dtype
    allowed = getattr(torch.backends.cuda, "fp16_bf16_reduction_math_sdp_allowed", None)
    if origin in HALVES and allowed is not None and not allowed():
        query, key, value = query.float(), key.float(), value.float()
    if grouped and query.shape[-3] != key.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    if causal:
        mask = torch.zeros(query.shape[-2], key.shape[-2], dtype=origin, device=query.device)
    elif mask is not None and mask.dtype is torch.bool:
        mask = torch.zeros_like(mask, dtype=origin)
    factor = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else abs(scale))
    scores = (query * factor) @ (key.transpose(-2, -1) * factor)
    if mask is not None:
        scores.add_(mask)
    softmax = getattr(aten, "_safe_softmax", torch.softmax)  # since torch 2.5
    weights = softmax(scores, -1)
    if dropout > 0:
        weights = aten.native_dropout(weights, dropout, True)[0]
    return (weights @ value).to(origin)


@row("_safe_softmax")
def safe_softmax(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """A softmax whose rows of nothing but -inf are made zero; where those are, as truth values."""
    context.scratch(args[0].numel())
    return torch.empty_like(args[0])


@row("_scaled_dot_product_cudnn_attention")
def cudnn_forward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Output and, for backward, the sum of exponentials in fp32."""
    context.scratch(CUDNN_WORKSPACE)
    return NotImplemented


@row("_scaled_dot_product_cudnn_attention_backward")
def cudnn_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """One workspace: the gradient of the queries in fp32, and keys and values for every head."""
    _, query, key, value = args[:4]
    lse = query.shape[0] * query.shape[1] * query.shape[2] * 4
    expanded = 0
    if query.shape[1] != key.shape[1]:
        heads = query.shape[1] // key.shape[1]
        expanded = heads * (nbytes(key) + nbytes(value))
    context.scratch(nbytes(query, FP32) + lse + CUDNN_WORKSPACE + expanded)
    return torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)


@row("_scaled_dot_product_efficient_attention_backward")
def efficient_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """First the product of output and gradient in fp32, then tiles of 64 queries of the gradient."""
    query = args[1]
    batch, heads, length, width = query.shape
    lse = batch * heads * ceil_to(length, 32) * 4
    blocks = -(-length // 64)
    tile = 64 * ceil_to(width, 64) * 4
    context.scratch_sequence(
        [nbytes(query, FP32) + 2 * lse, batch * heads * (blocks * tile + 16 * blocks) + lse]
    )
    return NotImplemented


@row("_scaled_dot_product_flash_attention_backward")
def flash_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The gradient of the queries in fp32 over whole tiles, and keys and values for every head."""
    _, query, key, value = args[:4]
    batch, heads, length, width = query.shape
    rounded = ceil_to(length, 128)
    context.scratch(batch * heads * rounded * ceil_to(width, 32) * 4)
    context.scratch(batch * heads * rounded * 4)
    if heads != key.shape[1]:
        times = heads // key.shape[1]
        context.scratch(times * nbytes(key))
        context.scratch(times * nbytes(value))
    return NotImplemented
