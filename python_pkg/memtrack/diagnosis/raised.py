"""Exceptions of a running process as text, in the order in which they came about.

Nothing of an exception is kept: neither its frames nor what they hold. No value of the user's is
shown, so that nothing of theirs is run but what Python itself runs to print the error.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

MOST = 20_000
"""Exceptions of one chain or group that are looked at."""
MOST_SHOWN = 50
"""Of these are read: those that may be about memory first."""
LONGEST = 200_000
"""Characters of one exception's text: its beginning and its end."""
_CAME_FROM = ("__cause__", "__context__", "__suppress_context__")
_FILE = re.compile(r'^(\s*File ")([^"\n]+)(", line \d+)', re.MULTILINE)
_RAISE = re.compile(r"^ {4,}raise\b.*\n(?: +[~^]+\n)?", re.MULTILINE)
"""The source of a `raise`, whose message is no error that happened, and the marks below it."""
_MUTE = re.compile(r"<(?:exception str\(\) failed|unprintable .{0,100} object)>\s*$")
"""What Python shows of an error whose text cannot be had."""
_WORDS = re.compile(
    r"memory|alloc|cuda|hip error|xpu|cublas|cudnn|cufft|cusolver|cusparse|nccl|nvml|driver|device-side"
    r"|bus error|/dev/shm|\bshm|xid|resource|gpu|invalid buffer size|no kernel image|1EB|triton|killed"
    r"|\bmps\b|\bnpu|device|exited unexpectedly|by signal",
    re.IGNORECASE,
)

_OF_A_DISK = re.compile(r"(?<!\d>: )No space left on device", re.IGNORECASE)
"""Words of a full disk, which nobody asked us about; those of a tensor in shared memory name its file."""


def chain(error: BaseException) -> list[BaseException]:
    """Return an exception and what it came from, as Python would show them: the first cause first."""
    found: list[BaseException] = []
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting and len(found) < MOST:
        one = waiting.pop()
        if not issubclass(type(one), BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        found.append(one)
        cause, context, is_hidden = (plainly(one, name) for name in _CAME_FROM)
        waiting.append(cause if cause is not None or is_hidden else context)
        members = plainly(one, "exceptions")
        waiting += list(members) if isinstance(members, tuple) else []
    return found[::-1]


def plainly(error: BaseException, name: str) -> Any:
    """Return an attribute of an exception, None where its class has spoiled it."""
    try:
        return object.__getattribute__(error, name)  # not what the class puts in its place
    except Exception:  # noqa: BLE001 - a property may be code of the user's
        return None


def may_be_about_memory(error: BaseException) -> bool:
    """Tell, in microseconds, whether an error is worth being read; most are not."""
    return any(_may_be(one) for one in chain(error))


def _may_be(error: BaseException) -> bool:
    is_named = issubclass(type(error), MemoryError) or _out_of_memory(error) is not None
    return is_named or _WORDS.search(_OF_A_DISK.sub("", _told(error))) is not None


def _out_of_memory(error: BaseException) -> type | None:
    """Return the class that says that memory ran out, the error's own or one it is made from."""
    classes = type.mro(type(error))
    return next((one for one in classes if "OutOf" in one.__name__), None)


def _told(error: BaseException) -> str:
    """Return what an exception was given to say, as far as its text is no code of the user's."""
    given = plainly(error, "args")
    values = given if isinstance(given, tuple) else ()
    plain = [str(value) for value in values if type(value) in (str, int, bytes)]
    return " ".join(plain)[:LONGEST]


def text_of(error: BaseException, names: Callable[[str], str] | None = None) -> str:
    """Return the tracebacks of an exception and of what it came from, the first cause first.

    `names` maps a source file to how people know it, such as a cell's number.
    """
    parts = [_bounded(_shown(one)) for one in _worth_reading(chain(error))]
    whole = _RAISE.sub("", "\n".join(parts))
    if names is None:
        return whole
    return _FILE.sub(lambda found: f"{found[1]}{names(found[2])}{found[3]}", whole)


def _worth_reading(errors: list[BaseException]) -> list[BaseException]:
    """Return so many of a long chain as can be read, in its order."""
    if len(errors) <= MOST_SHOWN:
        return errors
    likely = [one for one in errors if _may_be(one)]
    chosen = {id(one) for one in (likely or errors)[-MOST_SHOWN:]}
    return [one for one in errors if id(one) in chosen]


def _shown(error: BaseException) -> str:
    """Return an exception as Python shows it, as far as its class lets Python do so."""
    entries = plainly(error, "__traceback__")
    try:
        if plainly(error, "exceptions") is not None:  # its members have their own place
            return "".join(traceback.format_exception_only(type(error), error)[-1:])
        shown = "".join(traceback.format_exception(type(error), error, entries, chain=False))
        return shown + _in_other_words(error, shown)
    except Exception:  # noqa: BLE001 - of this error or of one it came from; code of the user's
        told = type(error).__name__
        with suppress(Exception):
            told = f"{told}: {error}"
        return "".join(traceback.format_tb(entries)) + told + "\n"


def _in_other_words(error: BaseException, shown: str) -> str:
    """Return what an error is, where its class has another name for it or fails to say."""
    known, told = _out_of_memory(error), _told(error)
    is_mute = _MUTE.search(shown[-200:]) is not None
    is_renamed = known not in (None, type(error)) and _WORDS.search(told) is None
    if not (is_mute or is_renamed):
        return ""
    kind = known or type(error)
    return f"{kind.__module__}.{kind.__qualname__}: {told}\n"


def _bounded(told: str) -> str:
    return told if len(told) <= LONGEST else told[: LONGEST // 2] + "\n" + told[-LONGEST // 2 :]
