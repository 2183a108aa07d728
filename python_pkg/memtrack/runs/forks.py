"""SQLite and `fork`: a connection that is open while a process forks must not be there in the child.

The child would believe that it holds locks which only its parent has, and two writers could damage the
file. So a fork waits until no connection of ours is open; where that takes too long, the child uses
no history at all.
"""

from __future__ import annotations

import os
import threading

PATIENCE_S = 2.0
"""Seconds that a fork waits; adding a large run takes a few tenths."""


class Connections:
    """How many connections to histories are open in this process."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open = 0
        self.is_usable = True
        """Whether connections may be opened: not in a child that was forked beside an open one."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before, after_in_parent=self._in_parent, after_in_child=self._in_child
            )

    def opened(self) -> None:
        """Count one more."""
        with self._changed:
            self._open += 1

    def closed(self) -> None:
        """Count one less."""
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def _before(self) -> None:
        self._changed.acquire()
        self._changed.wait_for(lambda: self._open == 0, PATIENCE_S)

    def _in_parent(self) -> None:
        self._changed.release()

    def _in_child(self) -> None:
        self._changed = threading.Condition()
        self.is_usable = self.is_usable and self._open == 0
        self._open = 0


CONNECTIONS = Connections()
