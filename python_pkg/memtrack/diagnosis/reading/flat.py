"""A piece of text as the search sees it: small letters without spaces, and the way back.

Without its spaces a message is the same whether it was wrapped at 80 columns, in the middle of a
word, or lost its line ends and doubled its blanks.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from memtrack.diagnosis.reading.normalise import clean, is_information, without_prefix


class Flat:
    """Lines of a text, joined.

    `words` has single spaces, `squeezed` none and small letters; `place` maps a position in
    `squeezed` to one in `words`. `is_calm` tells that a logger called every line information.
    """

    __slots__ = (
        "_numbers",
        "_places",
        "_small",
        "_starts",
        "is_calm",
        "lines",
        "squeezed",
        "words",
    )

    def __init__(self, lines: Sequence[str], first_line: int = 1) -> None:
        self.lines: list[str] = []
        self._numbers: list[int] = []
        self.is_calm = True
        for number, raw in enumerate(lines, first_line):
            for part in clean(raw).split("\n"):
                text = " ".join(without_prefix(part).split())
                if text:
                    self.is_calm = self.is_calm and is_information(part)
                    self.lines.append(text)
                    self._numbers.append(number)
        self.words = " ".join(self.lines)
        self._starts = array("q", [0])
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        small = self.words.lower()
        if len(small) != len(self.words):  # a letter whose small form is two letters
            small = "".join(one.lower() if len(one.lower()) == 1 else one for one in self.words)
        self._small = small
        self._places: array[int] | None = None
        self.squeezed = small.replace(" ", "")

    def place(self, position: int) -> int:
        """Return where a position in `squeezed` stands in `words`."""
        if self._places is None:  # most pieces of a log are never asked
            self._places = array("q", (i for i, one in enumerate(self._small) if one != " "))
        return self._places[position] if position < len(self._places) else len(self.words)

    def row(self, position: int) -> int:
        """Return the index in `lines` of a position in `squeezed`."""
        return max(bisect_right(self._starts, self.place(position)) - 1, 0)

    def column(self, position: int) -> int:
        """Return where in its line a position in `squeezed` stands."""
        return self.place(position) - self._starts[self.row(position)]

    def number(self, position: int) -> int:
        """Return the number, in the whole text, of the line that holds a position."""
        if not self._numbers:
            return 1
        return self._numbers[min(self.row(position), len(self._numbers) - 1)]

    def said(self, start: int, end: int, most: int = 1200) -> str:
        """Return the words between two positions of `squeezed`, at most so many characters."""
        if end <= start:
            return ""
        return self.words[self.place(start) : self.place(end - 1) + 1][:most]
