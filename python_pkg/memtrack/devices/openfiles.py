"""Whether a process has a GPU open: what tells it from another of the same number elsewhere."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_DEVICES = ("/dev/nvidia", "/dev/dxg", "/dev/kfd", "/dev/dri/")


_COMPUTE = "/dev/nvidia-uvm"
"""Open in whatever has a CUDA context, and not in what only asks the driver."""


def holds_device(pid: int, proc: Path = _PROC) -> bool | None:
    """Tell whether a process has a GPU's device file open; None where the system does not tell.

    Linux tells it of the processes of the same user. In a container the driver may list numbers that
    are those of processes outside of it.
    """
    links = _open_files(proc / str(pid) / "fd")
    return None if links is None else any(link.startswith(_DEVICES) for link in links)


def computing(proc: Path = _PROC) -> frozenset[int]:
    """Return the processes to be seen from here that have a CUDA context, as far as it is told."""
    found = set()
    with suppress(OSError):
        for entry in proc.iterdir():
            if entry.name.isdigit() and _COMPUTE in (_open_files(entry / "fd") or ()):
                found.add(int(entry.name))
    return frozenset(found)


def _open_files(folder: Path) -> list[str] | None:
    links: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    links.append(os.readlink(entry.path))
                except FileNotFoundError:  # closed since
                    continue
    except OSError:
        return None
    return links
