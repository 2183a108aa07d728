"""The 16-bit copies of parameters that autocast makes."""

from __future__ import annotations

import torch

HALVES = frozenset({torch.float16, torch.bfloat16})
"""What autocast casts to."""
_CAST = "ToCopyBackward0"


def cast_weight_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the parameter that a saved tensor is a 16-bit copy of, or a view of such a copy.

    None where it is no such copy. The copy's node in the autograd graph tells: it casts, and what
    comes before it accumulates the gradient of a leaf.
    """
    if tensor.dtype not in HALVES:
        return None
    copy = tensor if tensor._base is None else tensor._base
    node = copy.grad_fn
    if node is None or node.name() != _CAST:
        return None
    before = node.next_functions[0][0]
    leaf = getattr(before, "variable", None)
    return leaf if isinstance(leaf, torch.nn.Parameter) and leaf.dtype != tensor.dtype else None


def is_cast_of(tensor: torch.Tensor, parameter: torch.Tensor) -> bool:
    """Tell whether a saved constant looks like the 16-bit copy of a frozen parameter.

    A frozen parameter leaves no node: the same shape, or transposed, in 16 bits has to do.
    """
    if tensor.dtype not in HALVES or tensor.grad_fn is not None or tensor.requires_grad:
        return False
    shapes = (parameter.shape, parameter.shape[::-1])
    return (
        not parameter.requires_grad and parameter.dtype != tensor.dtype and tensor.shape in shapes
    )
