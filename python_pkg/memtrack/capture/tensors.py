"""Tensors inside what modules take and return: tuples, dicts, dataclasses and their nests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch

MAX_NESTING = 8


def tensors_in(value: Any, nesting: int = MAX_NESTING) -> Iterator[torch.Tensor]:
    """Yield the tensors in `value`, in order, without running any code of the user's types."""
    if isinstance(value, torch.Tensor):
        yield value
    elif nesting <= 0 or value is None or isinstance(value, (str, bytes, int, float)):
        return
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_in(item, nesting - 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from tensors_in(item, nesting - 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors_in(getattr(value, field.name, None), nesting - 1)


def named_tensors_in(value: Any, name: str, nesting: int = 3) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (name, tensor) with keys and positions appended to `name`, as in `batch.input_ids`."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif nesting <= 0:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from named_tensors_in(item, f"{name}.{key}" if name else str(key), nesting - 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from named_tensors_in(
                item, f"{name}[{index}]" if name else f"input {index}", nesting - 1
            )
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            inner = getattr(value, field.name, None)
            yield from named_tensors_in(
                inner, f"{name}.{field.name}" if name else field.name, nesting - 1
            )


def describe_shape(shape: torch.Size) -> str:
    """Return `8×512×768`, `scalar` for no dimension."""
    return "×".join(map(str, shape)) or "scalar"


def describe_dtype(dtype: torch.dtype) -> str:
    """Return `float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")
