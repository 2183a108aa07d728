"""Which devices this process uses, and what allocator and driver say of them now."""

from __future__ import annotations

import torch

from memtrack.capture import backends
from memtrack.capture.backends import Figures
from memtrack.capture.statistics import flat, read_statistics
from memtrack.diagnosis.holdings import UNKNOWN, Level

ALLOCATED = "allocated_bytes.all.current"
REQUESTED = "requested_bytes.all.current"
CPU = torch.device("cpu")


def devices_in_use() -> list[torch.device]:
    """Return the accelerators that this process holds memory on; none is initialised by asking."""
    found = []
    if torch.cuda.is_initialized():
        found += [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
    found += [torch.device(name) for name in ("xpu", "mps") if _is_used(torch.device(name))]
    held = [device for device in found if statistics_of(device).get(ALLOCATED, 0)]
    return held or found[:1]


def statistics_of(device: torch.device) -> dict[str, int]:
    """Return the allocator's figures by name, {} where it tells none."""
    try:
        return flat(read_statistics(device))
    except (RuntimeError, AttributeError, AssertionError):
        return {}


def level_of(device: torch.device) -> Level:
    """Return what is allocated, reserved and free on a device; of the CPU nothing is told."""
    if device.type == "cpu":
        return Level()
    known = statistics_of(device)
    told: Figures = backends.figures(device)
    free = told.total - told.used if told.total >= 0 and told.used >= 0 else UNKNOWN
    return Level(known.get(ALLOCATED, UNKNOWN), told.reserved, free, told.total)


def _is_used(device: torch.device) -> bool:
    return bool(statistics_of(device).get(ALLOCATED, 0))
