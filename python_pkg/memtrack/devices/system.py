"""What the operating system tells of a process: asked through psutil, refused without a fuss.

Every function takes psutil's processes, or a stand-in's; what a process does not tell, because it
has ended or belongs to somebody else, is None, "" or empty.
"""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psutil

RUNNING, ZOMBIE, STOPPED = "running", "zombie", "stopped"
ORPHAN, IDLE = "orphan", "idle"

IDLE_AFTER_S = 3600.0
"""A process younger than this is not called idle, whatever it does."""
IDLE_SHARE = 0.01
"""Of one core: below it a process does nothing now, or has done next to nothing in its life."""
_MOST_ANCESTORS = 64
_INITS = frozenset(
    {"systemd", "init", "launchd", "tini", "dumb-init", "docker-init", "podman-init", "catatonit"}
    | {"s6-svscan", "runit", "openrc-init", "pause"}
)
"""First processes that only collect what others leave; any other is a parent like all."""


def visible(system: Any, pid: int) -> Any:
    """Return the process of a number, None where there is none to be seen from here."""
    try:
        return system.Process(pid)
    except (psutil.Error, OSError, ValueError, OverflowError):
        return None


def told(ask: Callable[[], Any], otherwise: Any) -> Any:
    """Return what the system answers; `otherwise` where it refuses or the process has gone."""
    try:
        return ask()
    except (psutil.Error, OSError, KeyError, ValueError, SystemError):
        return otherwise


def own_user(system: Any) -> str:
    """Return the name of this process's user."""
    return str(told(lambda: system.Process().username(), "") or told(getpass.getuser, ""))


def state_of(process: Any) -> str:
    """Return `running`, which is also asleep, `zombie` or `stopped`."""
    status = told(process.status, psutil.STATUS_RUNNING)
    if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return ZOMBIE
    if status in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
        return STOPPED
    return RUNNING


def age_s_of(process: Any) -> float | None:
    """Return the seconds since a process was started."""
    started = told(process.create_time, None)
    return None if started is None else max(0.0, time.time() - started)


def ancestors_of(process: Any) -> Sequence[Any]:
    """Return the parent, its parent and so on, as far as they are alive and visible."""
    found: list[Any] = []
    parent = told(process.parent, None)
    while parent is not None and len(found) < _MOST_ANCESTORS:
        found.append(parent)
        parent = told(parent.parent, None)
    return found


def busy_among(processes: Mapping[int, Any], pause_s: float) -> Mapping[int, bool]:
    """Return, by pid, which processes use a processor within the next `pause_s` seconds."""
    if pause_s <= 0 or not processes:
        return {}
    before = {pid: _processor_s(process) for pid, process in processes.items()}
    time.sleep(pause_s)
    busy: dict[int, bool] = {}
    for pid, process in processes.items():
        first, last = before[pid], _processor_s(process)
        if first is not None and last is not None:
            busy[pid] = last - first > IDLE_SHARE * pause_s
    return busy


def left_behind(process: Any, parent: Any, is_busy: bool | None, age_s: float | None) -> str:
    """Return `orphan` (nothing that started it is left), `idle` (for long), or "" for neither.

    One that works was not left behind, whoever its parent is; nor was one nobody has watched.
    """
    if is_busy is not False:
        return ""
    if parent is None or (parent.pid == 1 and told(parent.name, "") in _INITS):
        return ORPHAN
    spent = _processor_s(process)
    if age_s is None or spent is None or age_s < IDLE_AFTER_S:
        return ""
    return IDLE if spent < IDLE_SHARE * age_s else ""


def _processor_s(process: Any) -> float | None:
    """Return the seconds of processor time that all threads of a process have used."""
    times = told(process.cpu_times, None)
    return None if times is None else float(times.user + times.system)
