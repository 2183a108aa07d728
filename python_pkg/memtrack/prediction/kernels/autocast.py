"""What `torch.autocast("cuda")` casts before an operation.

The lists are those of `autocast_mode.h`. Casts of weights (leaves in fp32 that want gradients) are kept
until the outermost block is left, as `cached_cast` does.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

LOWER = frozenset(
    [
        "convolution",
        "_convolution",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_tbc",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "prelu",
        "addmm",
        "addmv",
        "addr",
        "matmul",
        "einsum",
        "mm",
        "mv",
        "linalg_vecdot",
        "linear",
        "addbmm",
        "baddbmm",
        "bmm",
        "chain_matmul",
        "linalg_multi_dot",
        "lstm_cell",
        "gru_cell",
        "rnn_tanh_cell",
        "rnn_relu_cell",
        "scaled_dot_product_attention",
        "lstm",
        "gru",
        "rnn_tanh",
        "rnn_relu",
    ]
)
FULL = frozenset(
    [
        "__rpow__",
        "acos",
        "asin",
        "cosh",
        "erfinv",
        "exp",
        "expm1",
        "log",
        "log10",
        "log2",
        "log1p",
        "reciprocal",
        "rsqrt",
        "sinh",
        "tan",
        "pow",
        "softplus",
        "layer_norm",
        "native_layer_norm",
        "group_norm",
        "frobenius_norm",
        "nuclear_norm",
        "cosine_similarity",
        "poisson_nll_loss",
        "cosine_embedding_loss",
        "nll_loss",
        "nll_loss2d",
        "hinge_embedding_loss",
        "kl_div",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "mse_loss",
        "margin_ranking_loss",
        "multilabel_margin_loss",
        "soft_margin_loss",
        "triplet_margin_loss",
        "multi_margin_loss",
        "binary_cross_entropy_with_logits",
        "dist",
        "pdist",
        "cdist",
        "renorm",
        "logsumexp",
        "upsample_nearest1d",
        "upsample_nearest2d",
        "upsample_nearest3d",
        "upsample_linear1d",
        "upsample_bilinear2d",
        "upsample_trilinear3d",
        "upsample_bicubic2d",
        "rms_norm",
        "ctc_loss",
    ]
)
TO_FULL = frozenset(
    [
        "prod",
        "softmax",
        "log_softmax",
        "cumprod",
        "cumsum",
        "linalg_vector_norm",
        "linalg_matrix_norm",
        "sum",
    ]
)
"""Given a dtype of fp32 unless they have one: they read 16 bits as they are, and keep them for backward."""
WIDEST = frozenset(
    [
        "addcdiv",
        "addcmul",
        "atan2",
        "bilinear",
        "cross",
        "dot",
        "vdot",
        "grid_sample",
        "index_put",
        "tensordot",
        "scatter_add",
        "cat",
        "stack",
    ]
)
_CASTABLE = (torch.float32, torch.float16, torch.bfloat16)


class Casts:
    """The casts of weights that are kept."""

    def __init__(self) -> None:
        self._kept: dict[
            tuple[int, torch.dtype], tuple[weakref.ref[torch.Tensor], torch.Tensor]
        ] = {}

    def forget(self) -> None:
        """Let go of all: the outermost block was left."""
        self._kept.clear()

    def cast(self, value: Any, dtype: torch.dtype) -> Any:
        """Return a value with its floating tensors as `dtype`; fp64 stays."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value, dtype)
        if type(value) in (list, tuple):
            return type(value)(self.cast(one, dtype) for one in value)
        return value

    def _tensor(self, tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        if tensor.dtype is dtype or tensor.dtype not in _CASTABLE:
            return tensor
        weight = tensor.is_leaf and tensor.requires_grad and tensor.dtype is torch.float32
        if not weight or dtype is torch.float32 or not torch.is_autocast_cache_enabled():
            return tensor.to(dtype)
        key = (id(tensor), dtype)
        kept = self._kept.get(key)
        if kept is not None and kept[0]() is tensor:
            return kept[1]
        made = tensor.to(dtype)
        self._kept[key] = (weakref.ref(tensor), made)
        return made


def told_full(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether an operation of `TO_FULL` is given fp32 as its dtype: it has none, and 16 bits come in."""
    named = kwargs.get("dtype") is not None or any(isinstance(one, torch.dtype) for one in args)
    return not named and isinstance(args[0], torch.Tensor) and args[0].dtype in _CASTABLE


def widest(values: Any) -> torch.dtype | None:
    """Return the widest of the castable dtypes among tensors, None without two of them."""
    found: set[torch.dtype] = set()
    waiting = [values]
    while waiting:
        one = waiting.pop()
        if isinstance(one, torch.Tensor) and one.dtype in _CASTABLE:
            found.add(one.dtype)
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)
    if len(found) < 2:
        return None
    return torch.float32
