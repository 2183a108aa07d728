"""Runs of the user's program that nobody asked to see: what it prints and warns of was told the first time."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from threading import get_ident
from typing import Any


class _OfOthers:
    """A stream that takes what other threads write, and drops what this one does."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._thread = get_ident()

    def write(self, written: str) -> int:
        """Write what another thread writes; return the number of characters."""
        if get_ident() != self._thread:
            self._stream.write(written)
        return len(written)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Drop what this thread prints and warns of in the block."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(_OfOthers(sys.stdout)),
        contextlib.redirect_stderr(_OfOthers(sys.stderr)),
    ):
        warnings.simplefilter("ignore")
        yield
