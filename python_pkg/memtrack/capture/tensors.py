"""Tensors inside what modules take and return: tuples, dicts, dataclasses and their nests.

No code of the user's types runs: containers are read by the methods of the built-in type they are,
each once, up to a number of items.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from typing import Any

import torch

MAX_NESTING = 8
MAX_ITEMS = 10_000


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in `value`, in order."""
    for _, tensor in named_tensors_in(value, ""):
        yield tensor


def named_tensors_in(value: Any, name: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (name, tensor) with keys and positions appended to `name`, as in `batch.input_ids`."""
    seen: set[int] = set()
    queue: list[tuple[str, Any, int]] = [(name, value, 0)]
    while queue and len(seen) < MAX_ITEMS:
        path, item, nesting = queue.pop()
        if isinstance(item, torch.Tensor):
            yield path, item
        elif nesting < MAX_NESTING and id(item) not in seen:
            inside = _items(item, path)
            if inside:
                seen.add(id(item))
                queue += [(inner, part, nesting + 1) for inner, part in reversed(inside)]


def _items(value: Any, path: str) -> list[tuple[str, Any]]:
    """Return what a container holds with the names of its parts; [] for anything else."""
    if isinstance(value, dict):
        return [(_key(path, key), item) for key, item in dict.items(value)]
    if isinstance(value, tuple):
        return [(_place(path, n), item) for n, item in enumerate(tuple.__iter__(value))]
    if isinstance(value, list):
        return [(_place(path, n), item) for n, item in enumerate(list.__iter__(value))]
    kind = type(value)
    if "__dataclass_fields__" in kind.__dict__ or issubclass(kind, UserDict):
        fields = getattr(value, "__dict__", None)
        if type(fields) is dict:
            return [(_key(path, key), item) for key, item in fields.items()]
    return []


def _key(path: str, key: Any) -> str:
    name = key if type(key) is str else type(key).__name__
    return f"{path}.{name}" if path else name


def _place(path: str, number: int) -> str:
    return f"{path}[{number}]" if path else f"input {number}"


def shape_of(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """Return the shape of a tensor, None where it has no single one (nested tensors)."""
    try:
        return tuple(int(size) for size in tensor.shape)
    except (RuntimeError, TypeError, ValueError):
        return None


def describe_shape(shape: tuple[int, ...] | None) -> str:
    """Return `8×512×768`, `scalar` for no dimension, `nested` for None."""
    if shape is None:
        return "nested"
    return "×".join(map(str, shape)) or "scalar"


def describe_dtype(dtype: torch.dtype) -> str:
    """Return `float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")
