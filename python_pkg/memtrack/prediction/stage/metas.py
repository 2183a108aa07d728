"""Outputs of operations that torch itself does not run on meta, as CUDA makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor
_ALIGNMENT_BYTES = 16
"""Rows of a grouped product begin at multiples of this (`GroupedMMUtils.h`)."""


def outputs_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the outputs of an operation named here, NotImplemented for the rest."""
    make = _MADE.get(name)
    return NotImplemented if make is None else make(*args, **kwargs)


def _grouped_mm(
    first: Tensor, second: Tensor, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Products of groups of rows: by two or three dimensions of each factor."""
    groups = 0 if offs is None else offs.shape[0]
    size: tuple[int, ...]
    if first.dim() == 2 and second.dim() == 2:
        size = (groups, first.shape[0], second.shape[1])
    elif first.dim() == 2:
        size = (first.shape[0], second.shape[-1])
    elif second.dim() == 2:
        size = (first.shape[1], second.shape[1])
    else:
        size = (first.shape[0], first.shape[1], second.shape[-1])
    dtype = out_dtype or first.dtype
    step = _ALIGNMENT_BYTES // dtype.itemsize
    row = -(-size[-1] // step) * step
    strides = (row, 1) if len(size) == 2 else (size[1] * row, row, 1)
    return torch.empty_strided(size, strides, dtype=dtype, device="meta")


def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """The loss of each sequence, and the forward variables kept for backward (`LossCTC.cu`)."""
    longest = (
        max(target_lengths) if isinstance(target_lengths, (list, tuple)) else targets.shape[-1]
    )
    steps, batch = log_probs.shape[0], log_probs.shape[1]
    loss = log_probs.new_empty((batch,))
    return loss, log_probs.new_empty((batch, steps, 2 * longest + 1))


def _ctc_loss_backward(grad: Tensor, log_probs: Tensor, *rest: Any) -> Any:
    return torch.empty_like(log_probs)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """`torch.ctc_loss` of lengths as numbers; torch's own reads the targets on the host."""
    losses: Tensor = torch.ops.aten._ctc_loss.default(
        log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
    )[0]
    if zero_infinity:
        losses = torch.where(losses == float("inf"), torch.zeros_like(losses), losses)
    if reduction == 1:
        lengths = torch.tensor(target_lengths, dtype=losses.dtype, device=losses.device)
        return (losses / lengths.clamp_min(1)).mean()
    return losses.sum() if reduction == 2 else losses


def _like_first(*args: Any, **kwargs: Any) -> Tensor:
    """Draws and gradients of the shape of what they are given first, as the CUDA kernels make them."""
    return torch.empty_like(args[0])


def _like_second(first: Tensor, second: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The gradient of a loss, like its input."""
    return torch.empty_like(second)


def _efficient(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Any,
    keeps_sums: bool,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Outputs by steps, then heads; sums of exponentials in fp32 (`attention.cu`)."""
    batch, heads, length, _ = query.shape
    output = query.new_empty((batch, length, heads, value.shape[-1])).transpose(1, 2)
    return output, *_sums(query, -(-length // 32) * 32 if keeps_sums else 0)


def _flash(query: Tensor, *args: Any, **kwargs: Any) -> Any:
    """As the above; with the numbers that say where sequences begin, which are not asked for."""
    length = query.shape[2]
    output = torch.empty_like(query.transpose(1, 2)).transpose(1, 2)
    sums, seed, offset = _sums(query, length)
    return output, sums, None, None, length, args[0].shape[2], seed, offset, query.new_empty(0)


def _sums(query: Tensor, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Sums of exponentials, and the seed and place of dropout's generator."""
    numbers = [torch.empty((), dtype=torch.int64, device="meta") for _ in range(2)]
    sums = torch.empty((*query.shape[:2], length), dtype=torch.float32, device="meta")
    return sums, numbers[0], numbers[1]


def _in_place(*args: Any, **kwargs: Any) -> None:
    """Fused optimizers change weights and states where they lie (`FusedSgdKernel.cu` and the like)."""


def _geqrf(x: Tensor) -> tuple[Tensor, Tensor]:
    """Reflectors in columns, and their factors."""
    reflectors = torch.empty_like(x.mT, memory_format=torch.contiguous_format).mT
    return reflectors, x.new_empty((*x.shape[:-2], min(x.shape[-2:])))


def _faked(x: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Values as if quantized, and which of them lay inside the range (`FakeQuantizeCore.cu`)."""
    return torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)


_MADE: dict[str, Callable[..., Any]] = {
    "_grouped_mm": _grouped_mm,
    "_ctc_loss": _ctc_loss,
    "_ctc_loss_backward": _ctc_loss_backward,
    "_sample_dirichlet": _like_first,
    "_dirichlet_grad": _like_first,
    "_standard_gamma": _like_first,
    "_standard_gamma_grad": _like_first,
    "binomial": _like_first,
    "geqrf": _geqrf,
    "_fused_sgd_": _in_place,
    "_fused_adagrad_": _in_place,
    "_fused_adam_": _in_place,
    "_fused_adamw_": _in_place,
    "multi_margin_loss_backward": _like_second,
    "multilabel_margin_loss_backward": _like_second,
    "fake_quantize_per_tensor_affine_cachemask": _faked,
    "fake_quantize_per_channel_affine_cachemask": _faked,
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": _faked,
}

_ATTENTION: dict[str, Callable[..., Any]] = {
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_flash_attention": _flash,
}
"""Torch before 2.6 runs these on fake tensors alone."""
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_MADE.update(
    {name: make for name, make in _ATTENTION.items() if not _has_kernel(f"aten::{name}", "Meta")}
)
