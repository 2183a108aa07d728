"""What autograd saves for backward, seen through saved-tensor hooks that change nothing.

The pack hook gives autograd a detached alias of the tensor: an output kept as it is would hold its
own node, a cycle that only the garbage collector frees. With hooks, autograd no longer notices that
a saved tensor was modified in place, so the unpack hook checks the version itself. Hooks that the
user has pushed before are called through; hooks pushed later are innermost and replace ours, so
what they keep (checkpointing, offload) is theirs.

Pairs are a stack per thread. A pair that others lie on when it should go does nothing from then on,
and goes as soon as it is on top again.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.autograd import graph

from memtrack.capture import torch_api

NOBODY = -1
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [{type} [{shape}]] is at version {now}; expected version {then} instead. Hint: "
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True)."
)
_disable = graph.disable_saved_tensors_hooks


class _Pushed(threading.local):
    """Our pairs on one thread, innermost last."""

    def __init__(self) -> None:
        self.stack: list[SavedTensors] = []


_pushed = _Pushed()
_active: set[int] = set()


class SavedTensors:
    """Pushes one pair of hooks on the calling thread.

    `on_saved` gets each tensor saved and returns a number, which `on_unpacked` gets when backward
    reads the tensor, also after the pair has been popped.
    """

    def __init__(
        self, on_saved: Callable[[torch.Tensor], int], on_unpacked: Callable[[int], None]
    ) -> None:
        self._on_saved = on_saved
        self._on_unpacked = on_unpacked
        # The same two objects each time: in backward older torch keeps them without owning them.
        self.pair = (self.pack, self.unpack)
        self._outer: tuple[Any, Any] | None = None
        self._is_active = False

    def enter(self) -> bool:
        """Push the hooks; False in backward and where saved-tensor hooks are disabled on this thread."""
        drop_inactive()
        if self._is_active:
            return True
        if torch_api.in_backward():
            if self in _pushed.stack:  # it was to go, and could not yet
                self._activate()
            return self._is_active
        self._outer = torch_api.top_saved_tensor_hooks()
        try:
            torch_api.push_saved_tensor_hooks(*self.pair)
        except RuntimeError:
            return False
        _pushed.stack.append(self)
        self._activate()
        return True

    def _activate(self) -> None:
        self._is_active = True
        _active.add(id(self))
        graph.disable_saved_tensors_hooks = _stepping_aside

    def leave(self) -> None:
        """Pop the hooks, now if they are innermost, else when they have become so."""
        self._is_active = False
        _active.discard(id(self))
        if not _active and graph.disable_saved_tensors_hooks is _stepping_aside:
            graph.disable_saved_tensors_hooks = _disable
        drop_inactive()

    def pack(self, tensor: torch.Tensor) -> Any:
        """Observe a tensor and return what autograd keeps in its place."""
        token = self._on_saved(tensor) if self._is_active else NOBODY
        if self._outer is not None:
            return self._outer[0](tensor), token, 0
        if torch_api.is_tracing():
            with torch_api.untraced():
                alias = tensor.detach()
        else:
            alias = tensor.detach()
        return alias, token, _version(alias)

    def unpack(self, packed: Any) -> Any:
        """Return the tensor; RuntimeError, worded as torch's, when it was modified in place."""
        alias, token, then = packed
        if token != NOBODY:
            self._on_unpacked(token)
        if self._outer is not None:
            return self._outer[1](alias)
        now = _version(alias)
        if now != then:
            shape = ", ".join(map(str, alias.shape))
            raise RuntimeError(MODIFIED.format(type=alias.type(), shape=shape, now=now, then=then))
        return alias

    @property
    def is_active(self) -> bool:
        """Whether the pair is meant to be pushed."""
        return self._is_active


def _innermost() -> SavedTensors | None:
    """Return the pair on top of this thread's stack if it is ours."""
    if not _pushed.stack:
        return None
    ours = _pushed.stack[-1]
    if not torch_api.CAN_TELL_SAVED_TENSOR_HOOKS:
        return ours
    top = torch_api.top_saved_tensor_hooks()
    return ours if top is not None and top[0] == ours.pack else None


def drop_inactive() -> None:
    """Pop our pairs that are innermost and no longer wanted; not in backward, see `in_backward`."""
    if torch_api.in_backward():
        return
    while (ours := _innermost()) is not None and not ours.is_active:
        torch_api.pop_saved_tensor_hooks()
        _pushed.stack.pop()


@contextlib.contextmanager
def _stepping_aside(error_message: str) -> Iterator[None]:
    """`torch.autograd.graph.disable_saved_tensors_hooks` with our pairs out of its way.

    `torch.func` transforms refuse to run while any pair is pushed.
    """
    taken: list[SavedTensors] = []
    while _innermost() is not None:
        torch_api.pop_saved_tensor_hooks()
        taken.append(_pushed.stack.pop())
    try:
        with _disable(error_message):
            yield
    finally:
        for one in reversed(taken):
            torch_api.push_saved_tensor_hooks(*one.pair)
            _pushed.stack.append(one)


def _version(tensor: torch.Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # inference tensors do not track versions
        return 0
