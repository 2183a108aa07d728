"""The outputs of an operation as a description, to be made again for the same arguments.

torch computes shapes on meta in Python, at up to 60 µs an operation; making an empty tensor of a known
shape takes one. A training step repeats the same operations layer by layer and step by step.
"""

from __future__ import annotations

from typing import Any

import torch

Tensor = torch.Tensor
_is_meta = torch._C.TensorBase.is_meta.__get__  # type: ignore[attr-defined]
_TYPED = (float, bool, complex)


def key_of(value: Any) -> Any:
    """Return what a kernel may depend on of an argument; equal numbers of other types differ."""
    if isinstance(value, Tensor):
        return value.dtype, value.shape, value.stride(), _is_meta(value)
    kind = type(value)
    if kind is list or kind is tuple:
        return tuple([key_of(one) for one in value])
    if kind in _TYPED:
        return kind, value
    return value if isinstance(value, (int, str, torch.dtype)) else (kind, value)


class NotDescribable(Exception):
    """Outputs that share memory with arguments, or have no plain layout."""


def described(outputs: Any, tensors: list[Tensor]) -> Any:
    """Return the description of outputs; raises NotDescribable."""
    if isinstance(outputs, Tensor):
        for place, one in enumerate(tensors):
            if one is outputs:
                return place
        return _new(outputs, tensors)
    if isinstance(outputs, (tuple, list)):
        return type(outputs), [described(one, tensors) for one in outputs]
    if outputs is None:
        return None
    raise NotDescribable


def _new(output: Tensor, tensors: list[Tensor]) -> Any:
    if output.layout != torch.strided or output.storage_offset() or type(output) is not Tensor:
        raise NotDescribable
    storage = output.untyped_storage()
    if any(one.untyped_storage()._cdata == storage._cdata for one in tensors):
        raise NotDescribable
    size, stride = tuple(output.shape), output.stride()
    reach = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if storage.nbytes() != (reach * output.element_size() if output.numel() else 0):
        raise NotDescribable
    return size, stride, output.dtype


def made(description: Any, tensors: list[Tensor]) -> Any:
    """Return outputs as described."""
    if description is None:
        return None
    if type(description) is int:
        return tensors[description]
    if len(description) == 3:
        size, stride, dtype = description
        return torch.empty_strided(size, stride, dtype=dtype, device="meta")
    kind, items = description
    return kind([made(one, tensors) for one in items])
