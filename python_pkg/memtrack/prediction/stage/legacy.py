"""The tensor types of old: `torch.cuda.FloatTensor(3)`, `torch.set_default_tensor_type`."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.stage.patches import Patches

DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
    "ComplexFloatTensor": torch.complex64,
    "ComplexDoubleTensor": torch.complex128,
}
"""What each name holds."""


class _OldType(type):
    """Makes tensors where torch's own type would, and knows which are of it."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        is_cuda, dtype = named(cls)
        return made(args, dtype, kwargs.get("device", "cuda" if is_cuda else "cpu"))

    def __instancecheck__(cls, one: Any) -> bool:
        is_cuda, dtype = named(cls)
        return isinstance(one, torch.Tensor) and one.dtype is dtype and one.is_cuda is is_cuda


def install(patches: Patches) -> None:
    """Put the replacements in: torch's own would ask a driver, or raise where CUDA is not built in."""
    for owner in (torch, torch.cuda):
        for name in DTYPES:
            if name in vars(owner):
                patches.put(owner, name, _OldType(name, (), {"__module__": owner.__name__}))
    patches.replace(torch, "set_default_tensor_type", _default)


def made(args: tuple[Any, ...], dtype: torch.dtype, device: Any) -> torch.Tensor:
    """Return a tensor of sizes, or of data: `new(2, 3)`, `new([2, 3])`."""
    if len(args) == 1 and not isinstance(args[0], int):
        if isinstance(args[0], torch.Size):
            return torch.empty(args[0], dtype=dtype, device=device)
        return torch.as_tensor(args[0], dtype=dtype, device=device)
    return torch.empty(*(args or (0,)), dtype=dtype, device=device)


def type_name(tensor: torch.Tensor, is_cuda: bool) -> str:
    """Return what `tensor.type()` says."""
    name = next(name for name, one in DTYPES.items() if one == tensor.dtype)
    return ("torch.cuda." if is_cuda else "torch.") + name


def named(kind: Any) -> tuple[bool, torch.dtype]:
    """Return whether a tensor type, or its name, is one of CUDA's, and what it holds."""
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    return ".cuda." in name, DTYPES[name.rsplit(".", 1)[-1]]


def _default(original: Any) -> Any:
    def set_default(kind: Any) -> None:
        is_cuda, dtype = named(kind)
        torch.set_default_dtype(dtype)
        torch.set_default_device("cuda" if is_cuda else "cpu")

    return set_default
