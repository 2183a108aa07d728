"""Pieces of pickles of protocol 4 (PEP 3154): opcodes, references, and new pickles of old ones."""

from __future__ import annotations

from collections.abc import Iterable

FRAME, STOP, MEMOIZE = 0x95, ord("."), 0x94
HEADER = 9
"""Bytes of a FRAME: its opcode and how long it is."""
GET, LONG_GET = ord("h"), ord("j")
INT1, INT2, INT4, LONG1, TEXT, PAIR = ord("K"), ord("M"), ord("J"), 0x8A, 0x8C, 0x86
SIZES = {GET: 2, LONG_GET: 5, INT1: 2, INT2: 3, INT4: 5, ord("N"): 1}
"""Bytes of values that are of one size: references, small numbers and None."""


def place(reference: bytes) -> int:
    """Return what place a reference refers to."""
    return int.from_bytes(reference[1:], "little")


def table_of(places: Iterable[int]) -> bytes:
    """Return opcodes that push a list of what was stored at some places."""
    gets = b"".join(b"j" + place.to_bytes(4, "little") for place in places)
    return b"](" + gets + b"e"


def without(pickled: bytes, spans: Iterable[tuple[int, int, bytes]], until: int) -> bytes:
    """Return a pickle up to some place, each span (start, end, new) replaced; they are in order."""
    view, at = memoryview(pickled), 0
    parts: list[bytes | memoryview] = []
    for start, end, new in spans:
        parts += [view[at:start], new]
        at = end
    return b"".join([*parts, view[at:until]])
