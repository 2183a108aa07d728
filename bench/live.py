"""What the live view costs the training thread: the share of the time that goes into ticks.

    python bench/live.py [--seconds N] [--out bench/results/NAME.json]

A real kernel trains in one cell while a browser is played here, which answers each tick through a
subshell as JupyterLab does. Ticks are timed where the recorder calls for them, so that making, packing
and queueing them all count. Without a browser none may be made after the first twenty.
"""

from __future__ import annotations

import argparse
import json
import platform
import queue
import sys
import time
from pathlib import Path
from typing import Any

from jupyter_client.manager import start_new_kernel

LIMIT = 0.01
TRAINING = """
%load_ext memtrack
import json, time, torch
from torch import nn
from memtrack.capture.recorder import Recorder

layers = [layer for _ in range(12) for layer in (nn.Linear(128, 128), nn.GELU())]
model = nn.Sequential(*layers)
optimizer = torch.optim.AdamW(model.parameters())
spent = {"ns": 0, "ticks": 0}
plain = Recorder._tick

def timed(self):
    began = time.perf_counter_ns()
    plain(self)
    spent["ns"] += time.perf_counter_ns() - began
    spent["ticks"] += bool(self.on_tick)

Recorder._tick = timed

def train(seconds):
    spent.update(ns=0, ticks=0)
    began = time.perf_counter_ns()
    while (elapsed := time.perf_counter_ns() - began) < seconds * 10**9:
        optimizer.zero_grad()
        model(torch.randn(32, 128)).square().mean().backward()
        optimizer.step()
    print(json.dumps({**spent, "share": spent["ns"] / elapsed}))
"""


class Browser:
    """A front end that answers ticks while it is `looking`."""

    def __init__(self) -> None:
        self.manager, self.client = start_new_kernel(kernel_name="python3")
        request = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(request)
        self.subshell = self.client.get_control_msg(timeout=30)["content"]["subshell_id"]

    def run(self, code: str, looking: bool) -> str:
        """Run a cell to its end and return what it printed."""
        request = self.client.execute(code)
        printed = ""
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=60)
            except queue.Empty:
                sys.exit("The kernel is silent.")
            content = message["content"]
            if message["msg_type"] == "error":
                sys.exit("\n".join(content["traceback"]))
            if message["msg_type"] == "stream" and content["name"] == "stdout":
                printed += content["text"]
            if looking and message["msg_type"] == "comm_msg":
                self._answer(content)
            ours = message["parent_header"].get("msg_id") == request
            if ours and content.get("execution_state") == "idle":
                return printed

    def _answer(self, content: dict[str, Any]) -> None:
        tick = content["data"].get("content", {})
        if tick.get("type") != "tick":
            return
        seen = {"method": "custom", "content": {"type": "seen", "tick": tick["tick"]}}
        answer = {"comm_id": content["comm_id"], "data": seen}
        message = self.client.session.msg("comm_msg", answer)
        message["header"]["subshell_id"] = self.subshell
        self.client.shell_channel.send(message)

    def close(self) -> None:
        """End the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def measure(seconds: float) -> dict[str, Any]:
    """Return ticks, nanoseconds and share of the time, with a browser and without."""
    browser = Browser()
    try:
        browser.run(TRAINING, looking=False)
        browser.run("%memtrack model\ntrain(1)", looking=True)
        watched = json.loads(browser.run(f"train({seconds})", looking=True))
        browser.run("%memtrack model\ntrain(15)", looking=False)
        unwatched = json.loads(browser.run(f"train({seconds})", looking=False))
    finally:
        browser.close()
    return {"watched": watched, "unwatched": unwatched}


def main() -> int:
    """Print the shares; 1 when the live view takes more than a hundredth of the time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {
        "limit": LIMIT,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        **measure(options.seconds),
    }
    for name in ("watched", "unwatched"):
        part = found[name]
        each = part["ns"] / max(part["ticks"], 1) / 1e6
        print(f"{name}: {part['share']:.3%} of the time, {part['ticks']} ticks of {each:.2f} ms")
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=2) + "\n")
    return int(found["watched"]["share"] > LIMIT or found["unwatched"]["ticks"] > 0)


if __name__ == "__main__":
    sys.exit(main())
