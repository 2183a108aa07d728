"""What the allocator, the driver and the system report at phase boundaries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from memtrack.capture import backends
from memtrack.capture.backends import UNKNOWN, Figures
from memtrack.capture.moments import Moments
from memtrack.capture.ownmemory import OwnMemory
from memtrack.devices import Driver
from memtrack.recording.builder import TableBuilder
from memtrack.recording.tables import Array

MIN_INTERVAL_NS = 50_000_000
"""Between two readings: one costs about 100 µs, so at most 0.2 % of the time."""
MIN_LIST_INTERVAL_NS = 500_000_000
"""Between two lists of processes: one costs about 70 µs a device."""
REACH = 1_000
"""Events by which two clocks may place a sample wrongly."""


class Samples:
    """Writes the sample table, the sizes of devices and what is not tensors in this process.

    `notices` are the ids of what could not be known, each once. What a device no longer tells stays
    unknown from then on. `driver` is NVIDIA's unless another is given.
    """

    def __init__(
        self,
        table: TableBuilder,
        devices: TableBuilder,
        moments: Moments,
        driver: Driver | None = None,
    ) -> None:
        self._table = table
        self._devices = devices
        self._moments = moments
        self.notices: set[str] = set()
        self._own = OwnMemory(self.notices, driver)
        self._lost: set[int] = set()
        self._told: set[int] = set()
        self._last_ns = -MIN_INTERVAL_NS
        self._listed_ns = -MIN_LIST_INTERVAL_NS

    def take(self, rows: dict[torch.device, int], force: bool = False) -> None:
        """Read every watched device, unless the last reading is too recent."""
        now = self._moments.now_ns()
        if not force and now - self._last_ns < MIN_INTERVAL_NS:
            return
        if backends.is_capturing():
            return
        self._last_ns = now
        lists = force or now - self._listed_ns >= MIN_LIST_INTERVAL_NS
        if lists:
            self._listed_ns = now
        for device, row in rows.items():
            self._write(row, device, lists)

    def _write(self, row: int, device: torch.device, lists: bool) -> None:
        cut, time_ns = self._moments.cut(), self._moments.now_ns()
        read = self._read(row, device)
        process = read.process
        if lists and device.type == "cuda" and read.used >= 0:
            process = self._process(device, read)
        if read.total >= 0:
            self._devices.set(row, total=read.total)
        if device.type == "cuda" and process >= 0 and read.reserved >= 0:
            self._devices.set(row, context=process - read.reserved)
        self._table.add(
            cut=cut,
            time_ns=time_ns,
            device=row,
            reserved=read.reserved,
            process=process,
            used=read.used,
        )

    def _read(self, row: int, device: torch.device) -> Figures:
        """Return what a device tells; once it has fallen silent, nothing of the driver's."""
        if row in self._lost:
            return Figures()
        read = backends.figures(device)
        if read.used >= 0:
            self._told.add(row)
        elif row in self._told:
            self._lost.add(row)
            self.notices.add("device_lost")
            return Figures()
        return read

    def _process(self, device: torch.device, read: Figures) -> int:
        if backends.describe(device.type).kind == "rocm":
            return UNKNOWN
        return self._own.read(device, max(read.reserved, 0), read.used)


def settled_cuts(samples: Mapping[str, Array], segments: Mapping[str, Array], events: int) -> Array:
    """Return the cuts of samples moved to where the allocator's history says what they read.

    `samples` and `segments` are columns of those tables, of `events` events; the samples' cuts were
    found by time, on another clock than the history's.
    """
    cuts: Array = samples["cut"].copy()
    for device in np.unique(segments["device"]):
        held = segments["device"] == device
        change = np.zeros(events + 2, dtype=np.int64)
        np.add.at(change, segments["start"][held] + 1, segments["bytes"][held])
        np.subtract.at(change, segments["end"][held] + 1, segments["bytes"][held])
        mine = samples["device"] == device
        levels = np.cumsum(change[:-1])
        cuts[mine] = agreeing_cuts(cuts[mine], samples["reserved"][mine], levels)
    return cuts


def agreeing_cuts(cuts: Array, reserved: Array, levels: Array, reach: int = REACH) -> Array:
    """Return the cuts of one device's samples moved to the nearest at which they agree.

    `reserved` is what each sample read (UNKNOWN: it stays), `levels` what was reserved at every cut.
    A sample that agrees with no cut within `reach` events stays.
    """
    moved: Array = cuts.copy()
    for row in np.flatnonzero((reserved >= 0) & (levels[cuts] != reserved)):
        cut = int(cuts[row])
        first = max(cut - reach, 0)
        agree = first + np.flatnonzero(levels[first : cut + reach + 1] == reserved[row])
        if len(agree):
            moved[row] = agree[np.argmin(np.abs(agree - cut))]
    return moved
