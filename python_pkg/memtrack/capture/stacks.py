"""Where in the user's code something happened: frames of Python to rows of the stack table.

Frames of torch, of memtrack and of the notebook's machinery are left out, so that what remains is
the user's code and the model's library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import torch

from memtrack.recording.builder import StackBuilder

MAX_DEPTH = 96
_SKIPPED = -1
_TORCH = str(Path(torch.__file__).parent)
_MEMTRACK = str(Path(__file__).parent.parent)
_MACHINERY = (
    "IPython",
    "ipykernel",
    "asyncio",
    "tornado",
    "traitlets",
    "runpy",
    "_pytest",
    "pluggy",
)


def is_machinery(file: str) -> bool:
    """Tell whether a file belongs to torch, memtrack or the notebook's machinery."""
    if file.startswith((_TORCH, _MEMTRACK, "<frozen")):
        return True
    parts = file.replace("\\", "/").split("/")
    return any(name in parts or f"{name}.py" == parts[-1] for name in _MACHINERY)


class StackReader:
    """Reads the current thread's stack; `names` maps a file to how the user knows it."""

    def __init__(self, stacks: StackBuilder, names: Callable[[str], str] | None = None) -> None:
        self._stacks = stacks
        self._names = names
        self._rows: dict[tuple[CodeType, int], int] = {}

    def read(self) -> int:
        """Return the stack row of the caller's caller, -1 when none of its frames is the user's."""
        frame: FrameType | None = sys._getframe(2)
        rows = self._rows
        found: list[int] = []
        while frame is not None and len(found) < MAX_DEPTH:
            key = (frame.f_code, frame.f_lineno)
            row = rows.get(key)
            if row is None:
                row = rows[key] = self._row(key)
            if row != _SKIPPED:
                found.append(row)
            frame = frame.f_back
        stack = -1
        for row in reversed(found):
            stack = self._stacks.push(stack, row)
        return stack

    def _row(self, key: tuple[CodeType, int]) -> int:
        code, line = key
        file = code.co_filename
        if is_machinery(file):
            return _SKIPPED
        name = self._names(file) if self._names else file
        return self._stacks.frame(
            name, code.co_qualname if hasattr(code, "co_qualname") else code.co_name, line or 0
        )
