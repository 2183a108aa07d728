"""One look at the devices for all who watch, as often as the most eager one wants, never in between.

Driver and system are asked on a thread of our own, so that a driver that hangs delays nobody: then
those who watch are told so with the last figures. While nobody watches nothing is asked, and after a
while the driver is let go.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

from memtrack.devices.driverstatus import NO_ANSWER
from memtrack.devices.environment import look_around
from memtrack.devices.readings import DeviceSource, Readings
from memtrack.devices.watchedprocesses import WatchedProcesses
from memtrack.server.kernels import ServerKernels
from memtrack.server.state import KernelFact, Surroundings, gpu_state
from memtrack.words import in_utf8

_log = logging.getLogger(__name__)
FASTEST_MS, USUAL_MS, SLOWEST_MS = 250, 1000, 60_000
PATIENCE_S = 10.0
"""How long a driver may think before those who watch are told that it does not answer."""
LINGER_S = 15.0
"""How long the driver is kept after the last one has stopped watching: a reload takes seconds."""


class Watcher(Protocol):
    """Who is sent each state. `offer` must not wait."""

    interval_ms: int

    def offer(self, state: str) -> None:
        """Take a state as JSON, or let it pass."""


class Sampler:
    """Looks at the devices of `source` while anybody watches. For one event loop."""

    def __init__(
        self,
        source: DeviceSource,
        kernels: ServerKernels,
        processes: WatchedProcesses,
        *,
        shows_others: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._kernels = kernels
        self._processes = processes
        self._shows_others = shows_others
        self._clock = clock
        self._here = look_around()
        self._watchers: dict[Watcher, tuple[float, int]] = {}
        """When each was sent a state, and which."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memtrack-devices")
        self._task: asyncio.Task[None] | None = None
        self._pending: asyncio.Future[Readings] | None = None
        self._wake = asyncio.Event()
        self._linger: asyncio.TimerHandle | None = None
        self._last = Readings()
        self._sequence = 0
        self._state = ""
        self._looked_at = float("-inf")
        self._asking: asyncio.Task[str] | None = None
        self._is_failing = False

    @property
    def looks(self) -> int:
        """How many looks there have been."""
        return self._sequence

    @property
    def interval_ms(self) -> int:
        """The time between two looks: the least that anybody wants."""
        wanted = [watcher.interval_ms for watcher in self._watchers]
        return max(FASTEST_MS, min(wanted, default=USUAL_MS))

    def watch(self, watcher: Watcher) -> None:
        """Send states to a watcher from now on, the first at once; again after its interval changed."""
        self._watchers.setdefault(watcher, (float("-inf"), 0))
        self._wake.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def unwatch(self, watcher: Watcher) -> None:
        """Send it no more; harmless for one that does not watch."""
        self._watchers.pop(watcher, None)
        self._wake.set()

    async def state(self) -> str:
        """Return a state as JSON that is no older than the interval, looking if it must."""
        age_s = self._clock() - self._looked_at
        if self._state and age_s * 1000 < self.interval_ms:
            return self._state
        # Who asks while somebody looks gets what that look gives.
        if self._asking is None:
            self._asking = asyncio.get_running_loop().create_task(self._look())
            self._asking.add_done_callback(self._asked)
        return await asyncio.shield(self._asking)

    def close(self) -> None:
        """Look no more and let go of the driver; for the end of the server."""
        self._watchers.clear()
        for task in (self._task, self._asking):
            if task is not None:
                task.cancel()
        if self._linger is not None:
            self._linger.cancel()
        self._thread.submit(self._source.close)
        self._thread.shutdown(wait=False)

    def _asked(self, task: asyncio.Task[str]) -> None:
        self._asking = None
        if not task.cancelled():
            task.exception()  # whoever asked has got it
        if self._task is None:
            self._close_soon()

    async def _run(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        try:
            while self._watchers:
                self._wake.clear()
                await self._look_and_send()
                await self._sleep(self._looked_at + self.interval_ms / 1000 - self._clock())
        finally:
            self._task = None
            self._close_soon()

    async def _look_and_send(self) -> None:
        """Serve all who watch; what fails once must not end what they see."""
        try:
            self._send(await self.state())
            self._is_failing = False
        except Exception:  # noqa: BLE001 - whatever a driver, a manager or a connection raises
            if not self._is_failing:
                _log.warning("memtrack could not look at the GPUs", exc_info=True)
            self._is_failing = True
            self._looked_at = self._clock()

    async def _sleep(self, seconds: float) -> None:
        """Wait until the next look is due, or somebody comes, goes or changes pace."""
        try:
            await asyncio.wait_for(self._wake.wait(), max(0.001, seconds))
        except asyncio.TimeoutError:
            return

    def _send(self, state: str) -> None:
        now = self._clock()
        for watcher, (sent, sequence) in list(self._watchers.items()):
            # A tenth early is on time: the timers of a slower watcher need not be a multiple.
            if sequence != self._sequence and now - sent >= 0.0009 * watcher.interval_ms:
                self._watchers[watcher] = (now, self._sequence)
                watcher.offer(state)

    async def _look(self) -> str:
        began = self._clock()
        kernels = await self._kernels.look()
        loop = asyncio.get_running_loop()
        if self._pending is None:
            self._pending = loop.run_in_executor(self._thread, self._source.read)
        done, _ = await asyncio.wait({self._pending}, timeout=PATIENCE_S)
        if done:
            ended, self._pending = self._pending, None
            self._last = ended.result()
            look, text = self._last, self._told
            self._state = await loop.run_in_executor(self._thread, text, look, kernels)
        else:
            # The thread is still in the driver: what is known is told from here.
            devices = [
                replace(one, refusal=NO_ANSWER, processes=None) for one in self._last.devices
            ]
            self._state = self._told(Readings(devices, NO_ANSWER), kernels)
        self._looked_at = began
        return self._state

    def _told(self, look: Readings, kernels: Mapping[int, KernelFact]) -> str:
        """Return a look as JSON. On our thread, since the system is asked for the processes."""
        self._sequence += 1
        listed = [process.pid for one in look.devices for process in one.processes or ()]
        processes = self._processes.look(listed)
        # A source that is not of this computer tells where it is.
        environment = getattr(self._source, "environment", self._here)
        around = Surroundings(kernels, environment, self._kernels.are_remote, self._shows_others)
        state = gpu_state(
            look,
            processes,
            around,
            time_s=time.time(),
            sequence=self._sequence,
            interval_ms=self.interval_ms,
        )
        # Command lines and paths may be any bytes; no websocket could send what is no UTF-8.
        return in_utf8(json.dumps(state, ensure_ascii=False, separators=(",", ":")))

    def _close_soon(self) -> None:
        """Let go of the driver in a while, unless somebody watches again."""
        if self._linger is not None:
            self._linger.cancel()
        self._linger = asyncio.get_running_loop().call_later(LINGER_S, self._let_go)

    def _let_go(self) -> None:
        self._linger = None
        if not self._watchers and self._asking is None:
            self._thread.submit(self._source.close)
