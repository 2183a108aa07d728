"""Modules that the program imports while it is predicted: what is replaced in them is so at once."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib.machinery import ModuleSpec
from typing import Any

Act = Callable[[Any], None]


class Loading:
    """Calls a function with a module: now where it is loaded, else as soon as it is.

    A library that is imported inside the predicted function, or loads its parts when they are first
    asked for, is met in time so. It stands before the finders of Python as long as it is entered.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Act]] = {}

    def install(self, undo: ExitStack) -> None:
        """Begin to wait; `undo` ends it."""
        sys.meta_path.insert(0, self)
        undo.callback(sys.meta_path.remove, self)

    def when_loaded(self, name: str, act: Act) -> None:
        """Have `act(module)` called once, after the module's own code has run."""
        module = sys.modules.get(name)
        # A lazy module stands for itself until it is asked for something.
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            act(module)
        else:
            self._waiting.setdefault(name, []).append(act)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return what the other finders say of a module that is waited for, None for all others."""
        acts = self._waiting.pop(name, None)
        if not acts:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        original = spec.loader.exec_module

        def run(module: Any) -> None:
            original(module)
            for act in acts:
                act(module)

        spec.loader.exec_module = run  # type: ignore[method-assign]
        return spec
