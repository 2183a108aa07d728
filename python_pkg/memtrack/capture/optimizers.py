"""Optimizers: those given, those found at the start, those that step while we watch."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch

from memtrack.capture.tensors import named_tensors_in


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
        states = _state(optimizer).values()
        count = sum(len(state) if isinstance(state, dict) else 1 for state in states)
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
    for key, state in list(_state(optimizer).items()):
        for name, tensor in named_tensors_in(state, "" if isinstance(state, dict) else "state"):
            yield name, key, tensor


def _state(optimizer: torch.optim.Optimizer) -> dict[Any, Any]:
    state = getattr(optimizer, "state", None)
    return state if isinstance(state, dict) else {}
