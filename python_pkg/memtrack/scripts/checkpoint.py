"""A recording saved while its program still runs, so that a rank that is killed leaves one too."""

from __future__ import annotations

import time
from collections.abc import Callable

FIRST_S = 0.0
LEAST_S = 20.0
SHARE = 50
"""Saving may take one part in so many of the program's time."""


class Checkpoint:
    """Calls `save` when a step has ended: after the first, then rarely enough to cost little.

    One that fails (a full disk) is the last: the end of the program tries once more.
    """

    def __init__(self, save: Callable[[], object]) -> None:
        self._save = save
        self._next = FIRST_S

    def step_ended(self) -> None:
        """Save if it is time to. Raises nothing."""
        began = time.monotonic()
        if began < self._next:
            return
        try:
            self._save()
        except Exception:  # noqa: BLE001 - the program must go on
            self._next = float("inf")
            return
        ended = time.monotonic()
        self._next = ended + max(LEAST_S, SHARE * (ended - began))
