"""Values computed beside: small tensors whose every element is known stay known.

A storage's value is a flat CPU tensor of its elements; any view of the storage is the same view of
it. Where all tensors of an operation are known it is computed for real on them, in place or not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from memtrack.prediction.stage.claims import Claim, claim_of, is_meta

MAX_ELEMENTS = 65536
"""Storages with more elements are not known; so computing beside takes microseconds."""
MAX_PRODUCTS = 1 << 22
"""Of a convolution, a millisecond's: what many layers make of a few known numbers decides nothing."""
_ERRORS = (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let real tensors be worked on: no mode sees what is done inside."""
    with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.no_grad():
        yield


def value_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the known value of a tensor without data as a view of the stored one, else None."""
    claim = claim_of(tensor)
    if claim is None:
        return None
    return view_of(claim, tensor)


def view_of(claim: Claim, tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the part of a claim's value that `tensor` shows."""
    value = claim.value
    if value is None:
        return None
    if value.dtype != tensor.dtype:
        try:
            value = value.view(tensor.dtype)
        except RuntimeError:
            return None
    try:
        seen = value.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
    except RuntimeError:  # the storage has been resized
        return None
    if tensor.is_conj():
        seen = seen.conj()
    return seen


def remember(tensor: torch.Tensor, claim: Claim, real: torch.Tensor) -> None:
    """Let `real` be the value of a whole new tensor."""
    size = tensor.untyped_storage().nbytes() // max(tensor.element_size(), 1)
    if size > MAX_ELEMENTS or real.dtype != tensor.dtype:
        return
    if real.stride() == tensor.stride() and real.storage_offset() == 0 and _covers(real, size):
        claim.value = real.detach().as_strided((size,), (1,))
        return
    claim.value = flat = torch.zeros(size, dtype=tensor.dtype)
    flat.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).copy_(real)


def begin_value(tensor: torch.Tensor, claim: Claim) -> None:
    """Make room for the value of a tensor that is about to be written as a whole."""
    size = tensor.untyped_storage().nbytes() // max(tensor.element_size(), 1)
    if size <= MAX_ELEMENTS and tensor.numel() == size:
        claim.value = torch.zeros(size, dtype=tensor.dtype)


def substituted(value: Any) -> Any:
    """Return arguments with tensors replaced by their values, `MISSING` where one is unknown."""
    if isinstance(value, torch.Tensor):
        if value._is_zerotensor():  # of derivatives forwards: it has no memory for a kernel to read
            return _zeros_like(value)
        if not is_meta(value):
            return value.detach() if value.numel() <= MAX_ELEMENTS else MISSING
        known = value_of(value)
        return MISSING if known is None else known
    if type(value) in (list, tuple):
        items = [substituted(one) for one in value]
        return MISSING if any(one is MISSING for one in items) else items
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return value


MISSING = object()


def compute(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the real outputs of an operation on known values, MISSING where that cannot be had."""
    real = [substituted(one) for one in args]
    named = {name: substituted(one) for name, one in kwargs.items()}
    if any(one is MISSING for one in real) or any(one is MISSING for one in named.values()):
        return MISSING
    if "convolution" in op._schema.name and _products(real) > MAX_PRODUCTS:
        return MISSING
    if "pin_memory" in named:
        named["pin_memory"] = False
    try:
        with torch.no_grad():
            outputs = op(*real, **named)
    except _ERRORS:  # not on the CPU, or wrong: CUDA would tell later, if at all
        return MISSING
    if isinstance(outputs, torch.Tensor) and outputs._is_zerotensor():
        return _zeros_like(outputs)
    return outputs


def _products(given: list[Any]) -> int:
    """Return about how many numbers a convolution multiplies, for pictures that keep their size."""
    *_, pictures, weight = [
        one for one in given[:3] if isinstance(one, torch.Tensor) and one.dim() > 2
    ]
    return pictures.numel() // max(pictures.shape[1], 1) * weight.numel()


def _zeros_like(tensor: torch.Tensor) -> Any:
    """Return zeros that lie in memory, MISSING where they are too many."""
    if tensor.numel() > MAX_ELEMENTS:
        return MISSING
    return torch.zeros(tensor.shape, dtype=tensor.dtype)


def _covers(real: torch.Tensor, size: int) -> bool:
    return real.untyped_storage().nbytes() >= size * real.element_size()
