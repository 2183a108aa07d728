"""Optimizers: those given, those found at the start, those that step while we watch."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch


class Optimizers:
    """Weak references to optimizers, and which of their states have been named already."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[torch.optim.Optimizer]] = {}
        self._named: dict[int, int] = {}

    def add(self, optimizer: torch.optim.Optimizer) -> None:
        """Remember an optimizer."""
        key = id(optimizer)
        if key not in self._known:
            self._known[key] = weakref.ref(optimizer, lambda _: self._forget(key))

    def all(self) -> list[torch.optim.Optimizer]:
        """Return the optimizers that are alive."""
        return [found for reference in self._known.values() if (found := reference()) is not None]

    def has_new_state(self, optimizer: torch.optim.Optimizer) -> bool:
        """Tell whether the optimizer has state for more parameters than when last asked."""
        count = sum(
            len(state) if isinstance(state, dict) else 1 for state in optimizer.state.values()
        )
        changed = self._named.get(id(optimizer)) != count
        self._named[id(optimizer)] = count
        return changed

    def _forget(self, key: int) -> None:
        self._known.pop(key, None)
        self._named.pop(key, None)


def parameters_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """Yield the parameters an optimizer updates."""
    for group in optimizer.param_groups:
        yield from group["params"]


def states_of(optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, Any, torch.Tensor]]:
    """Yield (state name, parameter or other key, state tensor), lists and dicts of tensors included."""
    for key, state in optimizer.state.items():
        items = state.items() if isinstance(state, dict) else (("state", state),)
        for name, value in items:
            for inner_name, tensor in _tensors(str(name), value):
                yield inner_name, key, tensor


def _tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tensors(f"{name}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _tensors(f"{name}[{index}]", item)
