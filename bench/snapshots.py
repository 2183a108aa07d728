"""What opening a torch snapshot costs, against `pickle.load` of the same file.

    python bench/snapshots.py PATH [--rounds 5] [--out bench/results/snapshots.json]

PATH is a snapshot, unpacked. Two kinds of child process take turns, each fresh: one loads the file
with `pickle.load`, the garbage collector off; the other opens it and builds the report, timeline
included. The shortest times count, and the largest peaks of resident memory. Exit code 1 when
opening takes more than 1.7 × the time of loading, or more than 1.2 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

MOST_TIMES_LOADING = 1.7
MOST_BYTES = 1_200_000_000


def load(path: str) -> dict[str, float]:
    """Return what `pickle.load` takes, in seconds."""
    import gc
    import pickle

    gc.disable()
    begin = time.perf_counter()
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    seconds = time.perf_counter() - begin
    entries = sum(map(len, snapshot["device_traces"]))
    return {"seconds": seconds, "entries": entries}


def open_and_analyse(path: str) -> dict[str, float]:
    """Return what it takes to have the recording, then its report, in seconds."""
    from memtrack.readers import open_recording
    from memtrack.reports import build_report

    begin = time.perf_counter()
    data = open_recording(path)
    opened = time.perf_counter()
    report = build_report(data)
    done = time.perf_counter()
    return {
        "seconds": done - begin,
        "open": opened - begin,
        "report": done - opened,
        "events": data.cuts,
        "allocations": len(data.allocations),
        "timeline_points": len(report.views[0].timeline.points["cut"]),
    }


KINDS = {"load": load, "open": open_and_analyse}


def in_child(kind: str, path: str) -> dict[str, float]:
    """Return what a fresh process measured."""
    command = [sys.executable, __file__, path, "--child", kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the round that took the shortest, with the largest peak of all."""
    shortest = min(rounds, key=lambda one: one["seconds"])
    return {**shortest, "peak_bytes": max(one["peak_bytes"] for one in rounds)}


def main() -> int:
    """Measure, print a table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", choices=KINDS)
    options = parser.parse_args()
    if options.child:
        measured = KINDS[options.child](options.path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({**measured, "peak_bytes": peak}))
        return 0
    rounds: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for _ in range(options.rounds):
        for kind in KINDS:
            rounds[kind].append(in_child(kind, options.path))
    result = {kind: best(measured) for kind, measured in rounds.items()}
    ratio = result["open"]["seconds"] / result["load"]["seconds"]
    for kind, measured in result.items():
        print(f"{kind:6}{measured['seconds']:7.3f} s  {measured['peak_bytes'] / 1e6:6.0f} MB")
    print(f"open / load = {ratio:.2f}")
    if options.out:
        machine = {
            "machine": platform.machine(),
            "cpu": cpu_name(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "memtrack": version("memtrack"),
        }
        file = {"file": Path(options.path).name, "file_bytes": Path(options.path).stat().st_size}
        summary = {**machine, **file, "rounds": options.rounds, "ratio": round(ratio, 3), **result}
        options.out.write_text(json.dumps(summary, indent=2) + "\n")
    too_much = result["open"]["peak_bytes"] > MOST_BYTES
    return int(ratio > MOST_TIMES_LOADING or too_much)


def cpu_name() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "")


if __name__ == "__main__":
    sys.exit(main())
