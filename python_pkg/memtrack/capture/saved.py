"""What autograd saves for backward, seen through saved-tensor hooks that change nothing.

The pack hook gives autograd a detached alias of the tensor: an output kept as it is would hold its
own node, a cycle that only the garbage collector frees. With hooks, autograd no longer notices that
a saved tensor was modified in place, so the unpack hook checks the version itself. Hooks that the
user has pushed before are called through; hooks pushed later are innermost and replace ours, so
what they keep (checkpointing, offload) is theirs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.autograd import graph

from memtrack.capture import torch_api

MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [{type} [{shape}]] is at version {now}; expected version {then} instead. Hint: "
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True)."
)


class SavedTensors:
    """Pushes one pair of hooks on the calling thread.

    `on_saved` gets each tensor saved and returns a number, which `on_unpacked` gets when backward
    reads the tensor.
    """

    def __init__(
        self, on_saved: Callable[[torch.Tensor], int], on_unpacked: Callable[[int], None]
    ) -> None:
        self._on_saved = on_saved
        self._on_unpacked = on_unpacked
        self._outer: tuple[Any, Any] | None = None
        self._pushed = False
        self._disable = graph.disable_saved_tensors_hooks

    def enter(self) -> bool:
        """Push the hooks; False when saved-tensor hooks are disabled on this thread."""
        if self._pushed:
            return True
        self._outer = torch_api.top_saved_tensor_hooks()
        try:
            torch_api.push_saved_tensor_hooks(self.pack, self.unpack)
        except RuntimeError:
            return False
        self._pushed = True
        graph.disable_saved_tensors_hooks = self._stepping_aside
        return True

    def leave(self) -> bool:
        """Pop the hooks; False when others lie on top of them, which are left alone."""
        if not self._pushed:
            return True
        if graph.disable_saved_tensors_hooks == self._stepping_aside:
            graph.disable_saved_tensors_hooks = self._disable
        if not self._is_innermost():
            return False
        torch_api.pop_saved_tensor_hooks()
        self._pushed = False
        return True

    def pack(self, tensor: torch.Tensor) -> Any:
        """Observe a tensor and return what autograd keeps in its place."""
        token = self._on_saved(tensor)
        if self._outer is not None:
            return self._outer[0](tensor), token, 0
        alias = tensor.detach()
        return alias, token, _version(alias)

    def unpack(self, packed: Any) -> Any:
        """Return the tensor; RuntimeError, worded as torch's, when it was modified in place."""
        alias, token, then = packed
        self._on_unpacked(token)
        if self._outer is not None:
            return self._outer[1](alias)
        now = _version(alias)
        if now != then:
            shape = ", ".join(map(str, alias.shape))
            raise RuntimeError(MODIFIED.format(type=alias.type(), shape=shape, now=now, then=then))
        return alias

    def _is_innermost(self) -> bool:
        top = torch_api.top_saved_tensor_hooks()
        return top is None or top[0] == self.pack

    @contextlib.contextmanager
    def _stepping_aside(self, error_message: str) -> Iterator[None]:
        """`torch.autograd.graph.disable_saved_tensors_hooks` with our pair out of its way.

        `torch.func` transforms refuse to run while any pair is pushed.
        """
        ours = self._pushed and self._is_innermost()
        if ours:
            torch_api.pop_saved_tensor_hooks()
        try:
            with self._disable(error_message):
                yield
        finally:
            if ours:
                torch_api.push_saved_tensor_hooks(self.pack, self.unpack)


def _version(tensor: torch.Tensor) -> int:
    try:
        return tensor._version
    except RuntimeError:  # inference tensors do not track versions
        return 0
