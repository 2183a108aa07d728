"""Reserved memory that grows over the steps while the need for it does not.

That is what requests of ever new sizes do to the caching allocator: no cached block fits, so that
another segment is taken, although as much memory is free as before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.allocator.rules import SMALL_SIZE
from memtrack.analysis.pace import finished_steps
from memtrack.analysis.peak import step_windows
from memtrack.analysis.ranges import largest_in_ranges
from memtrack.analysis.reserved import reserved
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array

WARM_UP_STEPS = 2
"""The first steps are left out: optimizer state, workspaces and tuned algorithms come with them."""
LEAST_STEPS = 3
"""Growth is what happens in at least this many steps."""
PARTS = 20
LEAST_EVENTS = 500
"""Of a part; fewer are hardly a step of any program."""


@dataclass(frozen=True, slots=True)
class Creep:
    """Reserved against needed bytes, a value for each finished step in every column.

    `peak` is the most allocated in a step, `reserved` what was held at its end, `grown` by how much
    that rose above all steps before it, less what the peak rose above theirs (0 in the warm-up).
    `sizes` is how many different sizes of blocks the large pool was asked for, `new_sizes` how many
    of them no step before had asked for.
    """

    peak: Array
    reserved: Array
    grown: Array
    sizes: Array
    new_sizes: Array

    @property
    def steps(self) -> int:
        """In how many steps reserved grew without need."""
        return int((self.grown > 0).sum())

    @property
    def bytes(self) -> int:
        """What these steps added together."""
        return int(self.grown.sum())

    @property
    def first_step(self) -> int:
        """The first of these steps; -1 without one."""
        return int(np.argmax(self.grown > 0)) if self.steps else -1

    @property
    def is_found(self) -> bool:
        """Whether it is a finding: it grew so in at least three steps."""
        return self.steps >= LEAST_STEPS


def creep(data: RecordingData, device: int, levels: Array) -> Creep | None:
    """Return how reserved memory grew over the steps; `levels` are the bytes in use at every cut.

    None where no step finished or no caching allocator was seen.
    """
    finished = finished_steps(data)
    start, end = step_windows(data)
    return _over(data, device, levels, (start[:finished], end[:finished]), WARM_UP_STEPS)


def creep_over_time(data: RecordingData, device: int, levels: Array) -> Creep | None:
    """Return the same over parts of equally many events, for a recording whose steps are not known.

    What is called a step is then one of `PARTS` parts; the first of them is the warm-up. None where
    parts would hold too little to be alike, or no caching allocator was seen.
    """
    edges = np.linspace(0, data.cuts, PARTS + 1).astype(np.int64)
    if data.cuts < PARTS * LEAST_EVENTS:
        edges = edges[:1]
    return _over(data, device, levels, (edges[:-1], edges[1:]), warm_up=1)


def _over(
    data: RecordingData, device: int, levels: Array, windows: tuple[Array, Array], warm_up: int
) -> Creep | None:
    start, end = windows
    held = reserved(data, device, end, levels) if len(end) else None
    if held is None:
        return None
    peak = largest_in_ranges(levels, start, end)
    grown = _rise(held) - _rise(peak)
    grown[:warm_up] = 0
    return Creep(peak, held, np.maximum(grown, 0), *_sizes(data, device, start, end))


def _rise(values: Array) -> Array:
    """Return how much each value exceeds the largest before it; 0 for the first."""
    return np.diff(np.maximum.accumulate(values), prepend=values[:1])


def _sizes(data: RecordingData, device: int, start: Array, end: Array) -> tuple[Array, Array]:
    """Return how many sizes each step asks the large pool for, and how many are new then."""
    table, steps = data.allocations, len(end)
    large = np.flatnonzero((table["device"] == device) & (table["bytes"] > SMALL_SIZE))
    step = np.searchsorted(end, table["start"][large], side="right")
    inside = (table["start"][large] >= start[0]) & (step < steps)
    _, size = np.unique(table["bytes"][large][inside], return_inverse=True)
    pairs = np.unique(size.astype(np.int64) * steps + step[inside])
    first = np.flatnonzero(np.diff(pairs // steps, prepend=-1))
    return (
        np.bincount(pairs % steps, minlength=steps),
        np.bincount(pairs[first] % steps, minlength=steps),
    )
