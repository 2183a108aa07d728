"""Tracebacks without the frames that are there only because operations are watched.

Between the user's last frame and an operation that fails stand ours, those by which torch calls us
and the one by which we run the operation. Frames of the user's and torch's own are left as they are.
"""

from __future__ import annotations

import os

import torch

from memtrack.tracebacks import entries_of, linked, with_causes

_OURS = os.path.dirname(__file__) + os.sep
_TORCH = os.path.dirname(torch.__file__) + os.sep
_ABOVE = tuple(
    os.path.join(_TORCH, name) for name in ("_compile.py", os.path.join("_dynamo", "eval_frame.py"))
)
_BELOW = os.path.join(_TORCH, "_ops.py")


def clean_traceback(error: BaseException) -> None:
    """Take our frames out of the traceback of `error` and of what it came from, in place."""
    for one in with_causes(error):
        _clean(one)


def _clean(error: BaseException) -> None:
    entries = entries_of(error.__traceback__)
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    kept = [entry for entry, is_kept in zip(entries, _kept(files), strict=True) if is_kept]
    # Where all are ours, it is our own failure, which is shown whole.
    if not kept or len(kept) == len(entries):
        return
    error.__traceback__ = linked(kept)


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
