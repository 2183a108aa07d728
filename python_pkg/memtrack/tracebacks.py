"""Tracebacks taken apart and put together again, for each room that leaves frames out of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType


def entries_of(traceback: TracebackType | None) -> list[TracebackType]:
    """Return the entries of a traceback, outermost first."""
    found = []
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def linked(entries: Sequence[TracebackType]) -> TracebackType | None:
    """Make `entries`, in this order, one traceback and return it; None of none. They are changed in place."""
    following: TracebackType | None = None
    for entry in reversed(entries):
        entry.tb_next = following
        following = entry
    return following


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and each that it came from, once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [one.__cause__, one.__context__]
