"""What a report of a large recording costs: a million events and ten thousand layers.

    python bench/analysis.py [--out bench/results/NAME.json]

Times are the best of three in one process, and as multiples of one cumulative sum over the column
of event sizes in the same run, which tells them apart from the machine. Exit code 1 when the
report takes longer than a second or its notebook payload is too large.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent / "python_pkg" / "tests"))

from large_recording import large_recording

from memtrack.analysis import (
    allocated,
    growth,
    layer_table,
    live_set,
    nested_peaks,
    peak,
    timeline,
)
from memtrack.recording import RecordingData, load_recording, save_recording
from memtrack.reports import build_report, notebook_payload, render_html, render_text
from memtrack.reports.bounded import LIMIT_BYTES, payload_bytes

MOST_SECONDS = 1.0


def best_of(action: Callable[[], Any], rounds: int = 3) -> float:
    """Return the shortest time of `rounds`, in seconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(data: RecordingData, folder: Path) -> dict[str, float]:
    """Return the seconds of each thing that is done with a recording."""
    report = build_report(data)
    file = folder / "large.memtrack"
    actions: dict[str, Callable[[], Any]] = {
        "cumsum": lambda: np.cumsum(data.events["bytes"]),
        "allocated": lambda: allocated(data, 0),
        "peak": lambda: peak(data, 0),
        "layer_table": lambda: layer_table(data, 0),
        "nested_peaks": lambda: nested_peaks(data, 0),
        "growth": lambda: growth(data, 0),
        "timeline": lambda: timeline(data, 0),
        "zoom": lambda: timeline(data, 0, data.cuts // 3, data.cuts // 3 + 1000),
        "live_set": lambda: live_set(data, 0, data.cuts // 2),
        "build_report": lambda: build_report(data),
        "text": lambda: render_text(report),
        "html": lambda: render_html(report),
        "notebook_payload": lambda: notebook_payload(report),
        "save": lambda: save_recording(data, file),
        "load": lambda: load_recording(file),
    }
    return {name: best_of(action) for name, action in actions.items()}


def main() -> int:
    """Measure, print a table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data = large_recording()
    size = payload_bytes(notebook_payload(build_report(data)))
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(data, Path(folder))
    print(f"{data.cuts} events, {len(data.layers)} layers, {len(data.calls)} calls")
    for name, spent in seconds.items():
        print(f"  {name:18}{1000 * spent:8.1f} ms {spent / seconds['cumsum']:7.0f} × cumsum")
    print(f"  notebook payload {size} bytes")
    if options.out:
        machine = {"machine": platform.machine(), "python": platform.python_version()}
        result = {**machine, "numpy": np.__version__, "payload_bytes": size, "seconds": seconds}
        options.out.write_text(json.dumps(result, indent=2) + "\n")
    return int(seconds["build_report"] > MOST_SECONDS or size > LIMIT_BYTES)


if __name__ == "__main__":
    sys.exit(main())
