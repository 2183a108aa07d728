"""`memtrack.install()`: a memory error that ends a script or a thread is explained under its traceback.

Python's two hooks for errors nobody caught are chained: what stood there before is called first, with
the same arguments, and its own failure is not ours to catch.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from memtrack.scripts.explaining import explain_on_stderr
from memtrack.scripts.imports import ImportWatch


class Hooks:
    """Our links in the chains of `sys.excepthook` and `threading.excepthook`, until `remove`.

    With `main` false only threads' errors are explained. Where another has been put on top of a link,
    the link stays and only passes on.
    """

    def __init__(self, main: bool = True) -> None:
        self._is_active = True
        self._main = _Link(sys, self._explain_main) if main else None
        self._threads = _Link(threading, self._explain_thread)
        self._torch = ImportWatch("torch", _watch_failures)

    def remove(self) -> None:
        """Take the links out again."""
        self._is_active = False
        self._torch.stop()
        if "torch" in sys.modules and "memtrack.notebook" not in sys.modules:
            _ignore_failures()
        for link in (self._main, self._threads):
            if link is not None:
                link.remove()

    def _explain_main(self, kind: Any, error: Any, traceback: TracebackType | None) -> None:
        if self._is_active and isinstance(error, BaseException):
            explain_on_stderr(error)

    def _explain_thread(self, arguments: Any) -> None:
        error = arguments.exc_value
        if self._is_active and isinstance(error, BaseException):
            explain_on_stderr(error)


class _Link:
    """One link of the chain `where.excepthook`: what was there before, then `then`."""

    def __init__(self, where: Any, then: Callable[..., None]) -> None:
        before = where.excepthook

        def excepthook(*arguments: Any) -> None:
            try:
                before(*arguments)
            finally:
                then(*arguments)

        self._where, self._before, self._hook = where, before, excepthook
        where.excepthook = excepthook

    def remove(self) -> None:
        if self._where.excepthook is self._hook:
            self._where.excepthook = self._before


_installed: Hooks | None = None
_one_at_a_time = threading.Lock()


def install() -> None:
    """Explain on stderr the memory error that ends this script or one of its threads.

    For plain scripts; in a notebook use `%load_ext memtrack`. The second time it does nothing.
    """
    global _installed
    with _one_at_a_time:
        if _installed is None:
            _installed = Hooks()


def uninstall() -> None:
    """Undo `install`: the hooks are those that were there before. Harmless without it."""
    global _installed
    with _one_at_a_time:
        hooks, _installed = _installed, None
        if hooks is not None:
            hooks.remove()


def _watch_failures() -> None:
    """Note what CUDA's allocator knows when a request fails; without it the message must do."""
    with suppress(Exception):
        from memtrack.capture.failure import watch_failures

        watch_failures()


def _ignore_failures() -> None:
    with suppress(Exception):
        from memtrack.capture.failure import ignore_failures

        ignore_failures()
