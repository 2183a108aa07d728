"""The processes on a device: whose they are, what they run, whether they were left behind.

Nothing is ended, signalled or changed here; `devices/ending.py` says what may be ended and how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from memtrack.devices import commandlines, sessions
from memtrack.devices.nvml import Driver, GpuProcess
from memtrack.devices.openfiles import holds_device
from memtrack.devices.processes import own_pids
from memtrack.devices.system import (
    RUNNING,
    ZOMBIE,
    age_s_of,
    ancestors_of,
    busy_among,
    left_behind,
    own_user,
    state_of,
    told,
    visible,
)

HIDDEN = "hidden"
SELF, CHILD, OTHER = "self", "child", "other"

PAUSE_S = 0.1
"""How long processors' times are watched to see who works: ten ticks of the clock behind them."""


@dataclass(frozen=True, slots=True)
class DeviceProcess:
    """A process on a device; what the system does not tell stays None, "" or 0.

    `bytes` is all its memory on the device. `state` is `running`, `zombie`, `stopped` or `hidden`:
    not visible from here, as a process of the host is from a container. `command` is the command
    line without secrets, of another user's process only its name; `folder` is where it works. `age_s` is in seconds. `relation`
    is `self`, `child` (of this process) or `other`. `role` is `kernel`, `worker` (of a DataLoader),
    `rank` (of torchrun and the like) or "". `launcher` is the pid of what started a rank. `left` is
    `orphan` (its parent has ended and it does nothing), `idle` (for long) or "". `is_busy` is None
    where it was not watched.
    """

    pid: int
    bytes: int | None
    state: str
    relation: str = OTHER
    command: str = ""
    folder: str = ""
    user: str = ""
    is_own_users: bool = False
    age_s: float | None = None
    parent: int | None = None
    role: str = ""
    kernel: str = ""
    notebook: str = ""
    server_url: str = ""
    rank: str = ""
    launcher: int | None = None
    is_busy: bool | None = None
    left: str = ""


def processes_on(
    driver: Driver, uuid: str, bus_id: str = "", *, pause_s: float = PAUSE_S, system: Any = psutil
) -> Sequence[DeviceProcess]:
    """Return the processes on a device, the largest first, unknown sizes last.

    `pause_s` is how long they are watched, in seconds; with 0 nobody is called busy, idle or left
    behind. Raises DriverError where the driver lists none.
    """
    listed = driver.processes(driver.device(uuid, bus_id))
    return describe(listed, pause_s=pause_s, system=system)


def describe(
    listed: Sequence[GpuProcess],
    *,
    pause_s: float = PAUSE_S,
    system: Any = psutil,
    uses_device: Callable[[int], bool | None] = holds_device,
    own: Set[int] | None = None,
) -> Sequence[DeviceProcess]:
    """Return what this system knows of processes that a driver has listed.

    A number that belongs here to a process without the device open is another's, outside of this
    container, and `hidden`.
    """
    ours = own_pids() if own is None else own
    found: dict[int, Any] = {}
    for one in listed:
        process = visible(system, one.pid)
        if process is not None and (one.pid in ours or _is_it(process, uses_device)):
            found[one.pid] = process
    busy = busy_among(found, pause_s)
    described = [_described(one, found.get(one.pid), busy, ours, system) for one in listed]
    return sorted(described, key=lambda one: (-(-1 if one.bytes is None else one.bytes), one.pid))


def _described(
    listed: GpuProcess, process: Any, busy: Mapping[int, bool], ours: Set[int], system: Any
) -> DeviceProcess:
    size = listed.bytes if listed.bytes >= 0 else None
    is_self = listed.pid in ours
    if process is None:
        # Inside a container the driver may know us by our number outside.
        return DeviceProcess(listed.pid, size, RUNNING if is_self else HIDDEN, _relation(is_self))
    arguments: list[str] = told(process.cmdline, [])
    user: str = told(process.username, "")
    is_own = is_self or (user != "" and user == own_user(system))
    age_s = age_s_of(process)
    ancestors = ancestors_of(process)
    is_child = any(one.pid in ours for one in ancestors)
    parent = ancestors[0] if ancestors else None
    environment: Mapping[str, str] = told(process.environ, {}) if is_own else {}
    kernel = commandlines.kernel_id(arguments)
    launcher = _launcher(ancestors)
    server = _server(arguments, environment, ancestors)
    rank = environment.get("RANK", environment.get("LOCAL_RANK", ""))
    is_busy = busy.get(listed.pid)
    return DeviceProcess(
        pid=listed.pid,
        bytes=size,
        state=state_of(process),
        relation=_relation(is_self, is_child),
        command=commandlines.shown(arguments) if is_own and arguments else told(process.name, ""),
        folder=told(process.cwd, "") if is_own else "",
        user=user,
        is_own_users=is_own,
        age_s=age_s,
        parent=None if parent is None else parent.pid,
        role=_role(arguments, kernel, parent, launcher, rank),
        kernel=kernel,
        notebook=sessions.notebook_of(environment) if kernel else "",
        server_url=server.url if kernel and server is not None else "",
        rank=rank,
        launcher=None if launcher is None else launcher.pid,
        is_busy=is_busy,
        left="" if is_self or is_child else left_behind(process, parent, is_busy, age_s),
    )


def _is_it(process: Any, uses_device: Callable[[int], bool | None]) -> bool:
    """Tell whether a process can be the one meant: a zombie has nothing open any more."""
    return state_of(process) == ZOMBIE or uses_device(process.pid) is not False


def _relation(is_self: bool, is_child: bool = False) -> str:
    if is_self:
        return SELF
    return CHILD if is_child else OTHER


def _launcher(ancestors: Sequence[Any]) -> Any:
    for one in ancestors:
        if commandlines.is_launcher(told(one.cmdline, [])):
            return one
    return None


def _role(arguments: Sequence[str], kernel: str, parent: Any, launcher: Any, rank: str) -> str:
    if commandlines.is_spawned(arguments):
        return commandlines.WORKER
    # A forked process keeps the command line of its parent.
    if arguments and parent is not None and list(arguments) == told(parent.cmdline, []):
        return commandlines.WORKER
    if kernel:
        return commandlines.KERNEL
    return commandlines.RANK if launcher is not None or rank else ""


def _server(
    arguments: Sequence[str], environment: Mapping[str, str], ancestors: Sequence[Any]
) -> sessions.Server | None:
    """Return the living server that has started a kernel, if it has left its file."""
    file = commandlines.connection_file(arguments)
    if file is None:
        return None
    alive = {one.pid for one in ancestors}
    servers = sessions.servers_in(Path(file).parent)
    for pid in (sessions.server_pid(environment), *alive):
        if pid in servers and pid in alive:
            return servers[pid]
    return None
