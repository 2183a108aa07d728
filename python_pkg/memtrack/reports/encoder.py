"""Columns of a payload: references in its JSON, bytes in its buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memtrack.recording.tables import Array


class Encoder:
    """Collects the binary columns of one payload while its JSON is built."""

    def __init__(self) -> None:
        self.buffers: list[bytes] = []

    def column(self, values: Array | Sequence[int]) -> dict[str, Any]:
        """Return the reference of a column, its bytes added to `buffers`."""
        array = np.asarray(values)
        kind = _wire_type(array.dtype)
        self.buffers.append(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes())
        return {"column": len(self.buffers) - 1, "type": kind, "length": len(array)}

    def columns(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the references of several columns; lists of strings become `strings`."""
        return {
            name: self.column(values) if isinstance(values, np.ndarray) else self.strings(values)
            for name, values in columns.items()
        }

    def strings(self, values: Sequence[str]) -> dict[str, Any]:
        """Return strings as a dictionary and codes; "" has code -1."""
        rows: dict[str, int] = {}
        codes = [rows.setdefault(value, len(rows)) if value else -1 for value in values]
        return {"values": list(rows), "codes": self.column(np.array(codes, dtype=np.int32))}


def _wire_type(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "b" or dtype == np.uint8:
        return "u1"
    if dtype.itemsize <= 4 and dtype.kind == "i":
        return "i4"
    if dtype.itemsize <= 4 and dtype.kind == "u":
        return "u4"
    return "f8"
