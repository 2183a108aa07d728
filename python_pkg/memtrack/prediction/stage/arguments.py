"""Tensors among the arguments and outputs of operations."""

from __future__ import annotations

from typing import Any

import torch

Tensor = torch.Tensor
NOTHING: dict[str, Any] = {}


def tensors_in(args: Any, kwargs: dict[str, Any]) -> list[Tensor]:
    """Return the tensors among arguments, those in lists included, in order."""
    found: list[Tensor] = []
    for one in args:
        if isinstance(one, Tensor):
            found.append(one)
        elif type(one) is list or type(one) is tuple:
            found.extend([item for item in one if isinstance(item, Tensor)])
            for item in one:
                if type(item) is list or type(item) is tuple:
                    found.extend(tensors_in(item, NOTHING))
    if kwargs:
        found.extend(tensors_in(kwargs.values(), NOTHING))
    return found
