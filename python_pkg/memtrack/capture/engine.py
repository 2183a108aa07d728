"""When backward begins and ends, told by the engine that runs it.

`torch.autograd.Variable._execution_engine` is where every backward pass enters the engine. While a
recording is attached a stand-in that tells before and after is there in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_Variable: Any = torch.autograd.Variable
_Callback = Callable[[], None]


class Engine:
    """Stands in for autograd's engine; whatever else is asked of it, the engine itself answers."""

    def __init__(
        self, engine: Any, on_begin: _Callback, on_end: _Callback, on_over: _Callback
    ) -> None:
        self._engine = engine
        self._on_begin = on_begin
        self._on_end = on_end
        self._on_over = on_over

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        """Run a backward pass."""
        self._on_begin()
        try:
            return self._engine.run_backward(*args, **kwargs)
        finally:
            self._on_end()
            self._on_over()

    def rest(self) -> None:
        """Tell nothing any more, and hold on to nobody: whoever kept the stand-in may go on using it."""
        self._on_begin = self._on_end = _nothing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class BackwardWatch:
    """Puts the stand-in in place and takes it away; recordings may nest and end in any order.

    `on_over` is called behind every backward pass that the stand-in has begun, also where the
    recording has ended in its middle; it must not keep the recording alive.
    """

    def __init__(self, on_begin: _Callback, on_end: _Callback, on_over: _Callback) -> None:
        self._callbacks = (on_begin, on_end, on_over)
        self._standing: Engine | None = None

    def start(self) -> bool:
        """Put the stand-in in place; False where torch keeps its engine elsewhere."""
        engine = getattr(_Variable, "_execution_engine", None)
        if engine is None or not hasattr(engine, "run_backward"):
            return False
        self._standing = Engine(engine, *self._callbacks)
        _Variable._execution_engine = self._standing
        return True

    def stop(self) -> None:
        """Take the stand-in away, from under others that were put on it since if need be."""
        standing, self._standing = self._standing, None
        if standing is None:
            return
        standing.rest()
        if _Variable._execution_engine is standing:
            _Variable._execution_engine = standing._engine
            return
        above = _Variable._execution_engine
        while isinstance(above, Engine):
            if above._engine is standing:
                above._engine = standing._engine
                return
            above = above._engine


def _nothing() -> None:
    pass
