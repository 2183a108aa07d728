"""The side panel's two halves on a real GPU: a server, its kernels, clients that read it.

    python bench/panel_live.py --out bench/results/panel-live.json [--ticks 15]

Needs a GPU, torch, and what Jupyter Server, ipykernel and ipywidgets need. A Jupyter server with our
extension is started below a base URL; two notebooks' kernels hold memory, one with a child process
of its own, and one foreign process. REST and websocket are read as a browser does: kernels must be
matched with their notebooks, the foreign process with none; a request without a token is refused; a
kernel that is shut down leaves the list. In a kernel the usage comm is opened and read. Told besides:
what a tick costs the server and the kernel. Exit code 1 if anything is not as it must be.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.blocking import BlockingKernelClient
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "live-bench"
GIB = 1 << 30
HOLD = "import torch; held = torch.empty({bytes}, dtype=torch.uint8, device='cuda')"
CHILD = (
    "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', "
    "\"import torch, time; held = torch.empty({bytes}, dtype=torch.uint8, device='cuda'); time.sleep(600)\"])"
)
USAGE = "memtrack.usage"


class Server:
    """A Jupyter server of our own: its address and its process."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], runtime: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/live/"
        self.process = psutil.Process(process.pid)
        self.runtime = runtime

    def ask(self, path: str, body: Any = None, method: str = "", token: str = TOKEN) -> Any:
        """Return what a route answers; an error of HTTP is its number."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"token {token}"} if token else {}
        request = urllib.request.Request(
            self.url + path, data, headers, method=method or ("POST" if data else "GET")
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code

    def client(self, kernel: str) -> BlockingKernelClient:
        """Return a client of a kernel, by its connection file."""
        found = BlockingKernelClient(connection_file=str(self.runtime / f"kernel-{kernel}.json"))
        found.load_connection_file()
        found.start_channels()
        found.wait_for_ready(timeout=60)
        return found


@contextmanager
def running_server(*more: str) -> Iterator[Server]:
    """Start a server that reads nothing of the user's, with more options, and end it."""
    with socket.socket() as free, tempfile.TemporaryDirectory() as home:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        environ = os.environ | {f"JUPYTER_{one}": f"{home}/{one}" for one in places}
        environ |= {"IPYTHONDIR": f"{home}/ipython"}
        command = [
            *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
            *(f"--port={port}", "--ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"),
            *("--ServerApp.base_url=/live/", f"--ServerApp.root_dir={home}"),
            "--ServerApp.jpserver_extensions={'memtrack': True}",
            *more,
        ]
        process = subprocess.Popen(command, env=environ)
        server = Server(port, process, Path(home) / "RUNTIME_DIR")
        try:
            wait_for(lambda: responds(server), 60)
            yield server
        finally:
            process.terminate()
            process.wait(30)


def responds(server: Server) -> bool:
    try:
        return isinstance(server.ask("memtrack/api/info"), dict)
    except OSError:
        return False


def wait_for(is_so: Callable[[], bool], patience_s: float) -> None:
    end = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < end, "it does not come to be"
        time.sleep(0.3)


def run(client: BlockingKernelClient, code: str) -> None:
    reply = client.execute_interactive(code, timeout=120, output_hook=lambda _: None)
    assert reply["content"]["status"] == "ok", reply["content"]


def started(server: Server, name: str) -> tuple[str, BlockingKernelClient]:
    """Open a notebook's session; return its kernel's id and a client."""
    session = {"path": f"{name}.ipynb", "name": name, "type": "notebook"}
    answer = server.ask("api/sessions", session | {"kernel": {"name": "python3"}})
    return answer["kernel"]["id"], server.client(answer["kernel"]["id"])


async def read_stream(server: Server, ticks: int, interval_ms: int) -> list[dict[str, Any]]:
    """Return the next states of the websocket."""
    url = server.url.replace("http", "ws", 1) + f"memtrack/api/gpus/stream?token={TOKEN}"
    socket_ = await websocket_connect(HTTPRequest(url))
    await socket_.write_message(json.dumps({"interval_ms": interval_ms}))
    found = []
    for _ in range(ticks):
        message = await asyncio.wait_for(socket_.read_message(), 30)
        assert isinstance(message, str)
        found.append(json.loads(message))
    socket_.close()
    return found


def by_kernel(state: dict[str, Any]) -> dict[str, list[int]]:
    """Return the bytes of each notebook's processes, "" for those of none."""
    found: dict[str, list[int]] = {}
    for device in state["devices"]:
        for process in device["processes"]:
            path = (process["kernel"] or {}).get("path", "")
            found.setdefault(path, []).append(process["bytes"])
    return found


def count(state: dict[str, Any]) -> int:
    return sum(len(device["processes"]) for device in state["devices"])


def usage_of(client: BlockingKernelClient) -> dict[str, Any]:
    """Open the usage comm as a page does and return the first message."""
    content = {"comm_id": "live-bench", "target_name": USAGE, "data": {}}
    client.shell_channel.send(client.session.msg("comm_open", content))
    end = time.monotonic() + 20
    while time.monotonic() < end:
        message = client.get_iopub_msg(timeout=20)
        if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == "live-bench":
            data = message["content"]["data"]
            if data.get("devices"):
                return dict(data)
    raise AssertionError("the kernel half says nothing")


def thread_share(client: BlockingKernelClient, seconds: float) -> float:
    """Return the share of a core that the kernel half takes while figures change all the time."""
    code = f"""
import time
_usage = get_ipython().magics_manager.registry["MemtrackMagics"]._usage
_begin, _was = time.monotonic(), _usage.processor_s
while time.monotonic() - _begin < {seconds}:
    _more = torch.empty(1 << 20, device="cuda"); time.sleep(0.05); del _more
    _few = torch.empty(1 << 21, device="cuda"); time.sleep(0.3); del _few
assert _usage.processor_s > _was
print("share", (_usage.processor_s - _was) / (time.monotonic() - _begin))
"""
    said: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        said.append(message["content"].get("text", ""))

    reply = client.execute_interactive(code, timeout=120, output_hook=hear)
    assert reply["content"]["status"] == "ok", reply["content"]
    return float("".join(said).split("share", 1)[1].split()[0])


def measure(server: Server, ticks: int) -> dict[str, Any]:
    """Do all of it and return the figures, with `checks` of what must be so."""
    refused = [server.ask(f"memtrack/api/{path}", token="") for path in ("gpus", "gpus/stream")]
    first, first_client = started(server, "first")
    _, second_client = started(server, "second")
    foreign = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(bytes=GIB) + "; input()"], stdin=subprocess.PIPE
    )
    try:
        run(first_client, HOLD.format(bytes=2 * GIB) + "\n%load_ext memtrack")
        run(first_client, CHILD.format(bytes=GIB))
        run(second_client, HOLD.format(bytes=3 * GIB))
        wait_for(lambda: count(server.ask("memtrack/api/gpus")) >= 4, 60)
        usage = usage_of(first_client)
        share = thread_share(first_client, 12)
        before = server.process.cpu_times()
        states = asyncio.run(read_stream(server, ticks, 1000))
        after = server.process.cpu_times()
        rest = server.ask("memtrack/api/gpus")
        ended = server.ask(f"api/kernels/{first}", method="DELETE")
        gone = lambda: "first.ipynb" not in by_kernel(server.ask("memtrack/api/gpus"))  # noqa: E731
        wait_for(gone, 30)
    finally:
        foreign.kill()
        foreign.wait()
    spent = after.user + after.system - before.user - before.system
    told = by_kernel(states[-1])
    listed = {one["uuid"]: one for one in states[-1]["devices"]}
    mine = [one for one in usage["devices"] if one["uuid"] in listed]
    checks = {
        "refused without a token": refused == [403, 403],
        "REST and websocket agree": by_kernel(rest) == told,
        "the first notebook's kernel and its child": len(told.get("first.ipynb", [])) == 2,
        "the second notebook's kernel": len(told.get("second.ipynb", [])) == 1,
        "the foreign process has no notebook": len(told.get("", [])) >= 1,
        "their sizes": max(told.get("first.ipynb", [0])) > 2 * GIB
        and max(told.get("second.ipynb", [0])) > 3 * GIB,
        "states follow each other": [
            b["sequence"] - a["sequence"] for a, b in itertools.pairwise(states)
        ]
        == [1] * (len(states) - 1),
        "kernel half names the device as the driver does": len(mine) == len(usage["devices"]) > 0,
        "kernel half tells tensors and context": mine[0]["allocated"] >= 2 * GIB
        and (mine[0]["context"] or 0) > 0
        if mine
        else False,
        "kernel half takes less than 0.1 % of a core": share < 0.001,
        "a kernel that was shut down leaves": ended is None,
    }
    return {
        "device": states[-1]["devices"][0]["name"],
        "devices": len(states[-1]["devices"]),
        "ticks": ticks,
        "server_ms_a_tick": round(1000 * spent / ticks, 3),
        "kernel_half_share_of_a_core": round(share, 6),
        "usage": {
            **usage,
            "host": "",
            "devices": [{**one, "uuid": ""} for one in usage["devices"]],
        },
        "by_notebook": told,
        "checks": checks,
        "state": anonymous(rest),
    }


def anonymous(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without UUIDs, users, times and paths of this machine."""
    for device in state["devices"]:
        device["uuid"] = f"GPU-{device['index']}"
        for process in device["processes"]:
            process["user"] = process["started"] = process["notebook"] = None
            process["command"] = (process["command"] or "").split("/")[-1][:60]
    return state


def main() -> int:
    """Measure, print and write; 1 if a check fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ticks", type=int, default=15)
    options = parser.parse_args()
    with running_server() as server:
        found = measure(server, options.ticks)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found["checks"], indent=1))
    print(
        {
            key: found[key]
            for key in ("server_ms_a_tick", "kernel_half_share_of_a_core", "usage", "by_notebook")
        }
    )
    return int(not all(found["checks"].values()))


if __name__ == "__main__":
    sys.exit(main())
