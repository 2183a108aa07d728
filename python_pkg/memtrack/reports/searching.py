"""What is told of a search for the largest batch: what was tried, how far it is, what it found."""

from __future__ import annotations

import math
from collections.abc import Iterable

from memtrack.i18n import Text, text
from memtrack.reports.words import PHASES, literal

BAR = 20
"""Characters of a progress bar."""
_FIRST_GUESS = 8
"""Tries that a search takes as long as nothing has failed to fit."""


class Searching:
    """Follows a search by what it has tried; `share` of 1 is done, and never gets less."""

    def __init__(self) -> None:
        self._fitting, self._failing = 0, 0
        self._tried = 0
        self.share = 0.0

    def tried(self, size: int, fits: bool) -> Text:
        """Take one more size that was tried; return what to say of it."""
        self._tried += 1
        if fits:
            self._fitting = max(self._fitting, size)
        else:
            self._failing = min(self._failing or size, size)
        self.share = max(self.share, self._tried / (self._tried + self._left()))
        if fits:
            return text("Batch {size} fits, searching on", size=size)
        return text("Batch {size} does not fit, searching on", size=size)

    def _left(self) -> float:
        """Return about how many tries are left: half of what is between is gone with each."""
        if not self._failing:
            return max(_FIRST_GUESS - self._tried, 2)
        return math.log2(max(self._failing - self._fitting, 1))


def bar(share: float) -> str:
    """Return a bar of text, filled by a share of 1.

    >>> bar(0.25)
    '█████░░░░░░░░░░░░░░░'
    """
    full = round(BAR * min(max(share, 0.0), 1.0))
    return "█" * full + "░" * (BAR - full)


def largest_sentence(
    size: int, phase: str, layer: str, tried: Iterable[tuple[int, bool]] = ()
) -> Text:
    """Return the answer: the largest size that fits (0: none) and where the next runs out.

    Of large sizes not every one is tried: then the smallest of `tried` that does not fit is told too.
    """
    where = PHASES[phase] if phase in PHASES else literal(phase)
    if layer:
        where = text("{phase} of {layer}", phase=where, layer=layer)
    if not size:
        return text("Not even a batch of 1 fits. What limits it: {where}", where=where)
    failing = min((one for one, fits in tried if not fits and one > size), default=size + 1)
    if failing > size + 1:
        return text(
            "Largest batch that fits: {size} ({failing} does not). What limits it: {where}",
            size=size,
            failing=failing,
            where=where,
        )
    return text("Largest batch that fits: {size}. What limits it: {where}", size=size, where=where)
