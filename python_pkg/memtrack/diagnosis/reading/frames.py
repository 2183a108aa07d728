"""Tracebacks as Python, IPython and rich print them: where the text says the error came from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrack.diagnosis.reading.failure import Frame

_PYTHON = re.compile(r'File "(?P<path>[^"]{1,300})", line (?P<line>\d+), in (?P<name>[\w.<>]+)')
_IPYTHON = re.compile(
    r"(?:File )?(?P<path>[~/\w.<>\\:-]{2,300}?)(?::| in )(?:line )?(?P<line>\d+)?,? ?in (?P<name>[\w.<>]+)\("
)
_CELL = re.compile(
    r"(?P<path>(?:Cell )?In\s?\[\d+\]), line (?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?"
)
_CELL_IN = re.compile(r"(?P<path><ipython-input-[\w-]+>) in (?P<name>[\w.<>]+)\(")
_RICH = re.compile(r"(?P<path>/\S{2,300}\.py):(?P<line>\d+) in (?P<name>[\w.<>]+)")
_OLD_IPYTHON = re.compile(r"(?P<path>[~/][\w./-]{1,300}\.py) in (?P<name>[\w.<>]+)\(")
_SHAPES = (_PYTHON, _CELL, _CELL_IN, _OLD_IPYTHON, _RICH, _IPYTHON)
_ARROW = re.compile(r"-+>\s*(?P<line>\d+)\s(?P<source>.*)")
_BEGINNING = "Traceback (most recent call last)"
_CODE = re.compile(r"(?:-+>\s*)?(?:\d+\s+)?raise [\w.]+\(|-+>\s*\d+\s")
_ERROR = re.compile(r"[\w.]+:\s")
_JSON = re.compile(r'\s*\{"\w+": *"')
"""A log line of its own: traceback and logger write into each other."""
_STRING = re.compile(r"[bfru]{0,2}['\"]")
MOST_FRAMES = 60
_MOST_SOURCE = 8
"""Lines of one statement that Python prints below a frame: its beginning and its end."""


def frames_before(lines: Sequence[str], row: int, since: int = 0) -> list[Frame]:
    """Return the frames of the traceback that ends at `row`, outermost first."""
    first = max(since, row - 4 * MOST_FRAMES)
    for index in range(row, first - 1, -1):
        if _BEGINNING in lines[index]:
            first = index
            break
    found: list[Frame] = []
    for index in range(first, row + 1):
        frame = _frame(lines, index, row)
        if frame is not None:
            found.append(frame)
        elif found:
            arrow = _ARROW.match(lines[index])
            if arrow is not None:
                found[-1] = Frame(
                    found[-1].path, int(arrow["line"]), found[-1].function, arrow["source"].strip()
                )
    return found[-MOST_FRAMES:]


def is_source(lines: Sequence[str], row: int, column: int) -> bool:
    """Tell whether what stands at `column` of a row is quoted in code that a traceback prints."""
    before = lines[row][:column]
    if ("'" not in before and '"' not in before) or _ERROR.match(before) or _JSON.match(before):
        return False
    if _CODE.match(before):
        return True
    # A statement of several lines: below its frame, and then only a string by itself.
    most = _MOST_SOURCE if _STRING.match(before) else 1
    return any(_PYTHON.search(line) for line in lines[max(row - most, 0) : row])


def _frame(lines: Sequence[str], index: int, row: int) -> Frame | None:
    for shape in _SHAPES:
        match = shape.search(lines[index])
        if match is None:
            continue
        groups = match.groupdict()
        following = lines[index + 1] if shape is _PYTHON and index + 1 < row else ""
        source = "" if _PYTHON.search(following) else following
        return Frame(
            groups["path"], int(groups.get("line") or 0), groups.get("name") or "<module>", source
        )
    return None
