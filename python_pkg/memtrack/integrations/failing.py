"""An error that leaves a trainer which tells nobody: heard of where Python or IPython shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from memtrack.scripts.program import without_our_frames
from memtrack.scripts.session import show

if TYPE_CHECKING:
    from memtrack.notebook.tracebacks import CleanTracebacks


class FailureWatch:
    """Calls `heard` with the error that ends the script, or the cell, until `stop`.

    It is shown first, by whom it always was, and without the frames that recording has added. One
    that the user's program catches is not heard of.
    """

    def __init__(self, heard: Callable[[BaseException], None]) -> None:
        self._heard = heard
        self._before = sys.excepthook
        sys.excepthook = self._hook = self._of_script
        get = getattr(sys.modules.get("IPython"), "get_ipython", None)
        self._shell = None if get is None else get()
        self._tracebacks: CleanTracebacks | None = None
        if self._shell is not None:
            from memtrack.notebook.tracebacks import CleanTracebacks

            self._tracebacks = CleanTracebacks(self._shell)
            self._shell.events.register("post_run_cell", self._of_cell)

    def stop(self) -> None:
        """Hear nothing more; a hook that another has been put on top of only passes on."""
        self._heard = _nothing
        if sys.excepthook is self._hook:
            sys.excepthook = self._before
        shell, self._shell = self._shell, None
        if shell is not None:
            with suppress(ValueError):
                shell.events.unregister("post_run_cell", self._of_cell)
        if self._tracebacks is not None:
            self._tracebacks.stop()

    def _of_script(self, kind: Any, error: Any, traceback: TracebackType | None) -> None:
        heard = self._heard
        if not isinstance(error, BaseException) or heard is _nothing:
            self._before(kind, error, traceback)
            return
        with suppress(Exception):
            from memtrack.capture.tracebacks import clean_traceback

            error.__traceback__ = without_our_frames(traceback, hooked=True)
            clean_traceback(error)
        try:
            show(self._before, kind, error)
        finally:
            heard(error)

    def _of_cell(self, result: Any) -> None:
        error = getattr(result, "error_in_exec", None)
        if isinstance(error, BaseException):
            self._heard(error)


def _nothing(_: BaseException) -> None:
    """Hear of an error once there is nothing more to end."""
