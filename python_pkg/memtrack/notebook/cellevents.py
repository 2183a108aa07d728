"""Being told before and after each cell of a shell."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any


class CellEvents:
    """Calls `before` and `after` around the cells of a shell, from `begin` to `end`, as IPython does."""

    def __init__(
        self, shell: Any, before: Callable[[Any], None], after: Callable[[Any], None]
    ) -> None:
        self._events = shell.events
        self._pairs = (("pre_run_cell", before), ("post_run_cell", after))

    def begin(self) -> None:
        """Be told of cells from now on."""
        for event, callback in self._pairs:
            self._events.register(event, callback)

    def end(self) -> None:
        """Be told no more; harmless when it never began."""
        for event, callback in self._pairs:
            with suppress(ValueError):
                self._events.unregister(event, callback)
