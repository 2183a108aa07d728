"""What stands behind a tensor, and what a node of its graph holds: nodes and saved tensors.

Nothing is unpacked, since that would run the hooks it was saved with: what they made is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch

from memtrack.capture import torch_api

_PREFIX = "_raw_saved_"
_names: dict[type, tuple[str, ...]] = {}


def behind_tensor(tensor: torch.Tensor) -> list[Any]:
    """Return the gradient of a tensor and the node that made it; nothing of a half-made one."""
    found: list[Any] = []
    with torch._C.DisableTorchFunctionSubclass(), suppress(Exception):
        found.append(tensor.grad_fn)
        if torch_api.may_have_gradient(tensor):
            found.append(tensor.grad)
    return [one for one in found if one is not None]


def inside_node(node: Any) -> Iterator[Any]:
    """Yield the nodes that `node` leads to, the leaf it accumulates into, and its saved tensors."""
    try:
        edges = node.next_functions
    except Exception:  # noqa: BLE001 - torch refuses some nodes, such as those made by C++ alone
        edges = ()
    for following, _ in edges:
        if following is not None:
            yield following
    leaf = getattr(node, "variable", None)
    if leaf is not None:
        yield leaf
    for name in _saved_names(type(node)):
        yield from _saved(node, name)


def _saved_names(kind: type) -> tuple[str, ...]:
    names = _names.get(kind)
    if names is None:
        names = _names[kind] = tuple(name for name in dir(kind) if name.startswith(_PREFIX))
    return names


def _saved(node: Any, name: str) -> Iterator[Any]:
    """Yield what one field has saved; older torch tells nothing without unpacking."""
    try:
        raw = getattr(node, name)
    except Exception:  # noqa: BLE001 - freed by backward
        return
    for saved in raw if isinstance(raw, (tuple, list)) else (raw,):
        data = getattr(saved, "data", None)
        if data is not None:
            yield data
