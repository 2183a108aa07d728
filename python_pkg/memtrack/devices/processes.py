"""Which of a device's processes is this one, and what may be believed of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from memtrack.devices.nvml import UNKNOWN, GpuProcess

_STATUS = Path("/proc/self/status")


def own_pids(status: Path = _STATUS) -> frozenset[int]:
    """Return the numbers this process goes by: its pid and, on Linux, those of outer namespaces.

    Inside a container only the inner ones are told (`NSpid` of proc(5)).
    """
    pids = {os.getpid()}
    with contextlib.suppress(OSError, ValueError):
        pids.update(named_in(status))
    return frozenset(pids)


def named_in(status: Path) -> Iterator[int]:
    """Give the numbers of `NSpid` in a status file of proc(5)."""
    for line in status.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("NSpid:"):
            yield from map(int, line.split()[1:])


def own_bytes(
    processes: Sequence[GpuProcess], pids: Set[int], at_least: int = 0, at_most: int = UNKNOWN
) -> int:
    """Return what this process holds on a device, UNKNOWN where the driver tells nothing credible.

    Not credible are less than what its allocator holds (`at_least`) and more than is in use there
    (`at_most`, UNKNOWN for no such bound): drivers tell a container 0, or of another's process that
    has the same number outside. Two that remain are as good as none.
    """
    credible = [
        process.bytes
        for process in processes
        if process.pid in pids
        and process.bytes > 0
        and process.bytes >= at_least
        and (at_most < 0 or process.bytes <= at_most)
    ]
    return credible[0] if len(credible) == 1 else UNKNOWN


def other_processes(processes: Sequence[GpuProcess], pids: Set[int]) -> Sequence[GpuProcess]:
    """Return the processes that are not this one, the largest first, unknown sizes last."""
    others = [process for process in processes if process.pid not in pids]
    return sorted(others, key=lambda process: (-process.bytes, process.pid))
