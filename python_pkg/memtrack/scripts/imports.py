"""Being told when a module is imported for the first time, without importing it ourselves."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_RUN = "exec_module"


class ImportWatch:
    """Calls `then` once `name` has been imported; at once where it is already.

    It is a finder at the front of `sys.meta_path` that leaves the finding to the others: the module
    gets the loader it would have, which only this once calls us behind its work. `then` must not
    raise.
    """

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then
        self._asking = threading.local()
        if name in sys.modules:
            then()
        else:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Watch no more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find, for the one module that is watched."""
        if name != self._name or getattr(self._asking, "is_under_way", False):
            return None
        self._asking.is_under_way = True
        try:
            spec = find_spec(name)
        finally:
            self._asking.is_under_way = False
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        """Have `loader` tell when it has run the module; looking for a module does not run it."""
        run, before = loader.exec_module, vars(loader).get(_RUN)

        def exec_module(module: ModuleType) -> None:
            # Each watch has come on top of the one before, and goes in that order.
            if before is None:
                vars(loader).pop(_RUN, None)
            else:
                loader.exec_module = before
            run(module)
            if self in sys.meta_path:
                self.stop()
                self._then()

        loader.exec_module = exec_module
