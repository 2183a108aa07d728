"""What the side panel's server half costs, and what it takes: many clients, faults, a long time.

    python bench/panel.py [--out bench/results/panel.json] [--seconds 20] [--ticks 10000]

A real Jupyter server with 8 devices and 64 real processes (asleep, below it) that a driver of ours
tells; the devices' figures come from a made tape, whatever is asked of the system is real. Clients
are websockets of this process. Measured in processor time of the server:

- a tick with one client and with 100, each second; the sampler may take 10 ms, a client 1 ms;
- over `--ticks` ticks as fast as they go: what the server's memory grows;
- meanwhile a client that reads nothing: how late the others are told;
- the driver that fails, a device that is lost, both back again: seen on the same sockets.

Exit code 1 if any bound is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python_pkg" / "tests")]

DEVICES, PROCESSES, CLIENTS = 8, 64, 100
GIB = 1 << 30
EAGER = "MEMTRACK_BENCH_EAGER"
SAMPLER_MS, CLIENT_MS, GROWTH_MIB = 10.0, 1.0, 3.0
"""The bounds: of a tick, of a client and tick, of memory after warming up."""
LATE_S, STUCK_S = 0.25, 5.0
"""No more than one state in a thousand may be later than the first, and none than the second."""


def bench_devices() -> Any:
    """Return the driver: devices of a made tape whose processes are sleeping children of the server."""
    from made_tape import made_tape
    from replayed_devices import ReplayedDevices

    from memtrack.server import sampler, stream

    if os.environ.get(EAGER):
        sampler.FASTEST_MS = stream.FASTEST_MS = 1
    children = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(PROCESSES)]
    each = PROCESSES // DEVICES
    tape = made_tape(DEVICES, [[GIB + at for at in range(each)]] * DEVICES)
    pids = [child.pid for child in children]
    source = ReplayedDevices(tape, Sleepers(pids))
    source.nvml.renumber = renumber_once(source.nvml, pids)
    source.kept = children  # they end with their standard input, which ends with the server
    return source


def renumber_once(nvml: Any, pids: list[int]) -> Any:
    nvml.renumber(pids)
    return lambda _: None


class Sleepers:
    """psutil; the devices are held by given processes."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = frozenset(pids)
        self.Process = psutil.Process

    def holds(self, pid: int) -> bool:
        return pid in self._pids

    def living_kernels(self) -> list[int]:
        return []


class Client:
    """A websocket that notes when it was told what."""

    def __init__(self, server: Any, interval_ms: int) -> None:
        self._server = server
        self._interval_ms = interval_ms
        self.states: list[tuple[float, int]] = []
        self.last: dict[str, Any] = {}
        self.keeps = False
        self._socket: Any = None

    async def run(self) -> None:
        from tornado.websocket import websocket_connect

        url = self._server.url.replace("http", "ws", 1)
        self._socket = await websocket_connect(f"{url}memtrack/api/gpus/stream?token=live-bench")
        await self._socket.write_message(json.dumps({"interval_ms": self._interval_ms}))
        while (message := await self._socket.read_message()) is not None:
            number = int(message.split('"sequence":', 1)[1].split(",", 1)[0])
            self.states.append((time.monotonic(), number))
            if self.keeps:
                self.last = json.loads(message)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


class Clients:
    """Clients that read for as long as the context lasts."""

    def __init__(self, server: Any, count: int, interval_ms: int = 1000) -> None:
        self.all = [Client(server, interval_ms) for _ in range(count)]
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Clients:
        self._tasks = [asyncio.create_task(one.run()) for one in self.all]
        while not all(one.states for one in self.all):
            await asyncio.sleep(0.05)
        return self

    async def __aexit__(self, *_: object) -> None:
        for one in self.all:
            one.close()
        await asyncio.gather(*self._tasks)


async def cost(server: Any, clients: int, seconds: float) -> dict[str, float]:
    """Return milliseconds of the server's processor a tick, and the time between two states."""
    async with Clients(server, clients) as running:
        await asyncio.sleep(3)
        begin, before = time.monotonic(), processor_s(server.process.pid)
        first = running.all[0].states[-1][1]
        await asyncio.sleep(seconds)
        spent, ticks = (
            processor_s(server.process.pid) - before,
            running.all[0].states[-1][1] - first,
        )
        taken = time.monotonic() - begin
    return {"ms_a_tick": 1000 * spent / ticks, "s_between": taken / ticks, "ticks": float(ticks)}


async def nothing(server: Any, seconds: float) -> float:
    """Return what the server spends in milliseconds a second while nobody looks."""
    await asyncio.sleep(3)
    before = processor_s(server.process.pid)
    await asyncio.sleep(seconds)
    return 1000 * (processor_s(server.process.pid) - before) / seconds


def processor_s(pid: int) -> float:
    """Return the processor time of all threads in seconds: of the scheduler, exact to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(one.read_text().split()[0]) for one in tasks) / 1e9


async def deaf(server: Any) -> Any:
    """Return a connection that has asked for the stream and reads nothing of it."""
    host, port = "127.0.0.1", int(server.url.split(":")[2].split("/")[0])
    reader, writer = await asyncio.open_connection(host, port, limit=1)
    lines = [
        "GET /live/memtrack/api/gpus/stream?token=live-bench HTTP/1.1",
        f"Host: {host}:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13",
        "",
        "",
    ]
    writer.write("\r\n".join(lines).encode())
    await writer.drain()
    writer.transport.pause_reading()
    return reader, writer


async def long_run(server: Any, ticks: int) -> dict[str, float]:
    """Return how memory grows and how late states are, with a deaf client among five."""
    async with Clients(server, 5, 1) as running:
        held = await deaf(server)
        one = running.all[0]
        warm: float | None = None
        while one.states[-1][1] < ticks:
            await asyncio.sleep(0.2)
            if warm is None and one.states[-1][1] >= ticks // 5:
                warm = server.process.memory_info().rss
        grown = server.process.memory_info().rss - (warm or 0)
        times = [at for at, _ in one.states]
        held[1].close()
    gaps = sorted(b - a for a, b in itertools.pairwise(times))
    return {
        "ticks": float(one.states[-1][1]),
        "growth_mib": grown / (1 << 20),
        "longest_gap_s": gaps[-1],
        "late_gap_s": gaps[-1 - len(gaps) // 1000],
        "median_gap_s": gaps[len(gaps) // 2],
    }


async def faults(server: Any, path: Path) -> dict[str, bool]:
    """Return what one client was told while the driver and a device fail and come back."""
    seen: dict[str, bool] = {}
    async with Clients(server, 1, 250) as running:
        client = running.all[0]
        client.keeps = True

        async def told(name: str, script: dict[str, Any], is_so: Any) -> None:
            path.write_text(json.dumps(script))
            end = time.monotonic() + 20
            while time.monotonic() < end and not (client.last and is_so(client.last)):
                await asyncio.sleep(0.1)
            seen[name] = bool(client.last) and is_so(client.last)

        def well(state: dict[str, Any]) -> bool:
            whole = len(state["devices"]) == DEVICES
            return bool(whole and all(one["status"] is None for one in state["devices"]))

        def refused(reason: str) -> Any:
            return lambda state: state["status"]["id"] == reason

        def lost(state: dict[str, Any]) -> bool:
            gone = [one for one in state["devices"] if one["status"]]
            return len(gone) == 1 and gone[0]["status"]["id"] == "lost"

        memory = f"nvmlDeviceGetMemoryInfo(handle-3, {memory_version()})"
        await told("well", {}, well)
        await told("device lost", {"refuse": {memory: "GPU_IS_LOST"}}, lost)
        await told("device back", {}, well)
        await told("driver gone", {"refuse": {"nvmlInit": "DRIVER_NOT_LOADED"}}, refused_any)
        await told("driver back", {}, well)
        await told("permission", {"refuse": {"nvmlInit": "NO_PERMISSION"}}, refused("permission"))
        await told("all well again", {}, well)
    return seen


def refused_any(state: dict[str, Any]) -> bool:
    """Without a driver nothing is there; where the bench runs decides in which words."""
    return not state["devices"] and state["status"]["id"] in ("no_driver", "container")


def memory_version() -> int:
    import pynvml

    return int(pynvml.nvmlMemory_v2)


def with_server(measure: Any, *arguments: Any, eager: bool = False) -> Any:
    """Measure with a server of its own."""
    import panel_live

    folders = (ROOT / "bench", ROOT / "python_pkg" / "tests", ROOT / "python_pkg")
    with tempfile.TemporaryDirectory() as home:
        script = Path(home) / "faults.json"
        os.environ |= {
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "MEMTRACK_TEST_FAULTS": str(script),
            EAGER: "1" if eager else "",
        }
        with panel_live.running_server("--MemtrackServer.driver=panel.bench_devices") as server:
            places = [script] if measure is faults else []
            return asyncio.run(measure(server, *arguments, *places))


def main() -> int:
    """Measure, print and write; 1 if a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("bench/results/panel.json"))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--ticks", type=int, default=10_000)
    options = parser.parse_args()
    idle_ms = with_server(nothing, options.seconds)
    one = with_server(cost, 1, options.seconds)
    many = with_server(cost, CLIENTS, options.seconds)
    client_ms = (many["ms_a_tick"] - one["ms_a_tick"]) / (CLIENTS - 1)
    run = with_server(long_run, options.ticks, eager=True)
    seen = with_server(faults)
    checks = {
        f"a tick costs at most {SAMPLER_MS} ms": one["ms_a_tick"] <= SAMPLER_MS,
        f"a client costs at most {CLIENT_MS} ms a tick": client_ms <= CLIENT_MS,
        f"memory grows less than {GROWTH_MIB} MiB": run["growth_mib"] < GROWTH_MIB,
        "a deaf client delays nobody": run["late_gap_s"] < LATE_S
        and run["longest_gap_s"] < STUCK_S,
        **{f"told: {name}": value for name, value in seen.items()},
    }
    figures = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "devices": DEVICES,
        "processes": PROCESSES,
        "clients": CLIENTS,
        "ms_a_second_while_nobody_looks": round(idle_ms, 3),
        "one_client": rounded(one),
        "many_clients": rounded(many),
        "ms_a_client_and_tick": round(client_ms, 4),
        "long_run": rounded(run),
        "checks": checks,
    }
    options.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    return int(not all(checks.values()))


def rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}


if __name__ == "__main__":
    sys.exit(main())
