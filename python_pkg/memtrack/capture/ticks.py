"""What a running recording tells at most a few times a second: small, and cheap to make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memtrack.capture.moments import Moments

INTERVAL_NS = 250_000_000
MAX_BUCKETS = 200


@dataclass(frozen=True, slots=True)
class Tick:
    """The state of a recording at one moment. Bytes; nanoseconds since it began.

    `time_ns` and `allocated_series` trace memory so far in at most 400 points that keep the least
    and the most of each bucket, so no peak is lost.
    """

    step: int
    phase: str
    allocated: int
    peak: int
    reserved: int | None
    elapsed_ns: int
    time_ns: list[int]
    allocated_series: list[int]


class Meter:
    """Follows allocated bytes event by event in constant memory."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self.allocated = 0
        self.peak = 0
        self._highest: int | None = None
        self._times: list[int] = []
        self._lows: list[int] = []
        self._highs: list[int] = []
        self._per_bucket = 1
        self._in_bucket = 0
        self._due_ns = INTERVAL_NS
        self.on_due: Callable[[], None] = lambda: None
        """Called when `INTERVAL_NS` have passed since the last time, from within an event."""

    def change(self, amount: int) -> None:
        """Take in one event that changed allocated memory by `amount` bytes."""
        self._take(self.allocated + amount)

    def observe(self, allocated: int, highest: int) -> None:
        """Take in what the allocator says, from time to time: bytes now, and the peak it counts.

        A peak of its own that has risen since the last time was reached in between.
        """
        if self._highest is not None and highest > self._highest:
            self._take(highest)
        self._highest = highest
        self._take(allocated)

    def _take(self, allocated: int) -> None:
        self.allocated = allocated
        if allocated > self.peak:
            self.peak = allocated
        now = self._moments.now_ns()
        if self._in_bucket == 0:
            self._times.append(now)
            self._lows.append(allocated)
            self._highs.append(allocated)
        elif allocated > self._highs[-1]:
            self._highs[-1] = allocated
        elif allocated < self._lows[-1]:
            self._lows[-1] = allocated
        self._in_bucket = (self._in_bucket + 1) % self._per_bucket
        if len(self._times) > MAX_BUCKETS and self._in_bucket == 0:
            self._halve()
        if now >= self._due_ns:
            self._due_ns = now + INTERVAL_NS
            self.on_due()

    def tick(self, step: int, phase: str, reserved: int | None = None) -> Tick:
        """Return the state at this moment."""
        times = [time for time in self._times for _ in range(2)]
        values = [value for pair in zip(self._lows, self._highs, strict=True) for value in pair]
        return Tick(
            step, phase, self.allocated, self.peak, reserved, self._moments.now_ns(), times, values
        )

    def _halve(self) -> None:
        """Merge neighbouring buckets: half as many, each of twice the events."""
        if len(self._times) % 2:
            self._times.append(self._times[-1])
            self._lows.append(self._lows[-1])
            self._highs.append(self._highs[-1])
        self._times = self._times[::2]
        self._lows = [min(pair) for pair in zip(self._lows[::2], self._lows[1::2], strict=True)]
        self._highs = [max(pair) for pair in zip(self._highs[::2], self._highs[1::2], strict=True)]
        self._per_bucket *= 2
