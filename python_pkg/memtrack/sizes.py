"""Sizes of memory as people write them, to bytes: the one rule for every door.

Units are binary however they are spelled: a card that is sold as 24GB has 24 GiB, and PyTorch counts
so. Below a mebibyte a unit is needed, since nobody who writes 24 means bytes.
"""

from __future__ import annotations

import re

from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.units import GIB, KIB, MIB, TIB

MOST_BYTES = 1 << 62
UNITS_HELP: Text = text(
    "A SIZE is such as 24GiB. Units are binary, as PyTorch's: 24GB means the same."
)
"""For the help of whatever takes a size."""

_UNITS = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}
_SIZE = re.compile(
    r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?:([kmgt])(?:i?b)?|(b|bytes?))?", re.IGNORECASE
)
_MOST_SHOWN = 60


def is_bare_number(words: str) -> bool:
    """Tell whether somebody wrote a number without a unit, whole or with a point.

    >>> is_bare_number("24"), is_bare_number("1.5"), is_bare_number("24GiB")
    (True, True, False)
    """
    return words.strip().replace(".", "", 1).isdigit()


def parse_size(words: str) -> int:
    """Return the bytes of `24GiB`, `24 GB`, `24g` or `512B`; without a unit bytes, from 1 MiB on.

    >>> parse_size("24GiB"), parse_size("1.5 gb"), parse_size("512B"), parse_size("25769803776")
    (25769803776, 1610612736, 512, 25769803776)
    """
    match = _SIZE.fullmatch(words.strip())
    size = float(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0
    if match is None or not 1 <= size <= MOST_BYTES:
        raise UsageError(
            text("'{word}' is not a size.", word=words[:_MOST_SHOWN]),
            text("A size is above 0 and such as 24GiB."),
        )
    if size < MIB and not match[2] and not match[3]:
        number = words.strip()
        raise UsageError(
            text("The size {number} has no unit.", number=number),
            text("For gibibytes write {number}GiB, for bytes {number}B.", number=number),
        )
    return int(size)
