"""The largest size that fits, by as few predictions as it takes.

What a run needs grows nearly linearly with its batch. Two predictions give a line, the line a guess,
and each prediction moves the bounds; halving takes over where the line is of no help.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from memtrack.analysis.predicted import FITS, Predicted
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.prediction.unheard import unheard

LARGEST = 1 << 20
"""No search goes beyond it unless a bound is given."""
MOST_TRIES = 40
PRECISION = 256
"""The answer is within this part of the true one: predictions are not surer than that."""


class Attempt(Protocol):
    """A prediction for one size."""

    @property
    def told(self) -> Predicted:
        """What it says."""

    @property
    def limiting(self) -> tuple[str, str]:
        """Phase and layer of its peak, or of where it runs out."""


@dataclass(frozen=True, slots=True)
class Largest:
    """The answer: `size` fits (0: not even the smallest), `limiting` is what stops the next one.

    `bounded` tells that the search ended at the bound that was given, not at the GPU's.
    """

    size: int
    limiting: tuple[str, str]
    tried: tuple[tuple[int, bool], ...]
    bounded: bool
    best: Attempt | None

    def __repr__(self) -> str:
        limit = " of ".join(filter(None, self.limiting))
        return f"<memtrack.Largest: {self.size}{f', limited by {limit}' if limit else ''}>"


def find_largest(
    attempt: Callable[[int], Attempt],
    low: int = 1,
    high: int | None = None,
    progress: Callable[[int, bool], None] | None = None,
) -> Largest:
    """Search from `low` to `high` (None: no bound); raises UsageError for bounds that are none."""
    whole = all(type(bound) is int for bound in (low, low if high is None else high))
    if not whole or low < 1 or (high is not None and high < low):
        raise UsageError(text("The search needs 1 ≤ low ≤ high, as whole numbers."))
    search = _Search(attempt, progress)
    most = LARGEST if high is None else high
    fitting, failing, size = 0, most + 1, low
    while fitting + 1 + fitting // PRECISION < failing and len(search.tried) < MOST_TRIES:
        if search.fits(size):
            fitting = max(fitting, size)
        else:
            failing = min(failing, size)
            if size == low:
                fitting = 0
                break
        size = search.next_between(max(fitting, low), failing)
    return search.answer(fitting, bounded=fitting == most)


class _Search:
    """What has been tried so far: sizes with what they need, bytes."""

    def __init__(
        self,
        attempt: Callable[[int], Attempt],
        progress: Callable[[int, bool], None] | None,
    ) -> None:
        self._attempt = attempt
        self._progress = progress
        self._needs: dict[int, int] = {}
        self._found: dict[int, Attempt] = {}
        self._capacity = 0
        self.tried: list[tuple[int, bool]] = []

    def fits(self, size: int) -> bool:
        """Predict one size and tell whether it surely fits."""
        with unheard():
            found = self._attempt(size)
        told = found.told
        does = told.verdict == FITS
        self._needs[size] = told.process[1]
        self._capacity = told.capacity
        self._found[size] = found
        self.tried.append((size, does))
        if self._progress is not None:
            self._progress(size, does)
        return does

    def next_between(self, fitting: int, failing: int) -> int:
        """Return the size to try next, above `fitting` and below `failing`."""
        if len(self._needs) == 1:
            return min(fitting * 2, failing - 1)
        guess = self._on_the_line()
        if guess is None or len(self.tried) % 2:  # halve every other time: the line may be bent
            guess = _between(fitting, failing)
        return min(max(guess, fitting + 1), failing - 1)

    def _on_the_line(self) -> int | None:
        """Return the size at which a line through the two that are nearest reaches the capacity."""
        nearest = sorted(self._needs, key=lambda n: abs(self._needs[n] - self._capacity))[:2]
        (one, two) = sorted(nearest)
        slope = (self._needs[two] - self._needs[one]) / (two - one)
        if slope <= 0:
            return None
        return int(one + (self._capacity - self._needs[one]) / slope)

    def answer(self, size: int, bounded: bool) -> Largest:
        """Return the answer from all that was tried."""
        above = [n for n, does in self.tried if not does]
        stopped = self._found[min(above)] if above else self._found.get(size)
        limiting = ("", "") if stopped is None else stopped.limiting
        return Largest(size, limiting, tuple(self.tried), bounded, self._found.get(size))


def _between(fitting: int, failing: int) -> int:
    """Return the middle of two sizes; of those far apart, the middle of their magnitudes."""
    if failing > 4 * fitting:
        return math.isqrt(fitting * failing)
    return (fitting + failing) // 2
