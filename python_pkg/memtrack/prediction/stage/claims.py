"""Which device a tensor without data says it is on, and what is known of its values, by storage.

Every tensor of a predicted program is a plain meta tensor. What it pretends to be is an attribute
of its storage's Python object, which torch keeps as long as the storage, and shares between views.
"""

from __future__ import annotations

from typing import Any

import torch

CPU = torch.device("cpu")
META = torch.device("meta")
KEY = "memtrack_claim"
_base: Any = torch._C.TensorBase
real_device = _base.device.__get__
"""Return the device a tensor is on for torch; `tensor.device` is what it claims."""
is_meta = _base.is_meta.__get__
"""Tell whether a tensor has no data, with torch functions disabled."""
_interned: dict[torch.device, torch.device] = {CPU: CPU, META: META}


class Depth:
    """Where the prediction's thread is: while `below`, torch's own kernels see meta devices."""

    below = False


class Claim:
    """What one storage without data pretends to be.

    `value` is a plain CPU tensor of the storage's elements, in order, where they are known;
    `uniform` the single value all elements have, where only that is known of a large one;
    `density` the share of elements that are not zero, where it is expected rather than known;
    `bound` one more than the greatest integer it holds, as `topk` tells of its indices; `pinned` whether
    it claims to be in pinned memory of the host.
    """

    __slots__ = ("bound", "density", "device", "pinned", "uniform", "value")

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.value: torch.Tensor | None = None
        self.uniform: torch.Tensor | None = None
        self.density: float | None = None
        self.bound: int | None = None
        self.pinned = False

    def forget(self) -> None:
        """Nothing is known of the values any more."""
        self.value = self.uniform = self.density = self.bound = None


def claim_of(tensor: torch.Tensor) -> Claim | None:
    """Return the claim of a tensor's storage, None for one that is not of a prediction.

    Torch functions must be disabled where a function mode may be active, see `outer_claim_of`.
    """
    try:
        storage = tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):  # sparse, uninitialised
        return None
    found: Claim | None = storage.__dict__.get(KEY)
    return found


def outer_claim_of(tensor: torch.Tensor) -> Claim | None:
    """Return the claim of a tensor for code that modes may intercept."""
    with torch._C.DisableTorchFunction():
        return claim_of(tensor)


def set_claim(tensor: torch.Tensor, claim: Claim) -> None:
    """Give a tensor's storage its claim."""
    setattr(tensor.untyped_storage(), KEY, claim)


def storage_claim(storage: Any) -> Claim | None:
    """Return the claim of an untyped storage."""
    found: Claim | None = storage.__dict__.get(KEY)
    return found


def indexed(device: Any, current: int = 0) -> torch.device:
    """Return the one object of a device: `cuda` is the current one, a number is one of CUDA's."""
    if isinstance(device, int):
        device = torch.device("cuda", device)
    device = torch.device(device)
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", current)
    if device.type in ("cpu", "meta"):
        device = torch.device(device.type)
    return _interned.setdefault(device, device)
