"""Real tensors that come into a prediction from outside: read, never written, never on a GPU."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import refused
from memtrack.prediction.stage.claims import (
    CPU,
    META,
    Claim,
    claim_of,
    is_meta,
    real_device,
    set_claim,
)
from memtrack.prediction.stage.known import MAX_ELEMENTS, quiet

_BUILD = text("Make models, optimizers and tensors inside the function that is predicted.")


class Outside:
    """The stand-ins of outside tensors, one for each of their storages."""

    def __init__(self) -> None:
        self._twins: dict[int, tuple[Any, torch.Tensor]] = {}

    def taken_in(
        self, tensor: torch.Tensor, operation: str, keeps_scalars: bool = False
    ) -> torch.Tensor:
        """Return a tensor without data that stands for a real one; its own are returned as they are.

        A real scalar stays what it is beside tensors without data (`keeps_scalars`): torch takes it
        for a number. PredictionError for parameters and tensors on a GPU.
        """
        if is_meta(tensor):
            return tensor
        device = real_device(tensor)
        if device.type != "cpu":
            why = text("a tensor on {device} that exists outside was used", device=device)
            raise refused(operation, why, _BUILD)
        if tensor.requires_grad or isinstance(tensor, torch.nn.Parameter):
            raise refused(operation, text("a parameter that exists outside was used"), _BUILD)
        if keeps_scalars and tensor.dim() == 0:
            return tensor
        storage = tensor.untyped_storage()
        found = self._twins.get(storage._cdata)
        if found is None or found[1].dtype != tensor.dtype:
            found = storage, _twin(tensor)
            self._twins[storage._cdata] = found
        return found[1].as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

    def claim_for(self, tensor: torch.Tensor) -> Claim:
        """Return the claim of a tensor that was taken in; of others what they are."""
        claim = claim_of(tensor)
        if claim is not None:
            return claim
        if is_meta(tensor):
            return Claim(META)
        claim = Claim(CPU)
        with quiet():
            claim.value = tensor.detach().reshape(1)
        return claim

    def check_written(self, tensor: torch.Tensor, operation: str) -> None:
        """Refuse to write to a real tensor."""
        if not is_meta(tensor):
            raise refused(operation, text("it would change a tensor that exists outside"), _BUILD)

    def close(self) -> None:
        """Let go of the outside tensors."""
        self._twins.clear()


def _twin(tensor: torch.Tensor) -> torch.Tensor:
    with quiet():
        count = tensor.untyped_storage().nbytes() // max(tensor.element_size(), 1)
        twin = torch.empty(count, dtype=tensor.dtype, device=META)
        claim = Claim(CPU)
        if count <= MAX_ELEMENTS:
            claim.value = tensor.detach().as_strided((count,), (1,), 0).clone()
        set_claim(twin, claim)
    return twin
