"""Whether a process has a GPU open: what tells it from another of the same number elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
_DEVICES = ("/dev/nvidia", "/dev/dxg", "/dev/kfd", "/dev/dri/")


def holds_device(pid: int, proc: Path = _PROC) -> bool | None:
    """Tell whether a process has a GPU's device file open; None where the system does not tell.

    Linux tells it of the processes of the same user. In a container the driver may list numbers that
    are those of processes outside of it.
    """
    links: list[str] = []
    try:
        with os.scandir(proc / str(pid) / "fd") as entries:
            for entry in entries:
                try:
                    links.append(os.readlink(entry.path))
                except FileNotFoundError:  # closed since
                    continue
    except OSError:
        return None
    return any(link.startswith(_DEVICES) for link in links)
