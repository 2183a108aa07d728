"""A budget as people write it, to bytes."""

from __future__ import annotations

import re

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.units import GIB, KIB, MIB, TIB

_UNITS = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}
_MOST = 1 << 62
_MOST_SHOWN = 60
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?:([kmgt])(?:i?b)?|b)?", re.IGNORECASE)


def parse_budget(words: str) -> int:
    """Return the bytes of `24GiB`, `24 GB`, `24g` or a plain number of bytes; units are binary.

    >>> parse_budget("24GiB"), parse_budget("1.5 g"), parse_budget("512")
    (25769803776, 1610612736, 512)
    """
    match = _SIZE.fullmatch(words.strip())
    size = float(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0
    if not 1 <= size <= _MOST:
        raise UsageError(
            text("'{word}' is not a size.", word=words[:_MOST_SHOWN]),
            text("A budget is a size above 0, such as 24GiB."),
        )
    return int(size)


def device_budget(words: str) -> int:
    """Return the bytes of a budget for a device: below 1 MiB without a unit gibibytes were meant."""
    size = parse_budget(words)
    if size < MIB and words.strip().isdigit():
        raise UsageError(
            text("A budget of {word} bytes fits nothing.", word=size),
            text("For gibibytes write {word}GiB.", word=size),
        )
    return size


def checked_budget(budget: int | str | None) -> int | None:
    """Return a budget in bytes, given so or as people write it; None is none."""
    if budget is None or isinstance(budget, str):
        return None if budget is None else device_budget(budget)
    if type(budget) is not int or not 1 <= budget <= _MOST:
        raise UsageError(text("A budget is a size above 0, such as 24GiB."))
    return budget
