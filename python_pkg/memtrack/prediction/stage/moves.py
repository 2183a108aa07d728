"""Moving tensors between devices: `.to`, `.cuda`, `.cpu`, `.type`, and what they keep of autograd."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import refused
from memtrack.prediction.stage.claims import CPU, META, claim_of, indexed
from memtrack.prediction.stage.operations import Operations

Tensor = torch.Tensor
is_lazy = torch.nn.parameter.is_lazy
_to = torch._C.TensorBase.to


class Moves:
    """How a tensor without data comes to claim another device."""

    def __init__(self, operations: Operations, count: int) -> None:
        self._operations = operations
        self._count = count
        self.current = 0
        """The ordinal of the current device."""

    def device(self, device: Any) -> torch.device:
        """Return the device meant; PredictionError for other kinds than CUDA and for a missing one."""
        found = indexed(device, self.current)
        if found.type not in ("cuda", "cpu", "meta"):
            raise refused("torch.device", text("device {device} is not CUDA", device=found.type))
        if found.type == "cuda" and found.index >= self._count:
            raise refused(
                "torch.device",
                text(
                    "device {device} is beyond the {count} predicted",
                    device=found,
                    count=self._count,
                ),
            )
        return found

    def move(
        self,
        tensor: Tensor,
        device: torch.device | None,
        dtype: torch.dtype | None = None,
        copy: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> Tensor:
        """Return `tensor.to(device, dtype)`: the tensor itself where nothing changes."""
        if is_lazy(tensor):
            with torch._C.DisableTorchFunction():
                plain = torch._C.TensorBase.detach(tensor)
            moved = self.move(plain, device, dtype, copy, memory_format)
            with torch._C.DisableTorchFunction():  # a buffer is what it becomes: it keeps its kind
                return moved.as_subclass(type(tensor))
        with torch._C.DisableTorchFunction():
            tensor = self._operations.outside.taken_in(tensor, "Tensor.to")
            source = self._operations.outside.claim_for(tensor).device
        options: dict[str, Any] = {"copy": copy}
        if memory_format is not None:
            options["memory_format"] = memory_format
        if device is None or device is source:
            if dtype is None and not copy and memory_format is None:
                return tensor
            return _to(tensor, tensor.dtype if dtype is None else dtype, **options)
        if torch.is_grad_enabled() and tensor.requires_grad:
            return _Move.apply(  # type: ignore[no-any-return, no-untyped-call]
                tensor, self, device, dtype, memory_format
            )
        return self.carry(tensor, device, dtype, memory_format)

    def carry(
        self,
        tensor: Tensor,
        device: torch.device,
        dtype: torch.dtype | None,
        memory_format: torch.memory_format | None,
    ) -> Tensor:
        """Return a copy on another device."""
        operations = self._operations
        operations.destination, before = device, operations.destination
        try:
            moved: Tensor = torch.ops.aten._to_copy.default(
                tensor,
                dtype=dtype,
                device=CPU if device is CPU else META,
                memory_format=memory_format,
            )
            return moved
        finally:
            operations.destination = before


class _Move(torch.autograd.Function):
    """A copy to another device, whose gradient is copied back."""

    @staticmethod
    def forward(
        ctx: Any, tensor: Tensor, moves: Moves, device: Any, dtype: Any, memory_format: Any
    ) -> Tensor:
        claim = claim_of(tensor)
        ctx.moves = moves
        ctx.source = CPU if claim is None else claim.device
        ctx.dtype = tensor.dtype
        return moves.carry(tensor, device, dtype, memory_format)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        moved = ctx.moves.move(gradients[0], ctx.source, ctx.dtype)
        return moved, None, None, None, None
