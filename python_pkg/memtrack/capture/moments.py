"""When something happened: nanoseconds since the recording began, and the cut between events."""

from __future__ import annotations

import time
from collections.abc import Callable

from memtrack.recording.builder import TableBuilder


class Moments:
    """The clock of one recording."""

    def __init__(self, events: TableBuilder) -> None:
        self.base_ns = time.perf_counter_ns()
        """The recording's beginning on the clock of `time.perf_counter_ns`."""
        self._events = events
        self.before_cut: Callable[[], None] = lambda: None
        """Called ahead of each reading of the cut, to write down what has happened until then."""

    def now_ns(self) -> int:
        """Return nanoseconds since the recording began."""
        return time.perf_counter_ns() - self.base_ns

    def cut(self) -> int:
        """Return the cut at this moment: how many events there have been."""
        self.before_cut()
        return len(self._events)
