"""Tracebacks that a shell shows: without the frames that recording adds, or that are ours alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from memtrack.tracebacks import entries_of, linked, with_causes

_METHOD = "structured_traceback"
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = f"{os.sep}site-packages{os.sep}"


def as_users(error: BaseException) -> BaseException:
    """Return what one of our commands has raised as the user's own code would have met it.

    An interrupt where none of it ran is shown as its name alone: the shell would show our last frame.
    Any other error of ours alone is shown whole.
    """
    frames = _users_frames(error)
    if frames is None and not isinstance(error, KeyboardInterrupt):
        return error
    if frames is None:
        vars(error)["_render_traceback_"] = lambda: [type(error).__name__]
    for one in with_causes(error):
        if one is not error:
            one.__traceback__ = _users_frames(one) or one.__traceback__
    return error.with_traceback(frames)


def _users_frames(error: BaseException) -> TracebackType | None:
    """Return the traceback of an error without our frames; None where no code of the user's ran."""
    kept = [
        one
        for one in entries_of(error.__traceback__)
        if not one.tb_frame.f_code.co_filename.startswith(_PACKAGE)
    ]
    return linked(kept) if any(_is_users(one.tb_frame.f_code.co_filename) for one in kept) else None


def _is_users(file: str) -> bool:
    return not file.startswith((_STANDARD, "<frozen")) and _INSTALLED not in file


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
