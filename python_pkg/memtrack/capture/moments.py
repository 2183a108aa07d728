"""When something happened: nanoseconds since the recording began, and the cut between events."""

from __future__ import annotations

import time

from memtrack.recording.builder import TableBuilder


class Moments:
    """The clock of one recording."""

    def __init__(self, events: TableBuilder) -> None:
        self.base_ns = time.perf_counter_ns()
        """The recording's beginning on the clock of `time.perf_counter_ns`."""
        self._times = events.columns["time_ns"].values

    def now_ns(self) -> int:
        """Return nanoseconds since the recording began."""
        return time.perf_counter_ns() - self.base_ns

    def cut(self) -> int:
        """Return the cut at this moment: how many events there have been."""
        return len(self._times)
