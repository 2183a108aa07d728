"""What the allocator and the system report at phase boundaries."""

from __future__ import annotations

import psutil
import torch

from memtrack.capture.moments import Moments
from memtrack.recording.builder import TableBuilder

UNKNOWN = -1
MIN_INTERVAL_NS = 50_000_000
"""Between two readings: one costs about 100 µs, so at most 0.2 % of the time."""


class Samples:
    """Writes the sample table and the sizes of devices."""

    def __init__(self, table: TableBuilder, devices: TableBuilder, moments: Moments) -> None:
        self._table = table
        self._devices = devices
        self._moments = moments
        self._process = psutil.Process()
        self._last_ns = -MIN_INTERVAL_NS

    def take(self, rows: dict[torch.device, int], force: bool = False) -> None:
        """Read every watched device, unless the last reading is too recent."""
        now = self._moments.now_ns()
        if not force and now - self._last_ns < MIN_INTERVAL_NS:
            return
        self._last_ns = now
        for device, row in rows.items():
            reserved, process, used, total = self._read(device)
            self._devices.set(row, total=total)
            self._table.add(
                cut=self._moments.cut(),
                time_ns=now,
                device=row,
                reserved=reserved,
                process=process,
                used=used,
            )

    def _read(self, device: torch.device) -> tuple[int, int, int, int]:
        """Return (reserved, process, used, total) in bytes, -1 where unknown."""
        if device.type == "cpu":
            memory = psutil.virtual_memory()
            used = memory.total - memory.available
            return UNKNOWN, self._process.memory_info().rss, used, memory.total
        if device.type == "cuda" and torch.cuda.is_initialized():
            reserved = torch.cuda.memory_reserved(device)
            free, total = torch.cuda.mem_get_info(device)
            return reserved, UNKNOWN, total - free, total
        return UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
