"""Tracebacks that a shell shows while it records: without the frames that recording adds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

_METHOD = "structured_traceback"


class CleanTracebacks:
    """Cleans what `shell` is about to show, from now on until `stop`."""

    def __init__(self, shell: Any) -> None:
        self._formatter: Any = shell.InteractiveTB
        self._before: dict[str, Any] = {
            name: value for name, value in vars(self._formatter).items() if name == _METHOD
        }
        self._running = True
        self._ours = self._cleaning(getattr(self._formatter, _METHOD))
        setattr(self._formatter, _METHOD, self._ours)

    def stop(self) -> None:
        """Give the shell back what it had. Where another has come on top, only do nothing more."""
        self._running = False
        if vars(self._formatter).get(_METHOD) is self._ours:
            delattr(self._formatter, _METHOD)
            vars(self._formatter).update(self._before)

    def _cleaning(self, format_traceback: Callable[..., Any]) -> Callable[..., Any]:
        def structured_traceback(*args: Any, **kwargs: Any) -> Any:
            error = args[1] if len(args) > 1 else kwargs.get("evalue")
            if self._running and isinstance(error, BaseException):
                from memtrack.capture.tracebacks import clean_traceback

                with suppress(Exception):
                    clean_traceback(error)
            return format_traceback(*args, **kwargs)

        return structured_traceback
