"""Every operation's outputs, seen below autograd: where storages are born on any device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

Observer = Callable[[Any, Any, Any], None]


class OperationWatch(TorchDispatchMode):
    """Calls `before()` ahead of each operation and `after(args, kwargs, outputs)` behind it."""

    def __init__(self, before: Callable[[], None], after: Observer) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._before = before
        self._after = after
        self.active = True
        self._entered = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the operation as it is."""
        kwargs = kwargs or {}
        if not self.active:
            return func(*args, **kwargs)
        self._before()
        outputs = func(*args, **kwargs)
        self._after(args, kwargs, outputs)
        return outputs

    def enter(self) -> None:
        """Push the mode on the calling thread, once."""
        if not self._entered:
            self.__enter__()  # type: ignore[no-untyped-call]
            self._entered = True

    def leave(self) -> bool:
        """Pop the mode; False when another lies on top of it, which is left alone."""
        if not self._entered:
            return True
        current = getattr(_python_dispatch, "_get_current_dispatch_mode", lambda: self)()
        if current is not self:
            return False
        self.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        self._entered = False
        return True


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
