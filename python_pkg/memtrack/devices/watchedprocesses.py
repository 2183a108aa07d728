"""The processes on all devices from look to look: what does not change is asked once in a while.

Asking the system all there is to know of a process takes a millisecond; a look at 64 of them each
second must not. Their memory is of each look, their state a few seconds old at most.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import psutil

from memtrack.devices.leftovers import HIDDEN, DeviceProcess, describe
from memtrack.devices.namespaces import local_pids, numbers_of
from memtrack.devices.nvml import UNKNOWN, GpuProcess
from memtrack.devices.openfiles import computing, holds_device
from memtrack.devices.system import ZOMBIE, ancestors_of, state_of, told, visible

KEEP_S = 60.0
"""How long what is known of a process holds."""
STATE_S = 5.0
"""How long its state holds, and that its number has not passed to another."""
GONE = "gone"


@dataclass(slots=True)
class WatchedProcess:
    """A process the driver lists. `pid` is its number here, or the driver's where it is hidden.

    `lineage` are its own number and those of its ancestors, nearest first; `started` is in seconds
    since 1970. `state` is `running`, `stopped`, `zombie`, `hidden` (not visible from here) or `gone`
    (it has ended, and the driver lists it still).
    """

    listed: int
    pid: int
    known: DeviceProcess
    state: str
    started: float | None = None
    lineage: tuple[int, ...] = ()
    process: Any = None
    keep_until: float = 0.0
    state_until: float = 0.0


class WatchedProcesses:
    """Knows the processes that a driver lists. `system` stands for psutil, `holds` for open files."""

    def __init__(
        self,
        system: Any = psutil,
        holds: Callable[[int], bool | None] = holds_device,
        computing_here: Callable[[], Set[int]] = computing,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._system = system
        self._holds = holds
        self._computing = computing_here
        self._clock = clock
        self._known: dict[int, WatchedProcess] = {}

    def look(self, listed: Iterable[int]) -> Mapping[int, WatchedProcess]:
        """Return what is known of each process, by the driver's number; forget all others."""
        now = self._clock()
        wanted = list(dict.fromkeys(listed))
        for pid in wanted:
            one = self._known.get(pid)
            if one is not None and now >= one.state_until:
                self._refresh(one, now)
        new = [pid for pid in wanted if self._is_due(pid, now)]
        if new:
            here = local_pids(wanted, self._is_meant, self._computing, numbers_of)
            for pid in new:
                self._known[pid] = self._described(pid, here.get(pid), now)
        self._known = {pid: self._known[pid] for pid in wanted}
        return self._known

    def _is_due(self, pid: int, now: float) -> bool:
        one = self._known.get(pid)
        return one is None or now >= one.keep_until

    def _refresh(self, one: WatchedProcess, now: float) -> None:
        one.state_until = now + STATE_S
        if one.process is None:
            return
        if not told(one.process.is_running, False):
            # The driver still lists it; a process of the same number would be another one.
            one.state, one.keep_until = GONE, now
            return
        one.state = state_of(one.process)

    def _is_meant(self, pid: int) -> bool:
        process = visible(self._system, pid)
        if process is None:
            return False
        return state_of(process) == ZOMBIE or self._holds(pid) is not False

    def _described(self, listed: int, here: int | None, now: float) -> WatchedProcess:
        before = self._known.get(listed)
        # Those that came together are spread over the time to the next look at all of them.
        keep_until = now + KEEP_S * (0.5 + (listed % 16) / 32)
        if here is None:
            state = GONE if before is not None and before.state == GONE else HIDDEN
            hidden = DeviceProcess(listed, None, HIDDEN)
            return WatchedProcess(
                listed, listed, hidden, state, keep_until=keep_until, state_until=keep_until
            )
        process = visible(self._system, here)
        known = describe(
            [GpuProcess(here, UNKNOWN)],
            pause_s=0,
            system=self._system,
            uses_device=lambda _: True,
        )[0]
        above = () if process is None else tuple(one.pid for one in ancestors_of(process))
        return WatchedProcess(
            listed=listed,
            pid=here,
            known=known,
            state=known.state,
            started=None if process is None else told(process.create_time, None),
            lineage=(here, *above),
            process=process,
            keep_until=keep_until,
            state_until=now + STATE_S,
        )


def full_command(process: Any) -> list[str]:
    """Return the command line of a process, also of another user's where the system tells it."""
    return [] if process is None else list(told(process.cmdline, []))
