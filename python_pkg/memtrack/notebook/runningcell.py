"""Whether a cell of this kernel runs, and saying so again after a subshell has answered a message.

A subshell reports the kernel idle when it has answered, also while a cell runs on the main thread. Jupyter
Server believes the latest report: a training would be shown as idle, and be culled as such.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from memtrack.notebook.cellevents import CellEvents

SOON_S = 0.1
"""After this the subshell has reported that it is done; the report follows the handler of a message."""


class RunningCell:
    """Follows the cells of a shell's kernel from `begin` to `end`."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._events = CellEvents(shell, self._before_cell, self._after_cell)
        self._lock = threading.Lock()
        self._cells = 0
        self._request: Any = None

    def __bool__(self) -> bool:
        """Tell whether a cell runs."""
        return self._cells > 0

    def begin(self) -> None:
        """Hear of cells from now on."""
        self._events.begin()

    def end(self) -> None:
        """Hear no more; harmless when it never began."""
        self._events.end()

    def answered(self) -> None:
        """Say soon that a cell runs, if a message is answered beside it."""
        if self and threading.current_thread() is not threading.main_thread():
            timer = threading.Timer(SOON_S, self._say)
            timer.daemon = True
            timer.start()

    def _before_cell(self, _: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            with self._lock:
                self._cells += 1
                with suppress(Exception):  # a kernel of another make
                    self._request = self._shell.kernel.get_parent("shell")

    def _after_cell(self, _: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            with self._lock:
                self._cells = max(0, self._cells - 1)

    def _say(self) -> None:
        # With the lock, so that it is on its way before the kernel reports the end of the cell.
        with self._lock, suppress(Exception):
            if self._cells and self._request:
                kernel = self._shell.kernel
                kernel.session.send(
                    kernel.iopub_socket,
                    "status",
                    {"execution_state": "busy"},
                    parent=self._request,
                    ident=f"kernel.{kernel.ident}.status".encode(),
                )
