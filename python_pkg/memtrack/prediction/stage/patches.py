"""Attributes replaced while a prediction runs, and put back whatever happens.

What is replaced is shared by the whole process, so that a replacement asks first whether it is
called on the prediction's own thread and leaves other threads' work as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import get_ident
from typing import Any

from memtrack.prediction.stage.claims import Depth

_MISSING = object()


class Patches:
    """A set of replaced attributes. `close` puts all back, in reverse, and can be repeated."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any]] = []
        self.thread = get_ident()

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Set `owner.name`, remembering whether and what the owner itself had there."""
        self._undo.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def replace(
        self, owner: Any, name: str, make: Callable[[Any], Any], above: bool = False
    ) -> None:
        """Replace a function by `make(original)` for this thread; absent ones are left absent.

        `above` for what torch's kernels must find as it was.
        """
        original = getattr(owner, name, None)
        if original is None:
            return
        ours = make(original)
        own = vars(owner).get(name, original)
        if isinstance(own, (staticmethod, classmethod)):
            self.put(owner, name, staticmethod(self.on_thread(ours, original, above)))
        else:
            self.put(owner, name, self.on_thread(ours, original, above))

    def answer(self, owner: Any, name: str, value: Any) -> None:
        """Replace a function by one that returns `value`."""
        self.replace(owner, name, lambda original: lambda *args, **kwargs: value)

    def on_thread(
        self, ours: Callable[..., Any], original: Callable[..., Any], above: bool = False
    ) -> Any:
        """Return a function that is `ours` on the prediction's thread and `original` on others."""
        thread = self.thread

        def call(*args: Any, **kwargs: Any) -> Any:
            if get_ident() != thread or (above and Depth.below):
                return original(*args, **kwargs)
            return ours(*args, **kwargs)

        try:
            return functools.wraps(original)(call)
        except (AttributeError, TypeError):
            return call

    def is_ours(self) -> bool:
        """Tell whether the prediction's own thread asks."""
        return get_ident() == self.thread

    def close(self) -> None:
        """Put everything back."""
        while self._undo:
            owner, name, value = self._undo.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
