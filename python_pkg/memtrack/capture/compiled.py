"""Calls of modules that were compiled in place, by `model.compile()`: no hook of theirs runs.

Their `__call__` goes straight to what torch has compiled. While they are watched a function of ours
stands before it, and tells what hooks would be told. Of calls inside of what is compiled nothing is
told, as everywhere.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from memtrack.capture import torch_api

Before = Callable[[torch.nn.Module, Any], None]
After = Callable[[torch.nn.Module, Any, Any], None]


class CompiledCalls:
    """Tells `before` and `after` of calls of compiled modules, while `is_on`."""

    def __init__(self, before: Before, after: After) -> None:
        self._before = before
        self._after = after
        self._watched: list[tuple[weakref.ref[torch.nn.Module], Any, Any]] = []
        self.is_on = True

    def start(self) -> None:
        """Watch every module that is compiled from now on."""
        if self not in _followers:
            _followers.append(self)
            if len(_followers) == 1 and _torch_compile is not None:
                torch.nn.Module.compile = _compile  # type: ignore[method-assign]

    def stop(self) -> None:
        """Leave all modules as they were; a call under way is told of at its end, while `is_on`.

        Safe at any time and any number of times.
        """
        if self in _followers:
            _followers.remove(self)
            if not _followers and getattr(torch.nn.Module, "compile", None) is _compile:
                torch.nn.Module.compile = _torch_compile  # type: ignore[method-assign]
        while self._watched:
            reference, ours, theirs = self._watched.pop()
            module = reference()
            # Another recording's may stand before ours: then ours stays there and tells nothing.
            if module is not None and torch_api.compiled_call(module) is ours:
                torch_api.set_compiled_call(module, theirs)

    def watch(self, module: torch.nn.Module) -> None:
        """Watch a module if it is compiled in place."""
        theirs = torch_api.compiled_call(module)
        if theirs is None or any(theirs is ours for _, ours, _ in self._watched):
            return
        ours = self._around(module, theirs)
        torch_api.set_compiled_call(module, ours)
        self._watched.append((weakref.ref(module), ours, theirs))

    def _around(self, module: torch.nn.Module, compiled: Callable[..., Any]) -> Callable[..., Any]:
        call = torch_api.watched_call(module, compiled, self._begin, self._end)
        return wraps(compiled)(call)

    def _begin(self, module: torch.nn.Module, args: Any) -> None:
        if self.is_on:
            self._before(module, args)

    def _end(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        if self.is_on:
            self._after(module, args, output)


_followers: list[CompiledCalls] = []
_torch_compile: Any = getattr(torch.nn.Module, "compile", None)
"""None before torch 2.2, where modules are not compiled in place."""


@wraps(_torch_compile or torch.compile)
def _compile(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
    _torch_compile(self, *args, **kwargs)
    for follower in _followers:
        follower.watch(self)
