"""A text of any length, line by line, to all that it tells; memory does not grow with the text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memtrack.diagnosis.reading.classes import by_class
from memtrack.diagnosis.reading.failure import Failure, Reading
from memtrack.diagnosis.reading.find import Found, failures
from memtrack.diagnosis.reading.flat import Flat
from memtrack.diagnosis.reading.story import story

_NEW_LINES, _BEFORE, _AFTER = 600, 120, 60
"""A window holds so many new lines, and around them lines that give context."""
_PIECE = 2000
"""Longer lines are read in pieces of so many characters."""
_FIRST = 40
"""So many different failures are kept from the beginning; after them only the last."""

_WORTH = re.compile(
    r"emory|MEMORY|OutOf|OOM|oom|_STATUS_|_FAILED|FAILED|rror|ERROR|ailed|alloc|Alloc|reserved|NVML|NVRM|illed|"
    r"SIGKILL|Killing|exit|return code|core dumped|kernel|Kernel|resource|Exception|nvmap|NvMap|GPU|SIG|batch size"
)
_ERROR = re.compile(
    r"^(?:[\w.]+\.)?[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|StopIteration)\b\s*(?::.*)?$"
)


def read_text(text: str) -> Reading:
    """Return what a text tells."""
    return read_lines(io.StringIO(text))


def read_lines(lines: Iterable[str]) -> Reading:
    """Return what lines tell, however many there are; each is read once and then forgotten."""
    collected = _Collected()
    before: list[str] = []
    first = 1
    count = 0
    for window, last in _windows(lines):
        held = len(before)
        every = before + window
        count += len(window)
        collected.read(every, first, held, last=last)
        before = every[-(_BEFORE + _AFTER) :]
        first += len(every) - len(before)
    return collected.reading(count)


def _windows(lines: Iterable[str]) -> Iterator[tuple[list[str], bool]]:
    """Give the lines in portions; the last one is marked."""
    window: list[str] = []
    for line in lines:
        if len(line) > _PIECE:
            window.extend(line[i : i + _PIECE] for i in range(0, len(line), _PIECE))
        else:
            window.append(line)
        while len(window) > 2 * _NEW_LINES:
            yield window[:_NEW_LINES], False
            window = window[_NEW_LINES:]
    yield window, True


class _Collected:
    """The failures so far, equal ones counted, and the last line that looks like an error."""

    def __init__(self) -> None:
        self._kept: list[Failure] = []
        self._last: Found | None = None
        self._seen: dict[tuple[object, ...], int] = {}
        self._again: dict[int, int] = {}
        """How often each of them came again: a long log may repeat one a million times."""
        self._left_out = 0
        self._error = ""

    def read(self, lines: list[str], first: int, held: int, *, last: bool) -> None:
        """Read a window; `held` of its lines at the beginning were in the one before."""
        whole = last and held == 0
        if not whole and not _WORTH.search("".join(lines)):
            return
        flat = Flat(lines, first)
        low = first if held == 0 else first + held - _AFTER
        high = first + len(lines) if last else first + len(lines) - _AFTER
        for found in failures(flat):
            if low <= found.failure.line < high:
                self._add(found.failure, found)
        for line in reversed(flat.lines):
            if _ERROR.match(line):
                self._error = line[:400]
                break
        if whole and not self._kept and not self._error:
            told = story(flat)
            if told is not None:
                self._add(told)

    def _add(self, failure: Failure, found: Found | None = None) -> None:
        key = (
            failure.kind,
            failure.wording,
            failure.status,
            failure.device,
            *sorted(failure.numbers.items()),
        )
        place = self._seen.get(key)
        if place is not None:
            self._again[place] = self._again.get(place, 0) + 1
            return
        if len(self._kept) < _FIRST:
            self._seen[key] = len(self._kept)
            self._kept.append(failure if found is None else found.with_surroundings())
        else:
            self._left_out += self._last is not None
            self._last = found

    def reading(self, lines: int) -> Reading:
        """Return all of it."""
        kept = [
            replace(one, count=one.count + self._again.get(place, 0))
            for place, one in enumerate(self._kept)
        ]
        named = by_class(self._error) if not kept else None
        if named is not None:
            kept.append(replace(named, line=max(lines, 1)))
        if self._last is not None:
            kept.append(self._last.with_surroundings())
        return Reading(tuple(kept), self._error, lines, self._left_out)
