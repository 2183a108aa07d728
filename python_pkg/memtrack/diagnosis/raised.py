"""Exceptions of a running process as text, in the order in which they came about.

Nothing of an exception is kept: neither its frames nor what they hold. No value of the user's is
shown, so that nothing of theirs is run but what Python itself runs to print the error.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

MOST = 50
"""Exceptions of one chain or group that are looked at."""
LONGEST = 200_000
"""Characters of one exception's text: its beginning and its end."""
_FILE = re.compile(r'^(\s*File ")([^"\n]+)(", line \d+)', re.MULTILINE)
_RAISE = re.compile(r"^ {4,}raise\b.*\n(?: +[~^]+\n)?", re.MULTILINE)
"""The source of a `raise`, whose message is no error that happened, and the marks below it."""
_WORDS = re.compile(
    r"memory|alloc|cuda|hip error|xpu|cublas|cudnn|cufft|cusolver|cusparse|nccl|nvml|driver|device-side"
    r"|bus error|/dev/shm|xid|resource|gpu|invalid buffer size|no kernel image|1EB",
    re.IGNORECASE,
)


def chain(error: BaseException) -> list[BaseException]:
    """Return an exception and what it came from, as Python would show them: the first cause first."""
    found: list[BaseException] = []
    waiting: list[Any] = [error]
    while waiting and len(found) < MOST:
        one = waiting.pop()
        if not isinstance(one, BaseException) or any(one is other for other in found):
            continue
        found.append(one)
        hidden = one.__cause__ is not None or one.__suppress_context__
        waiting.append(one.__cause__ if hidden else one.__context__)
        members = getattr(one, "exceptions", ())
        waiting += list(members) if isinstance(members, tuple) else []
    return found[::-1]


def may_be_about_memory(error: BaseException) -> bool:
    """Tell, in microseconds, whether an error is worth being read; most are not."""
    return any(_may_be(one) for one in chain(error))


def _may_be(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or "OutOf" in type(error).__name__:
        return True
    told = error.args[0] if len(error.args) == 1 else " ".join(map(str, _plain(error.args)))
    return isinstance(told, str) and _WORDS.search(told[:LONGEST]) is not None


def _plain(values: tuple[Any, ...]) -> list[Any]:
    """Return those of an exception's arguments whose text is no code of the user's."""
    return [value for value in values if type(value) in (str, int, bytes)]


def text_of(error: BaseException, names: Callable[[str], str] | None = None) -> str:
    """Return the tracebacks of an exception and of what it came from, the first cause first.

    `names` maps a source file to how people know it, such as a cell's number.
    """
    parts = []
    for one in chain(error):
        lines = traceback.format_exception(type(one), one, one.__traceback__, chain=False)
        if hasattr(one, "exceptions"):  # its members have their own place
            lines = traceback.format_exception_only(type(one), one)[-1:]
        parts.append(_bounded("".join(lines)))
    whole = _RAISE.sub("", "\n".join(parts))
    if names is None:
        return whole
    return _FILE.sub(lambda found: f"{found[1]}{names(found[2])}{found[3]}", whole)


def _bounded(told: str) -> str:
    return told if len(told) <= LONGEST else told[: LONGEST // 2] + "\n" + told[-LONGEST // 2 :]
