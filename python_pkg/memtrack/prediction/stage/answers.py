"""Answers where the program asks for values: known ones, else placeholders that are said so."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.i18n import Text, text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import Claim, claim_of
from memtrack.prediction.stage.known import view_of

MAX_LISTED = 1_000_000


class Answers:
    """What `.item()`, `bool()`, `.tolist()` and `.numpy()` give."""

    def __init__(self, assumptions: Assumptions) -> None:
        self._assumptions = assumptions

    def scalar(self, tensor: torch.Tensor) -> Any:
        """Return the only element of a tensor."""
        claim = claim_of(tensor)
        if claim is None:
            return placeholder(tensor.dtype, None)
        known = view_of(claim, tensor)
        if known is not None:
            return known.item()
        if claim.uniform is not None:
            return claim.uniform.to(tensor.dtype).item()
        answer = placeholder(tensor.dtype, claim)
        self._assumptions.add(f"{dtype_name(tensor)}.item()", told(answer))
        return answer

    def real(self, tensor: torch.Tensor, operation: str) -> torch.Tensor:
        """Return a CPU tensor of a tensor's elements: known, or a placeholder expanded."""
        claim = claim_of(tensor)
        if claim is None:
            return torch.zeros((), dtype=tensor.dtype).expand(tensor.shape)
        known = view_of(claim, tensor)
        if known is not None:
            return known.detach().clone()
        if claim.uniform is not None:
            return claim.uniform.to(tensor.dtype).expand(tensor.shape)
        answer = placeholder(tensor.dtype, claim)
        self._assumptions.add(f"{dtype_name(tensor)}.{operation}()", told(answer))
        return torch.full((), answer, dtype=tensor.dtype).expand(tensor.shape)

    def listed(self, tensor: torch.Tensor) -> Any:
        """Return what `.tolist()` gives; PredictionError for lists of too many placeholders."""
        if tensor.numel() > MAX_LISTED:
            raise refused("tolist", text("{count} values are not known", count=tensor.numel()))
        return self.real(tensor, "tolist").tolist()

    def equal(self, first: torch.Tensor, second: torch.Tensor) -> bool:
        """Return what `torch.equal` gives."""
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        known = _known_pair(first, second)
        if known is not None:
            return torch.equal(*known)
        self._assumptions.add("torch.equal()", told(False))
        return False

    def close(self, first: torch.Tensor, second: torch.Tensor, *how: Any) -> bool:
        """Return what `torch.allclose` gives; what is not known is assumed to pass the check."""
        known = _known_pair(first, second)
        if known is not None:
            return torch.allclose(*known, *how)
        self._assumptions.add("torch.allclose()", told(True))
        return True


def _known_pair(
    first: torch.Tensor, second: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return the values of two tensors where both are known."""
    one, other = claim_of(first), claim_of(second)
    left = None if one is None else view_of(one, first)
    right = None if other is None else view_of(other, second)
    return None if left is None or right is None else (left, right)


def placeholder(dtype: torch.dtype, claim: Claim | None) -> Any:
    """Return a value that stands for an unknown one: 1, False, complex 1.

    1 because programs divide by counts and take logarithms of losses; where all that is known of an
    integer is that it is an index below 1, 0.
    """
    if dtype == torch.bool:
        return claim is not None and claim.density is not None and claim.density >= 1
    if dtype.is_complex:
        return complex(1)
    if dtype.is_floating_point:
        return 1.0
    if claim is not None and claim.bound is not None:
        return min(1, claim.bound - 1)
    return 1


def told(answer: Any) -> Text:
    """Return what was assumed, for the report."""
    return text("the value {value}", value=answer)


def dtype_name(tensor: torch.Tensor) -> str:
    """Return `float32 tensor` for a tensor."""
    return f"{str(tensor.dtype).removeprefix('torch.')} tensor"
