"""How `%%memtrack` runs a cell, and how many cells are running.

The cell is not run by us at all: its first line becomes `%memtrack %% …`, which records the rest of
the cell, and IPython runs that as it runs every cell. So text, line numbers, tracebacks, the shown
last value, `;`, top-level `await` and the reply to the front end are what they are without us.
"""

from __future__ import annotations

import re
import sys
from types import FrameType

from memtrack.notebook.grammar import CELL_MARK

_SHELL = "IPython.core.interactiveshell"
_FIRST_LINE = re.compile(r"%%memtrack(?:[ \t]+(?P<arguments>.*?))?[ \t]*\n?", re.DOTALL)


def line_for_cell(lines: list[str]) -> list[str]:
    """Turn the first line of a `%%memtrack` cell to a line magic; leave all other cells alone.

    An input transformer of IPython: `lines` keep their ends. A cell magic in the next line is
    turned too, since it is no longer the first.
    """
    match = _FIRST_LINE.fullmatch(lines[0]) if lines else None
    body = lines[1:]
    if match is None or not any(line.strip() for line in body):
        return lines
    arguments = match["arguments"] or ""
    if arguments.startswith("?"):
        return lines
    call = f"get_ipython().run_line_magic('memtrack', {f'{CELL_MARK} {arguments}'.strip()!r})\n"
    return [call, *_with_inner_magic(body)]


def _with_inner_magic(body: list[str]) -> list[str]:
    from IPython.core.inputtransformer2 import cell_magic

    first = next(index for index, line in enumerate(body) if line.strip())
    if not body[first].startswith("%%"):
        return body
    turned: list[str] = cell_magic(body[first:])  # type: ignore[no-untyped-call]
    return body[:first] + turned


def cells_running() -> int:
    """Return how many cells are running on this thread: one within another counts twice."""
    found = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        found += code.co_name == "run_cell_async" and frame.f_globals.get("__name__") == _SHELL
        frame = frame.f_back
    return found
