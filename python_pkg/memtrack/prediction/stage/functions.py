"""Every call of torch from Python: devices swapped for meta, composites swapped for CUDA's own.

Above autograd, so what a swap calls is differentiated as what it replaces would be.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device as default_device

from memtrack.i18n import text
from memtrack.prediction.kernels.context import KernelTable
from memtrack.prediction.stage.assumptions import refused
from memtrack.prediction.stage.claims import CPU, META, Depth, claim_of, is_meta
from memtrack.prediction.stage.facts import ACCUMULATING, LIKE
from memtrack.prediction.stage.hostdata import (
    FROM_PYTHON,
    RECURRENT,
    flattened,
    packed,
    padded,
    with_values,
)
from memtrack.prediction.stage.metas import ctc_loss
from memtrack.prediction.stage.moves import Moves
from memtrack.prediction.stage.operations import Operations
from memtrack.prediction.stage.values import claim_new

_FROM_DATA = (torch.tensor, torch.as_tensor, torch.asarray)
_DUNDERS = {
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "__pow__": "pow",
    "__add__": "add",
    "__iadd__": "add_",
    "__radd__": "add",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__sub__": "sub",
    "__truediv__": "div",
}
_OURS: dict[str, Any] = {
    "_pad_packed_sequence": padded,
    "_pack_padded_sequence": packed,
    "_cudnn_rnn_flatten_weight": flattened,
}
_REFUSED = frozenset(
    [
        "nested_tensor",
        "sparse_coo_tensor",
        "sparse_compressed_tensor",
        "sparse_csr_tensor",
        "sparse_csc_tensor",
        "sparse_bsr_tensor",
        "sparse_bsc_tensor",
        "empty_quantized",
    ]
)
_aten = torch.ops.aten


class Functions(TorchFunctionMode):
    """The mode that sees calls from Python."""

    def __init__(self, operations: Operations, kernels: KernelTable, moves: Moves) -> None:
        super().__init__()
        self._operations = operations
        self._kernels = kernels
        self._swaps = frozenset(getattr(kernels, "swaps", ()))
        self._moves = moves
        likes = {getattr(torch, name) for name in LIKE if hasattr(torch, name)}
        likes |= {getattr(torch.Tensor, n) for n in LIKE if hasattr(torch.Tensor, n)}
        self._makers = {*default_device._device_constructors(), *likes}
        self._defaulted = default_device._device_constructors()
        self.default: torch.device | None = None
        """The default device of a block around the prediction."""
        self._names: dict[Any, str] = {}
        self._packets: dict[str, Any] = {}

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch with our device or our kernel."""
        kwargs = kwargs or {}
        if func in self._makers:
            return self._make(func, args, kwargs)
        name = self._names.get(func)
        if name is None:
            name = self._name(func)
        if name and args and type(args[0]) is torch.Tensor:
            self._note_device(args[0])
        if name in FROM_PYTHON:
            args = self._with_values(name, args)
        if name in ACCUMULATING:
            return self._accumulate(name, func, args, kwargs)
        own = _OURS.get(name)
        if own is not None:
            with self:
                return own(*args, **kwargs)
        if name in self._swaps or (name and torch.is_autocast_enabled("cuda")):
            outputs = self._swap(name, args, kwargs)
            if outputs is not NotImplemented:
                return outputs
        if name == "ctc_loss":
            with self:
                return ctc_loss(*args, **kwargs)
        try:
            return func(*args, **kwargs)
        except NotImplementedError as error:
            if any(isinstance(one, torch.Tensor) for one in args):
                raise refused(
                    name or str(func), text("torch has no shapes for it without data")
                ) from error
            raise

    def _accumulate(
        self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Let the program's own call make a new tensor, even in a backward pass."""
        operations = self._operations
        operations.asked, before = name, operations.asked
        try:
            if name in self._swaps or torch.is_autocast_enabled("cuda"):
                outputs = self._swap(name, args, kwargs)
                if outputs is not NotImplemented:
                    return outputs
            return func(*args, **kwargs)
        finally:
            operations.asked = before

    # devices

    def _note_device(self, tensor: torch.Tensor) -> None:
        with torch._C.DisableTorchFunction():
            claim = claim_of(tensor)
        if claim is not None:
            self._operations.recent = claim.device

    def _make(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if func.__name__ in _REFUSED:
            raise refused(func.__name__, text("tensors of such a layout are not modelled"))
        if func in _FROM_DATA and args and type(args[0]) in (list, tuple):
            args = (_numbers(args[0]), *args[1:])
        device = kwargs.get("device")
        if device is None and func is torch.as_tensor and len(args) > 2:
            device, args = args[2], args[:2]
        if device is None and func in self._defaulted:
            device = self.default or default_device.CURRENT_DEVICE
        if device is None:
            if func in _FROM_DATA and args and isinstance(args[0], torch.Tensor):
                return self._from_tensor(func, args, kwargs, None)
            return self._host(func, args, kwargs)
        target = self._moves.device(device)
        if func in _FROM_DATA:
            return self._from_tensor(func, args, {**kwargs, "device": None}, target)
        if target is CPU:
            return self._host(func, args, {**kwargs, "device": CPU})
        operations = self._operations
        operations.destination, before = target, operations.destination
        try:
            plain = {**kwargs, "device": META, "pin_memory": False}
            if "pin_memory" not in kwargs:
                del plain["pin_memory"]
            return func(*args, **_ungenerated(plain))
        finally:
            operations.destination = before

    def _host(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not kwargs.get("pin_memory"):
            return func(*args, **kwargs)
        made = func(*args, **{**kwargs, "pin_memory": False})
        return made.pin_memory()

    def _from_tensor(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], target: Any
    ) -> Any:
        """`torch.tensor(data, device=…)`: made on the host from the program's data, then moved."""
        data, requires_grad = args[0] if args else kwargs.get("data"), kwargs.get("requires_grad")
        dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
        if isinstance(data, torch.Tensor):
            source = self._operations.outside.taken_in(data, func.__name__)
            if func is torch.tensor:
                source = source.detach().clone()
            made = self._moves.move(source, target, dtype)
        else:
            host = {**kwargs, "device": CPU, "requires_grad": False}
            host.pop("pin_memory", None)
            if func is torch.as_tensor:
                del host["requires_grad"]
            made = func(*args, **host)
            with torch._C.DisableTorchFunction():
                if not is_meta(made):
                    made = self._operations.lifted(made)
            made = self._moves.move(made, target, None)
        return made.requires_grad_() if requires_grad else made

    # kernels

    def _with_values(self, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give C++ the values it reads. Unpacked recurrent calls have their states in that place."""
        if name in RECURRENT and not isinstance(args[1], torch.Tensor):
            return args
        if name in RECURRENT and args[1].dim() != 1:
            return args
        return with_values(name, FROM_PYTHON[name], args)

    def _name(self, func: Any) -> str:
        """Return aten's name of a builtin, "" for what has none."""
        name = getattr(func, "__name__", "")
        name = _DUNDERS.get(name, name)
        # aten's `__getitem__` is of lists: its search for an overload goes through tensors row by row.
        no_op = inspect.isfunction(func) or name == "__getitem__"
        packet = None if no_op else getattr(_aten, name, None)
        if not isinstance(packet, torch._ops.OpOverloadPacket):
            name = ""
        self._names[func] = name
        return name

    def _swap(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        op, args, kwargs = self._overload(name, args, kwargs)
        if op is None:
            return NotImplemented
        operations = self._operations
        device = self._device(args, kwargs)
        context = operations.context(device)
        operations.destination, before = device, operations.destination
        Depth.below = True
        try:
            outputs = self._kernels.swap(op, args, kwargs, context)
        finally:
            Depth.below = False
            operations.destination = before
        if outputs is not NotImplemented:
            with torch._C.DisableTorchFunction():
                claim_new(outputs, device)
            if context.effects:
                operations.on_effects(op, context.effects, device)
        return outputs

    def _device(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device:
        with torch._C.DisableTorchFunction():
            for one in (*args, *kwargs.values()):
                items = one if isinstance(one, (list, tuple)) else (one,)
                for item in items:
                    claim = claim_of(item) if isinstance(item, torch.Tensor) else None
                    if claim is not None and claim.device.type == "cuda":
                        return claim.device
        return CPU

    def _overload(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Return the aten overload that a call from Python means, None where it cannot be told."""
        packet = self._packets.get(name)
        if packet is None:
            packet = self._packets[name] = getattr(_aten, name)
        if "input" in kwargs:
            kwargs = dict(kwargs)
            if not args:
                args = (kwargs.pop("input"),)
        with torch._C.DisableTorchFunction():
            overloads = packet.overloads()
            found = overloads[0]
            if len(overloads) > 1:
                try:
                    found = torch._C._jit_resolve_packet(packet._qualified_op_name, *args, **kwargs)
                except RuntimeError:
                    return None, args, kwargs
        op = getattr(packet, found or "default")
        return op, *_placed(op, args, kwargs)


def _placed(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments in their places where they were given by name, as kernels read them."""
    if not kwargs:
        return args, kwargs
    rest = dict(kwargs)
    for one in op._schema.arguments[len(args) :]:
        if one.kwarg_only or one.name not in rest:
            break
        args = (*args, rest.pop(one.name))
    return args, rest


def _numbers(data: Any) -> Any:
    """Return lists of data with tensors as the numbers that torch would read from them."""
    if not any(isinstance(one, (torch.Tensor, list, tuple)) for one in data):
        return data
    found = []
    for one in data:
        if isinstance(one, torch.Tensor):
            found.append(one.tolist())
        else:
            found.append(_numbers(one) if type(one) in (list, tuple) else one)
    return found


def _ungenerated(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return arguments without a generator, which would have to be of the same device."""
    if kwargs.get("generator") is None:
        return kwargs
    return {name: one for name, one in kwargs.items() if name != "generator"}
