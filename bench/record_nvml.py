"""Record what NVML answers while several processes hold memory, as a tape that tests play back.

    python bench/record_nvml.py python_pkg/tests/fixtures/nvml/h200-1.json [--ticks 12] [--interval 1]

Needs a GPU, torch, psutil and `nvidia-ml-py`. Children of this process hold memory of 1 to 4 GiB on
every device, some compute for a while, one ends half way and one is left a zombie. Every question
our own driver asks is kept with its answer. Names of hosts, users and folders are not kept; UUIDs
are replaced.
"""

from __future__ import annotations

import argparse
import getpass
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python_pkg"), str(ROOT / "python_pkg" / "tests")]

from nvml_tape import SCHEMA, RecordedNvml  # noqa: E402

from memtrack.devices.nvmlsource import NvmlSource  # noqa: E402
from memtrack.devices.openfiles import holds_device  # noqa: E402

HOLDER = """
import sys, time, torch
device, mebibytes, busy = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "busy"
held = torch.empty(mebibytes << 20, dtype=torch.uint8, device=device)
a = torch.randn(4096, 4096, device=device)
print("holds", torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device), flush=True)
while True:
    if busy:
        for _ in range(20):
            a = (a @ a).clamp(-1, 1)
        torch.cuda.synchronize()
    else:
        time.sleep(0.2)
"""
_UUID = re.compile(r"(GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def main() -> int:
    """Record, write the tape, print what is on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ticks", type=int, default=12)
    parser.add_argument("--interval", type=float, default=1.0)
    options = parser.parse_args()
    library = RecordedNvml()
    source = NvmlSource(library)
    devices = [one for one in source.read().devices if one.parent is None]
    holders = [start(index, size, busy) for index in range(len(devices)) for size, busy in LOADS]
    try:
        held = [told(holder) for holder in holders]
        ticks = record(library, source, holders, options)
        about = {
            "driver": as_text(library.nvmlSystemGetDriverVersion()),
            "devices": [one.name for one in devices],
            "torch": version("torch"),
            "nvidia-ml-py": version("nvidia-ml-py"),
            "interval_s": options.interval,
            "holders": [
                {"pid": holder.pid, "allocated": allocated, "reserved": reserved}
                for holder, (allocated, reserved) in zip(holders, held, strict=True)
            ],
            "own_pid": os.getpid(),
            "inside_a_container": not seen(source, holders),
            "holds_device": {str(one.pid): holds_device(one.pid) for one in holders},
        }
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()
    write(options.out, {"schema": SCHEMA, "about": about, "ticks": ticks})
    print(json.dumps(about, indent=1))
    return 0


LOADS = ((4096, "busy"), (2048, "idle"), (1024, "idle"))
"""MiB that each holder of a device takes, and whether it computes."""


def start(index: int, size: int, busy: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, f"cuda:{index}", str(size), busy]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def told(holder: subprocess.Popen[str]) -> tuple[int, int]:
    assert holder.stdout is not None
    words = holder.stdout.readline().split()
    assert words[:1] == ["holds"], "a holder has failed: is there room on the device?"
    return int(words[1]), int(words[2])


def record(
    library: RecordedNvml,
    source: NvmlSource,
    holders: list[subprocess.Popen[str]],
    options: argparse.Namespace,
) -> list[dict[str, object]]:
    """Return the answers of each tick, as far as they are others than before."""
    ticks: list[dict[str, object]] = []
    before: dict[str, object] = {}
    for tick in range(options.ticks):
        if tick == options.ticks // 2:
            holders[-1].terminate()  # not waited for: it stays a zombie
        library.answers = {}
        if tick == 0:
            source.close()
        found = source.read()
        for one in found.devices:
            print(tick, one)
        now = dict(library.answers)
        ticks.append({key: told for key, told in now.items() if before.get(key) != told})
        before |= now
        time.sleep(options.interval)
    return ticks


def seen(source: NvmlSource, holders: list[subprocess.Popen[str]]) -> bool:
    """Tell whether the driver lists the holders by the numbers they have here."""
    listed = {process.pid for one in source.read().devices for process in one.processes or ()}
    return holders[0].pid in listed and psutil.pid_exists(holders[0].pid)


def write(path: Path, tape: dict[str, object]) -> None:
    """Write a tape with other UUIDs, having checked that nothing personal is in it."""
    text = json.dumps(tape, indent=None, separators=(",", ":"))
    text = _UUID.sub(lambda match: f"{match[1]}-{other_uuid(match[0])}", text)
    personal = {os.uname().nodename, getpass.getuser()}
    for value in values(tape):
        plain = value == SCHEMA or "/" not in value
        assert plain and value not in personal, f"a name of this machine: {value}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace('},{"nvml', '},\n{"nvml') + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


def values(told: object) -> Iterator[str]:
    """Give every text among the answers; what the questions are called is ours."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict):
        for one in told.values():
            yield from values(one)
    elif isinstance(told, list):
        for one in told:
            yield from values(one)


def other_uuid(uuid: str) -> str:
    digits = hashlib.sha256(b"memtrack " + uuid.encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def as_text(told: bytes | str) -> str:
    return told.decode() if isinstance(told, bytes) else told


def version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as of

    try:
        return of(package)
    except PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
