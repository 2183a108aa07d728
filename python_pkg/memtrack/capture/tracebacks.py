"""Tracebacks without the frames that are there only because operations are watched.

Between the user's last frame and an operation that fails stand ours, those by which torch calls us
and the one by which we run the operation. Frames of the user's and torch's own are left as they are.
"""

from __future__ import annotations

import os
from types import TracebackType

import torch

_OURS = os.path.dirname(__file__) + os.sep
_TORCH = os.path.dirname(torch.__file__) + os.sep
_ABOVE = tuple(
    os.path.join(_TORCH, name) for name in ("_compile.py", os.path.join("_dynamo", "eval_frame.py"))
)
_BELOW = os.path.join(_TORCH, "_ops.py")


def clean_traceback(error: BaseException) -> None:
    """Take our frames out of the traceback of `error` and of what it came from, in place."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            _clean(one)
            waiting += [one.__cause__, one.__context__]


def _clean(error: BaseException) -> None:
    entries = _entries(error.__traceback__)
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    kept = [entry for entry, is_kept in zip(entries, _kept(files), strict=True) if is_kept]
    # Where all are ours, it is our own failure, which is shown whole.
    if not kept or len(kept) == len(entries):
        return
    for entry, following in zip(kept, [*kept[1:], None], strict=True):
        entry.tb_next = following
    error.__traceback__ = kept[0]


def _kept(files: list[str]) -> list[bool]:
    kept = [not file.startswith(_OURS) for file in files]
    for row, file in enumerate(files):
        if not file.startswith(_OURS):
            continue
        above = row - 1
        while above >= 0 and files[above] in _ABOVE:
            kept[above] = False
            above -= 1
        if row + 1 < len(files) and files[row + 1] == _BELOW:
            kept[row + 1] = False
    return kept


def _entries(entry: TracebackType | None) -> list[TracebackType]:
    found = []
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found
