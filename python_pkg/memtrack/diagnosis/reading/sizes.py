"""Sizes as error messages print them, to bytes."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal

SIZE = r"(\d+(?:\.\d*|,\d{1,2}(?!\d))?)(bytes?|[kmgtpe]i?b|b(?![a-z]))"
"""A number and its unit in a text without spaces and capitals.

NumPy prints `926. GiB` with nothing behind the point, and C++ a decimal comma where the system has one.
"""
COUNT = r"(\d+)()"
"""A whole number of bytes that is printed without a unit."""

GROUPED = r"(\d[\d,]*)(bytes)"
"""A whole number of bytes with commas between its thousands."""

_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")

UNKNOWN = 1 << 64
"""2^64: what is printed where NVML could not tell, where no limit is set, or for a negative size."""
_NEAR_UNKNOWN = UNKNOWN - (1 << 40)

_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}


def to_bytes(number: str, unit: str) -> int:
    """Return a printed size in bytes, rounded to a whole one.

    Every unit is binary: the messages that print `GB` count 2^30 (notes on MPS, 4.3).

    >>> to_bytes("31.37", "GiB"), to_bytes("1024.00", "KiB"), to_bytes("0", "bytes")
    (33683281019, 1048576, 0)
    >>> to_bytes("1900,00", "MiB") == to_bytes("1900.", "MiB"), to_bytes("1,024", "bytes")
    (True, 1024)
    """
    power = _POWERS.get(unit[:1].lower(), 0)
    plain = number.replace(",", "." if _DECIMAL_COMMA.fullmatch(number) else "")
    exact = Decimal(plain) * (1 << (10 * power))
    return int(exact.to_integral_value(rounding=ROUND_HALF_EVEN))


def is_unknown(size_bytes: int) -> bool:
    """Tell a figure that stands for "not known": 2^64, or a negative size printed without sign."""
    return size_bytes >= _NEAR_UNKNOWN
