"""Losses of several steps that are kept with their autograd graphs: a sum of them, a list of them.

In: the variables of a notebook. A loss of one step is a number whose graph uses each weight once; one
that was added to the last, or lies in a list with it, keeps every forward since alive.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

_ACCUMULATES = "AccumulateGrad"
_SUMS = ("AddBackward", "SubBackward", "MulBackward", "DivBackward")
_CONTAINERS = (list, tuple, deque)
_MOST_ITEMS = 10_000
_NODES_A_LOOK = 256


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """A variable that keeps the graphs of `passes` forwards, at least: the search has an end."""

    name: str
    passes: int


def kept_graphs(names: Mapping[str, Any], seconds: float = 0.2) -> list[KeptGraph]:
    """Return the variables that keep graphs of two forwards or more, found within `seconds` in all.

    Only numbers that were added up, or lie in one container, count: an output that the model has just
    made is needed for its backward, and a recurrent network uses each weight many times in one forward.
    """
    end = time.monotonic() + seconds
    found = []
    for name, value in list(names.items()):
        losses = [] if name.startswith("_") else _losses(value)
        passes = _passes(losses, end) if _terms(losses, end) >= 2 else 0
        if passes >= 2:
            found.append(KeptGraph(name, passes))
    return found


def _losses(value: Any) -> list[torch.Tensor]:
    """Return the numbers with a graph that a variable is or holds."""
    if isinstance(value, torch.Tensor):
        return [value] if _is_loss(value) else []
    if type(value) is dict:
        value = list(value.values())
    if type(value) not in _CONTAINERS:
        return []
    return [one for one in list(value)[:_MOST_ITEMS] if _is_loss(one)]


def _is_loss(value: Any) -> bool:
    plain = type(value) is torch.Tensor
    return plain and value.numel() == 1 and value.is_cuda and value.grad_fn is not None


def _terms(losses: Iterable[torch.Tensor], end: float) -> int:
    """Return how many numbers all losses are sums of, at least; a factor makes no difference."""
    nodes: list[Any] = [one.grad_fn for one in losses]
    count = 0
    for step, node in enumerate(nodes):
        if step % _NODES_A_LOOK == 0 and time.monotonic() > end:
            break
        if node.name().startswith(_SUMS):
            nodes += [above for above, _ in node.next_functions if above is not None]
        else:
            count += 1
    return count


def _passes(losses: Iterable[torch.Tensor], end: float) -> int:
    """Return how often half of the weights, at least, are used in the graphs of all losses together.

    Half of them: a weight that is shared or tied is used several times in one forward.
    """
    nodes: list[Any] = [one.grad_fn for one in losses]
    seen, uses = set(nodes), dict[Any, int]()
    for count, node in enumerate(nodes):
        if count % _NODES_A_LOOK == 0 and time.monotonic() > end:
            break
        for above, _ in node.next_functions:
            if above is None:
                continue
            if above.name().endswith(_ACCUMULATES):
                uses[above] = uses.get(above, 0) + 1
            elif above not in seen:
                seen.add(above)
                nodes.append(above)
    return sorted(uses.values())[(len(uses) - 1) // 2] if uses else 0
