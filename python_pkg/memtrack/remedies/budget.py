"""A budget as people write it, to bytes."""

from __future__ import annotations

import re

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.units import GIB, KIB, MIB, TIB

_UNITS = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}
_SIZE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(?:([kmgt])(?:i?b)?|b)?", re.IGNORECASE)


def parse_budget(words: str) -> int:
    """Return the bytes of `24GiB`, `24 GB`, `24g` or a plain number of bytes; units are binary.

    >>> parse_budget("24GiB"), parse_budget("1.5 g"), parse_budget("512")
    (25769803776, 1610612736, 512)
    """
    match = _SIZE.fullmatch(words.strip())
    size = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
    if size <= 0:
        raise UsageError(
            text("'{word}' is not a size.", word=words),
            text("A budget is a size above 0, such as 24GiB."),
        )
    return size
