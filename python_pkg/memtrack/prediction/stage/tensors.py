"""What a tensor without data says of itself: attributes and methods of `torch.Tensor`.

They are replaced on the class, so that torch's own Python code, which looks at devices everywhere,
sees the claims as the user's does. A tensor that claims nothing, and every other thread, gets torch's
own answers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage import legacy
from memtrack.prediction.stage.assumptions import refused
from memtrack.prediction.stage.claims import CPU, Depth, claim_of, storage_claim
from memtrack.prediction.stage.known import quiet
from memtrack.prediction.stage.moves import Moves
from memtrack.prediction.stage.operations import Operations
from memtrack.prediction.stage.patches import Patches

Tensor = torch.Tensor
Base: Any = torch._C.TensorBase
_storage_base: Any = torch._C.StorageBase
_untyped_storage = Base.untyped_storage
_quiet = torch._C.DisableTorchFunction


class TensorFace:
    """Replaces what tells devices and values, while a prediction runs."""

    def __init__(self, operations: Operations, moves: Moves) -> None:
        self._operations = operations
        self._moves = moves

    def install(self, patches: Patches) -> None:
        """Put the replacements in."""
        self._properties(patches)
        for name in ("to", "cuda", "cpu", "type", "type_as", "new", "new_tensor"):
            patches.replace(Tensor, name, getattr(self, f"_{name}"), above=True)
        for name in ("get_device", "data_ptr"):
            patches.replace(Tensor, name, getattr(self, f"_{name}"), above=True)
        for name in ("tolist", "numpy", "__array__", "__deepcopy__", "__reduce_ex__", "__repr__"):
            patches.replace(Tensor, name, getattr(self, f"_{name.strip('_')}"), above=True)
        patches.replace(Tensor, "share_memory_", self._itself, above=True)
        patches.replace(Tensor, "pin_memory", self._pinning, above=True)
        for name in ("from_numpy", "frombuffer"):
            patches.replace(torch, name, self._of_host)
        patches.replace(Tensor, "is_pinned", self._pinned, above=True)
        patches.replace(Tensor, "is_shared", self._unshared, above=True)
        patches.replace(Tensor, "record_stream", self._nothing, above=True)
        patches.replace(torch.UntypedStorage, "data_ptr", self._storage_pointer, above=True)

    # attributes

    def _properties(self, patches: Patches) -> None:
        get = Base.device.__get__

        def device_of(tensor: Tensor) -> torch.device:
            with _quiet():
                claim = None if Depth.below else claim_of(tensor)
                return get(tensor) if claim is None else claim.device

        def telling(kind: str, original: Any) -> Callable[[Tensor], bool]:
            def tell(tensor: Tensor) -> bool:
                with _quiet():
                    claim = None if Depth.below else claim_of(tensor)
                    if claim is None:
                        return bool(original(tensor))
                    return claim.device.type == kind

            return tell

        patches.put(Tensor, "device", property(device_of))
        for kind in ("cuda", "cpu", "meta"):
            name = f"is_{kind}"
            patches.put(Tensor, name, property(telling(kind, getattr(Base, name).__get__)))
        storage = torch.UntypedStorage
        base_device = _storage_base.device.__get__

        def storage_device(one: Any) -> torch.device:
            claim = None if Depth.below else storage_claim(one)
            return base_device(one) if claim is None else claim.device

        patches.put(storage, "device", property(storage_device))

    # moves

    def _to(self, original: Any) -> Any:
        def to(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
            device, dtype, is_copy, memory_format = _parsed_to(args, kwargs)
            if isinstance(device, Tensor):
                dtype, device = device.dtype, device.device
            if device is None:
                with _quiet():
                    is_real = claim_of(tensor) is None
                if is_real:
                    return original(tensor, *args, **kwargs)
            target = None if device is None else self._moves.device(device)
            return self._moves.move(tensor, target, dtype, is_copy, memory_format)

        return to

    def _cuda(self, original: Any) -> Any:
        def cuda(
            tensor: Tensor,
            device: Any = None,
            non_blocking: bool = False,
            memory_format: Any = None,
        ) -> Any:
            target = self._moves.device("cuda" if device is None else device)
            return self._moves.move(tensor, target, memory_format=memory_format)

        return cuda

    def _cpu(self, original: Any) -> Any:
        def cpu(tensor: Tensor, memory_format: Any = None) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            if is_real:
                return (
                    original(tensor) if memory_format is None else original(tensor, memory_format)
                )
            return self._moves.move(tensor, CPU, memory_format=memory_format)

        return cpu

    def _type(self, original: Any) -> Any:
        def type_of(tensor: Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
            with _quiet():
                claim = claim_of(tensor)
            if claim is None:
                return (
                    original(tensor) if dtype is None else original(tensor, dtype, *args, **kwargs)
                )
            if isinstance(dtype, torch.dtype):
                return self._moves.move(tensor, None, dtype)
            if dtype is None:
                return legacy.type_name(tensor, claim.device.type == "cuda")
            is_cuda, held = legacy.named(dtype)
            return self._moves.move(tensor, self._moves.device("cuda") if is_cuda else CPU, held)

        return type_of

    def _type_as(self, original: Any) -> Any:
        def type_as(tensor: Tensor, other: Tensor) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None and claim_of(other) is None
            if is_real:
                return original(tensor, other)
            return self._moves.move(tensor, self._moves.device(other.device), other.dtype)

        return type_as

    def _new(self, original: Any) -> Any:
        def new(tensor: Tensor, *args: Any, device: Any = None) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            if is_real:
                return original(tensor, *args)
            return legacy.made(args, tensor.dtype, tensor.device if device is None else device)

        return new

    def _new_tensor(self, original: Any) -> Any:
        def new_tensor(
            tensor: Tensor, data: Any, *, dtype: Any = None, device: Any = None, **kwargs: Any
        ) -> Any:
            device = tensor.device if device is None else device
            is_data = not isinstance(data, torch.Tensor)
            dtype = tensor.dtype if dtype is None and is_data else dtype
            kwargs.pop("layout", None)
            return torch.tensor(data, dtype=dtype, device=device, **kwargs)

        return new_tensor

    def _get_device(self, original: Any) -> Any:
        def get_device(tensor: Tensor) -> int:
            device = tensor.device
            index: int | None = device.index
            return -1 if index is None else index

        return get_device

    def _of_host(self, original: Any) -> Any:
        def from_host(*args: Any, **kwargs: Any) -> Tensor:
            """Numbers of the program's own, which it may change: a copy that nobody shares."""
            with quiet():
                return self._operations.lifted(original(*args, **kwargs))

        return from_host

    # values

    def _data_ptr(self, original: Any) -> Any:
        def data_ptr(tensor: Tensor) -> int:
            with _quiet():
                if claim_of(tensor) is None:
                    return int(original(tensor))
                offset = tensor.storage_offset() * tensor.element_size()
                address: int = tensor.untyped_storage()._cdata + int(offset)
                return address if tensor.numel() else 0

        return data_ptr

    def _storage_pointer(self, original: Any) -> Any:
        def data_ptr(storage: Any) -> int:
            return int(original(storage) if storage_claim(storage) is None else storage._cdata)

        return data_ptr

    def _tolist(self, original: Any) -> Any:
        def tolist(tensor: Tensor) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            if is_real:
                return original(tensor)
            with quiet():
                return self._operations.answers.listed(tensor)

        return tolist

    def _numpy(self, original: Any) -> Any:
        def numpy(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
            with _quiet():
                claim = claim_of(tensor)
                if claim is None:
                    return original(tensor, *args, **kwargs)
                forced = kwargs.get("force") or (args and args[0])
                if not forced and (claim.device.type == "cuda" or tensor.requires_grad):
                    raise TypeError(
                        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy "
                        "the tensor to host memory first."
                        if claim.device.type == "cuda"
                        else "Can't call numpy() on Tensor that requires grad."
                    )
            with quiet():
                return _numpy_of(self._operations.answers.real(tensor, "numpy"))

        return numpy

    def _array(self, original: Any) -> Any:
        def array(tensor: Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            if is_real:
                return original(tensor, dtype)
            values = tensor.numpy()
            return values if dtype is None else values.astype(dtype, copy=False)

        return array

    def _deepcopy(self, original: Any) -> Any:
        def deepcopy(tensor: Tensor, memo: dict[int, Any]) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            if is_real and tensor.requires_grad:
                return original(tensor, memo)
            if is_real:
                tensor = self._operations.outside.taken_in(tensor.detach(), "deepcopy")
            if id(tensor) in memo:
                return memo[id(tensor)]
            if not tensor.is_leaf:
                raise RuntimeError(
                    "Only Tensors created explicitly by the user (graph leaves) support the "
                    "deepcopy protocol at the moment."
                )
            with torch.no_grad():
                made = tensor.detach().clone()
            if tensor.requires_grad:
                made.requires_grad_()
            if tensor.grad is not None:
                made.grad = copy.deepcopy(tensor.grad, memo)
            if tensor.__dict__:
                made.__dict__ = copy.deepcopy(tensor.__dict__, memo)
            memo[id(tensor)] = made
            return made

        return deepcopy

    def _reduce_ex(self, original: Any) -> Any:
        def reduce_ex(tensor: Tensor, protocol: Any) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            if is_real:
                return original(tensor, protocol)
            raise refused("pickle", text("tensors have no data while predicting"))

        return reduce_ex

    def _repr(self, original: Any) -> Any:
        def describe(tensor: Tensor, **kwargs: Any) -> str:
            with _quiet():
                claim = claim_of(tensor)
                if claim is None:
                    return str(original(tensor, **kwargs))
                size = tuple(tensor.size())
                return (
                    f"tensor(no data, device='{claim.device}', size={size}, dtype={tensor.dtype})"
                )

        return describe

    # the rest

    def _itself(self, original: Any) -> Any:
        def itself(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
            with _quiet():
                is_real = claim_of(tensor) is None
            return original(tensor, *args, **kwargs) if is_real else tensor

        return itself

    def _pinning(self, original: Any) -> Any:
        def pin(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
            with _quiet():
                claim = claim_of(tensor)
            if claim is None:
                return original(tensor, *args, **kwargs)
            claim.pinned = claim.device.type == "cpu"
            return tensor

        return pin

    def _pinned(self, original: Any) -> Any:
        def pinned(tensor: Tensor, *args: Any, **kwargs: Any) -> bool:
            with _quiet():
                claim = claim_of(tensor)
            return bool(original(tensor, *args, **kwargs)) if claim is None else claim.pinned

        return pinned

    def _unshared(self, original: Any) -> Any:
        def shared(tensor: Tensor, *args: Any, **kwargs: Any) -> bool:
            with _quiet():
                is_real = claim_of(tensor) is None
            return bool(original(tensor, *args, **kwargs)) if is_real else False

        return shared

    def _nothing(self, original: Any) -> Any:
        return lambda tensor, *args, **kwargs: None


def _parsed_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """Return (device or tensor, dtype, copy, memory_format) of the arguments of `Tensor.to`."""
    device, dtype = kwargs.get("device", kwargs.get("other")), kwargs.get("dtype")
    rest = list(args)
    if rest and isinstance(rest[0], torch.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (isinstance(rest[0], torch.dtype) or rest[0] is None):
            given = rest.pop(0)
            dtype = given if given is not None else dtype
    is_copy = bool(rest[1]) if len(rest) > 1 else bool(kwargs.get("copy", False))
    return device, dtype, is_copy, kwargs.get("memory_format")


def _numpy_of(real: Tensor) -> Any:
    """Return a numpy array; of a placeholder one that takes no memory however large."""
    import numpy as np

    if real.dtype == torch.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    if 0 in real.stride():
        index = (0,) * real.dim()
        return np.broadcast_to(Base.numpy(real[index].clone()), tuple(real.shape))
    return Base.numpy(real)
