"""Every operation's outputs, seen below autograd: where storages are born on any device."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from memtrack.capture import torch_api

Observer = Callable[[Any, Any, Any], None]


class OperationWatch(TorchDispatchMode):
    """Calls `before()` ahead of each operation and `after(args, kwargs, outputs)` behind it."""

    def __init__(self, before: Callable[[], None], after: Observer) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._before = before
        self._after = after
        self.active = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the operation as it is."""
        kwargs = kwargs or {}
        if not self.active or torch_api.is_tracing():
            return func(*args, **kwargs)
        self._before()
        outputs = func(*args, **kwargs)
        self._after(args, kwargs, outputs)
        return outputs

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let `torch.compile` compile as it would without us (asked by torch 2.9 and later)."""
        return True

    def enter(self) -> None:
        """Push the mode on the calling thread, once; not in backward, see `in_backward`."""
        drop_inactive()
        _load_what_modes_need()
        self.active = True
        if torch_api.in_backward():
            return
        if self not in _pushed.stack:
            self.__enter__()  # type: ignore[no-untyped-call]
            _pushed.stack.append(self)

    def leave(self) -> None:
        """Pop the mode, now if it is innermost, else when it has become so; until then it rests."""
        self.active = False
        drop_inactive()


def _load_what_modes_need() -> None:
    """Import what torch imports in the first operation under a mode, and raise what that raises.

    In some installations `torch._dynamo` cannot be imported: there the user's operation would fail.
    """
    # `torch._disable_dynamo` wraps it, and imports.
    wrapped = hasattr(OperationWatch.__torch_dispatch__, "__wrapped__")
    if wrapped and "torch._dynamo" not in sys.modules:
        importlib.import_module("torch._dynamo")
        # Errors that it has met and kept in cycles hold the frames it was imported from, the user's.
        gc.collect()


class _Pushed(threading.local):
    """Our modes on one thread, innermost last."""

    def __init__(self) -> None:
        self.stack: list[OperationWatch] = []


_pushed = _Pushed()


def drop_inactive() -> None:
    """Pop our modes that are innermost and no longer wanted; not in backward, see `in_backward`."""
    if torch_api.in_backward():
        return
    current = getattr(_python_dispatch, "_get_current_dispatch_mode", None)
    stack = _pushed.stack
    while stack and not stack[-1].active and (current is None or current() is stack[-1]):
        stack.pop().__exit__(None, None, None)  # type: ignore[no-untyped-call]


def tensors_among(values: Any) -> list[torch.Tensor]:
    """Return the tensors among an operation's arguments or outputs, lists of tensors included."""
    if isinstance(values, torch.Tensor):
        return [values]
    if not isinstance(values, (tuple, list)):
        return []
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found.extend(item for item in value if isinstance(item, torch.Tensor))
    return found
