"""Devices and their processes as the browser gets them: plain JSON, `memtrack.gpus/1`.

In: a look at the devices, what the system knows of the processes, the kernels of the server. Numbers
are integers in bytes; what is not told is null. Sentences come in every language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memtrack.devices import commandlines
from memtrack.devices.driverstatus import DriverStatus, driver_status
from memtrack.devices.ending import may_end
from memtrack.devices.environment import Environment
from memtrack.devices.leftovers import DeviceProcess
from memtrack.devices.nvml import GpuProcess
from memtrack.devices.readings import DeviceReading, Readings
from memtrack.devices.watchedprocesses import GONE, WatchedProcess, full_command
from memtrack.i18n import Text, in_every_language

SCHEMA = "memtrack.gpus/1"
LONGEST_COMMAND = 400
"""Characters of a command line that are sent."""


@dataclass(frozen=True, slots=True)
class KernelFact:
    """A kernel of this server as its sessions tell it; `last_activity` in ISO 8601, "" if none is."""

    id: str
    path: str = ""
    name: str = ""
    type: str = ""
    state: str = ""
    last_activity: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a look is told against: kernels by the number of their process, and who may see what.

    `are_remote`: the kernels run on another computer, and these devices are not theirs.
    `shows_others`: the command lines of other users' processes are sent as well.
    """

    kernels: Mapping[int, KernelFact]
    environment: Environment
    are_remote: bool = False
    shows_others: bool = False


def gpu_state(
    look: Readings,
    processes: Mapping[int, WatchedProcess],
    around: Surroundings,
    *,
    time_s: float,
    sequence: int,
    interval_ms: int,
) -> dict[str, Any]:
    """Return the state; `processes` are by the driver's number, `time_s` is since 1970."""
    return {
        "schema": SCHEMA,
        "time": round(time_s, 3),
        "sequence": sequence,
        "interval_ms": interval_ms,
        "kernels": "remote" if around.are_remote else "local",
        "status": status_payload(driver_status(look.refusal, around.environment, look.detail)),
        "devices": [_device(one, processes, around) for one in look.devices],
    }


def status_payload(status: DriverStatus) -> dict[str, Any]:
    """Return a status with its sentences in every language."""
    return {
        "id": status.id,
        "message": _languages(status.message),
        "advice": _languages(status.advice),
        "detail": status.detail,
    }


def _device(
    one: DeviceReading, processes: Mapping[int, WatchedProcess], around: Surroundings
) -> dict[str, Any]:
    refused = driver_status(one.refusal, around.environment) if one.refusal else None
    return {
        "uuid": one.uuid,
        "index": one.index,
        "name": one.name,
        "kind": one.kind,
        "total": one.total,
        "used": one.used,
        "free": one.free,
        "reserved": one.reserved,
        "utilisation": one.utilisation,
        "bandwidth": one.bandwidth,
        "temperature_c": one.temperature_c,
        "power_w": one.power_w,
        "power_limit_w": one.power_limit_w,
        "flags": list(one.flags),
        "parent": one.parent,
        "status": None if refused is None else status_payload(refused),
        "lists_processes": one.processes is not None,
        "processes": [
            _process(listed, processes[listed.pid], around)
            for listed in sorted(
                one.processes or (), key=lambda listed: (-listed.bytes, listed.pid)
            )
            if listed.pid in processes
        ],
    }


def _process(listed: GpuProcess, one: WatchedProcess, around: Surroundings) -> dict[str, Any]:
    kernel = kernel_of(one, around.kernels)
    command, why = _ending(one.known) if kernel is None and one.state != GONE else (None, None)
    return {
        "pid": one.pid,
        "bytes": listed.bytes if listed.bytes >= 0 else None,
        "command": _command(one, around.shows_others),
        "user": one.known.user or None,
        "started": one.started,
        "state": one.state,
        "mine": one.known.is_own_users,
        "kernel": None if kernel is None else _kernel(kernel),
        "end_command": command,
        "end_why": why,
        "role": one.known.role or None,
        "notebook": one.known.notebook or None,
    }


def kernel_of(one: WatchedProcess, kernels: Mapping[int, KernelFact]) -> KernelFact | None:
    """Return the kernel that a process is, or was started by."""
    return next((kernels[pid] for pid in one.lineage if pid in kernels), None)


def _kernel(kernel: KernelFact) -> dict[str, Any]:
    return {
        "id": kernel.id,
        "path": kernel.path,
        "name": kernel.name,
        "type": kernel.type,
        "state": kernel.state,
        "last_activity": kernel.last_activity,
    }


@lru_cache(maxsize=1024)
def _ending(known: DeviceProcess) -> tuple[str | None, dict[str, str]]:
    """Return the command that ends a process and why it may be: the same from look to look."""
    ending = may_end(known)
    return ending.command or None, _languages(ending.why)


def _command(one: WatchedProcess, shows_others: bool) -> str | None:
    command = one.known.command
    if shows_others and not one.known.is_own_users:
        command = commandlines.shown(full_command(one.process)) or command
    return command[:LONGEST_COMMAND] or None


def _languages(sentence: Text) -> dict[str, str]:
    values = tuple(sorted((name, str(value)) for name, value in sentence.values.items()))
    if any(isinstance(value, Text) for value in sentence.values.values()):
        return in_every_language(sentence)
    return _rendered(sentence.template, values)


@lru_cache(maxsize=4096)
def _rendered(template: str, values: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return a sentence in every language: the same few are sent again each second."""
    return in_every_language(Text(template, dict(values)))
