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
"""Frames kept of a deeper stack, the innermost."""

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
        self._skipped: set[CodeType] = set()
        self._frames: dict[tuple[CodeType, int], int] = {}
        self._known: dict[tuple[int, ...], int] = {(): -1}

    def read(self) -> int:
        """Return the stack row of the caller's caller, -1 when none of its frames is the user's."""
        frame: FrameType | None = sys._getframe(2)
        skipped, frames = self._skipped, self._frames
        found: list[int] = []
        while frame is not None:
            code = frame.f_code
            if code not in skipped:
                row = frames.get((code, frame.f_lineno))
                if row is not None:
                    found.append(row)
                elif is_machinery(code.co_filename):
                    skipped.add(code)
                else:
                    found.append(self._add(code, frame.f_lineno))
            frame = frame.f_back
        key = tuple(found)
        stack = self._known.get(key)
        if stack is None:
            stack = self._known[key] = self._push(found)
        return stack

    def _add(self, code: CodeType, line: int) -> int:
        file = code.co_filename
        name = self._names(file) if self._names else file
        function = getattr(code, "co_qualname", code.co_name)
        row = self._frames[code, line] = self._stacks.frame(name, function, line or 0)
        return row

    def _push(self, innermost_first: list[int]) -> int:
        stack = -1
        for row in reversed(innermost_first[:MAX_DEPTH]):
            stack = self._stacks.push(stack, row)
        return stack
