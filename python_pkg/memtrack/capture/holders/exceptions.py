"""Exceptions that Python and IPython keep after a failed cell, and the letting go of them.

A frame keeps every local variable of the call that failed. Dropping the references that are no
user's is enough unless something unknown has the traceback too, so finished frames are cleared as
well: never one that a variable of the user's leads to, one that runs, or that of a generator that
may go on, since clearing would close it.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import traceback
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any

from memtrack.capture.holders.roots import LAST_ERROR, attribute, exceptions
from memtrack.capture.holders.walk import Walk

_SHOWN = 8_000
"""Most characters that are kept of what the traceback looked like."""
_MAY_GO_ON = 0x20 | 0x80 | 0x200
"""`CO_GENERATOR`, `CO_COROUTINE`, `CO_ASYNC_GENERATOR`."""
_OPTIMISED = 1
_HAS_OWN_LOCALS = sys.version_info >= (3, 11)


@dataclass(slots=True)
class Kept:
    """What is kept of failures and no variable of the user's leads to; emptied when it is forgotten.

    `unsure` when the search was cut short: whose an exception is, may then not be known.
    """

    errors: list[BaseException] = field(default_factory=list)
    frames: list[FrameType] = field(default_factory=list)
    count: int = 0
    unsure: bool = False


def kept_errors(shell: Any, walk: Walk) -> Kept:
    """Return the exceptions in the slots of Python and IPython, with all they came from."""
    kept = Kept(unsure=walk.cut_short)
    waiting = [root.value for root in exceptions(shell)]
    kept.count = sum(one is not None for one in waiting)
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if issubclass(type(one), BaseException):
            kept.errors += [] if _is_users(walk, one) else [one]
            waiting += [one.__cause__, one.__context__, one.__traceback__, *_inner(one)]
        elif type(one) is TracebackType:
            frame = one.tb_frame
            kept.frames += [] if _is_users(walk, frame) else [frame]
            waiting.append(one.tb_next)
    return kept


def _inner(error: BaseException) -> list[Any]:
    """Return the exceptions of a group, [] for any other exception."""
    inner = getattr(error, "exceptions", ())
    return list(inner) if type(inner) is tuple else []


def as_text(error: BaseException | None) -> str:
    """Return what the traceback of an exception looks like, as Python prints it, without variables."""
    if error is None:
        return ""
    with contextlib.suppress(Exception):  # the message is made by the user's code
        shown = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        return shown if len(shown) <= _SHOWN else f"…{shown[-_SHOWN:]}"
    return ""


def forget_errors(shell: Any, kept: Kept) -> int:
    """Let go of what is kept; return in how many places something was.

    `%tb` and `%debug` then say that there is nothing to show.
    """
    if not kept.unsure:
        for frame in kept.frames:
            _clear(frame)
        for error in kept.errors:
            error.__traceback__ = None
    for name in (*LAST_ERROR, "last_type"):
        if hasattr(sys, name):
            delattr(sys, name)
    _forget_slots(shell, kept.unsure)
    kept.frames.clear()
    kept.errors.clear()
    return kept.count


def _forget_slots(shell: Any, unsure: bool) -> None:
    formatter: Any = getattr(shell, "InteractiveTB", None)
    if getattr(formatter, "tb", None) is not None:
        formatter.tb = None
    syntax: Any = getattr(shell, "SyntaxTB", None)
    if getattr(syntax, "last_syntax_error", None) is not None:
        syntax.last_syntax_error = None
    if getattr(formatter, "pdb", None) is not None and not _debugger_runs():
        formatter.pdb = None
    result = getattr(shell, "last_execution_result", None)
    for slot in ("error_in_exec", "error_before_exec"):
        # That the cell failed, others may still ask. Whose the exception is, may not be known.
        error = getattr(result, slot, None)
        if unsure and error is not None:
            setattr(result, slot, _without_frames(error))


def _without_frames(error: BaseException) -> BaseException:
    """Return an exception of the same type and arguments that holds no frames and no variables."""
    with contextlib.suppress(Exception):
        if all(type(one) in (str, int, float, bool, type(None)) for one in error.args):
            bare = BaseException.__new__(type(error), *error.args)
            bare.args = error.args
            return bare
    return RuntimeError(type(error).__name__)


def _is_users(walk: Walk, thing: Any) -> bool:
    return 0 <= walk.number_of(thing) < walk.users_end


def _clear(frame: FrameType) -> None:
    """Clear a finished frame; leave one that runs or may go on."""
    if not _is_over(frame):
        return
    with contextlib.suppress(RuntimeError):
        frame.clear()
    if frame.f_code.co_flags & _OPTIMISED:
        # Before Python 3.13 a frame whose variables were shown keeps them a second time.
        frame.f_locals  # noqa: B018 - asking again drops what is gone


def _is_over(frame: FrameType) -> bool:
    """Tell whether a frame belongs to no call any more.

    A frame that runs or may go on does not own its variables and so does not show its code to the
    collector. Before Python 3.11 all do: there those of generators are left alone.
    """
    if not _HAS_OWN_LOCALS:
        return not frame.f_code.co_flags & _MAY_GO_ON
    return any(one is frame.f_code for one in gc.get_referents(frame))


def _debugger_runs() -> bool:
    """Tell whether this is asked from within a debugger's prompt."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") in ("bdb", "cmd", "pdb", "IPython.core.debugger"):
            return True
        frame = frame.f_back
    return False


def last_error(shell: Any) -> BaseException | None:
    """Return the exception that `%tb` would show."""
    for found in (
        getattr(sys, "last_value", None),
        attribute(shell, "last_execution_result.error_in_exec"),
    ):
        if found is not None and issubclass(type(found), BaseException):
            return found  # type: ignore[no-any-return]
    return None
