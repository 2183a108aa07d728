"""The allocator's own statistics, kept as numbers at the moments people ask about.

In: a moment of the run. Out: the tables `readings` and `statistics`. Only torch's dictionary is
kept at the moment itself, 18 µs on an H200; it is flattened when the tables are wanted.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from memtrack.capture.moments import Moments
from memtrack.capture.statistics import Statistics, flat, read_statistics
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import ReadingKind
from memtrack.recording.tables import Array

MOST_MOMENTS = 512
"""About 85 figures each: 1 MB of columns a device, however long the run."""
_MOST_RAW = MOST_MOMENTS
"""Dictionaries of torch kept before they are flattened: about 15 kB each, 60 µs to flatten."""
_NO_FIGURES = np.empty((0, 2), dtype=np.int64)
_THINNED = (ReadingKind.PHASE, ReadingKind.STEP)


@dataclass(slots=True)
class _Moment:
    """One `take`. `step` and `phase` count the readings asked for, to thin them out evenly."""

    cut: int
    time_ns: int
    kind: ReadingKind
    label: int
    step: int
    phase: int
    raw: list[tuple[int, Statistics]]
    flat: list[tuple[int, Array]] = field(default_factory=list)
    """(row of the device, [string, value] of each figure)."""


class Readings:
    """Keeps at most `most` moments: the start, the end, marks, and steps and phases in between.

    When full, every second step is let go with its phases, and from then on every second step is
    not read at all; each time it is full again the distance doubles. A step that fills it alone
    loses every second phase instead. Marks are kept, the first `most // 2` of them.
    """

    def __init__(
        self,
        builder: RecordingBuilder,
        moments: Moments,
        read: Callable[[torch.device], Statistics] = read_statistics,
        most: int = MOST_MOMENTS,
    ) -> None:
        self._builder = builder
        self._moments = moments
        self._read = read
        self._most = most
        self._kept: list[_Moment] = []
        self._silent: set[torch.device] = set()
        self._step = self._phase = self._marks = self._raw = 0
        self._step_stride = self._phase_stride = 1
        self._changes = self._written = 0

    def take(
        self, device_rows: dict[torch.device, int], kind: ReadingKind, label: int = -1
    ) -> None:
        """Read every device now. `label` is the string of a mark. Never raises into the run."""
        if kind in _THINNED:
            step, phase = self._count(kind)
            wanted = self._is_wanted(kind, step, phase)
        else:
            step, phase = self._step, self._phase
            wanted = kind is not ReadingKind.MARK or self._may_mark()
        if not wanted:
            return
        raw = [
            (row, statistics)
            for device, row in list(device_rows.items())
            if (statistics := self._ask(device))
        ]
        if raw:
            cut, now = self._moments.cut(), self._moments.now_ns()
            self._keep(_Moment(cut, now, kind, label, step, phase, raw))

    def flush(self) -> None:
        """Write the tables `readings` and `statistics` anew; may be called at any time, repeatedly."""
        changes = self._changes
        if self._written == changes:
            return
        self._flatten()
        given = [(moment, row, figures) for moment in self._kept for row, figures in moment.flat]
        readings = [
            (moment.cut, moment.time_ns, row, int(moment.kind), moment.label)
            for moment, row, _ in given
        ]
        sizes = [len(figures) for _, _, figures in given]
        rows = np.repeat(np.arange(len(given), dtype=np.int64), sizes)
        figures = np.concatenate([_NO_FIGURES, *(figures for _, _, figures in given)])
        statistics = np.column_stack((rows, figures))
        # Each in one operation, so that an interrupt leaves both whole; the next flush mends them.
        self._builder["readings"].values[:] = array("q", itertools.chain.from_iterable(readings))
        self._builder["statistics"].values[:] = array("q", statistics.astype("<i8").tobytes())
        self._written = changes

    def _count(self, kind: ReadingKind) -> tuple[int, int]:
        """Return the step and the place in it of a reading asked for now, and go on counting."""
        step, phase = self._step, self._phase
        if kind is ReadingKind.STEP:
            self._step, self._phase = step + 1, 0
        else:
            self._phase = phase + 1
        return step, phase

    def _is_wanted(self, kind: ReadingKind, step: int, phase: int) -> bool:
        if kind not in _THINNED:
            return True
        in_pace = kind is ReadingKind.STEP or phase % self._phase_stride == 0
        return step % self._step_stride == 0 and in_pace

    def _may_mark(self) -> bool:
        self._marks += 1
        return self._marks <= self._most // 2

    def _ask(self, device: torch.device) -> Statistics:
        """Return a device's statistics, {} where it has none; one that failed is not asked again."""
        if device in self._silent:
            return {}
        try:
            return self._read(device)
        except Exception:  # noqa: BLE001 - pluggable allocators raise what they like
            self._silent.add(device)
            return {}

    def _keep(self, moment: _Moment) -> None:
        self._kept.append(moment)
        self._changes += 1
        self._raw += len(moment.raw)
        if self._raw > _MOST_RAW:
            self._flatten()
        if len(self._kept) > self._most:
            self._thin()

    def _thin(self) -> None:
        """Let go of every second step, or of every second phase where that frees too little."""
        before = self._step_stride
        self._step_stride *= 2
        left = self._wanted()
        if len(left) > self._most * 3 // 4:
            self._step_stride = before
            self._phase_stride *= 2
            left = self._wanted()
        self._kept = left

    def _wanted(self) -> list[_Moment]:
        return [one for one in self._kept if self._is_wanted(one.kind, one.step, one.phase)]

    def _flatten(self) -> None:
        """Turn what torch gave to numbers, names to strings."""
        add = self._builder.strings.add
        for moment in self._kept:
            if moment.raw:
                moment.flat = [(row, _figures(statistics, add)) for row, statistics in moment.raw]
                moment.raw = []
        self._raw = 0


def _figures(statistics: Statistics, string: Callable[[str], int]) -> Array:
    found = flat(statistics)
    pairs = np.empty((len(found), 2), dtype=np.int64)
    pairs[:, 0] = list(map(string, found))
    pairs[:, 1] = list(found.values())
    return pairs
