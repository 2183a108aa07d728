"""The terminal that the answer goes to."""

from __future__ import annotations

import shutil


def columns() -> int:
    """Return how wide the terminal is, within what we lay out for."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, 60), 120)
