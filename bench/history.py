"""What a history of ten thousand runs costs, and a diff of two runs of ten thousand layers.

    python bench/history.py [--out bench/results/NAME.json] [--runs 10000]

Times are the best of three in one process; `command` is that of a new process, Python's own start in
it. Exit code 1 where the history takes longer than half a second to open or the diff than one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent / "python_pkg" / "tests"))

from kept_runs import recording
from large_recording import large_recording

import memtrack
from memtrack.comparison import compare
from memtrack.recording import RecordingData, Table
from memtrack.reports.comparison import Diff
from memtrack.reports.comparisonpayload import encode_comparison
from memtrack.reports.historypayload import encode_history
from memtrack.runs import History
from memtrack.widgets.runmessages import answer

MOST_OPEN_S, MOST_DIFF_S = 0.5, 1.0


def best_of(action: Callable[[], Any], rounds: int = 3) -> float:
    """Return the shortest time of `rounds`, in seconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def fill(folder: Path, count: int) -> None:
    """Fill a history with so many copies of a run of a model of 1200 layers, each with tags and a name."""
    with History(folder) as history:
        history.add(large_recording(steps=2, blocks=12, leaves=100), file=False)
    connection = sqlite3.connect(folder / "history.db")
    names = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
    rest = [name for name in names if name not in ("id", "identifier", "created", "name", "peak")]
    columns = ", ".join(rest)
    with connection:
        connection.executemany(
            f"INSERT INTO runs (identifier, created, name, peak, {columns})"
            f" SELECT ?, ?, ?, ?, {columns} FROM runs WHERE id = 1",
            ((f"{n:032x}", 1.7e9 + 60 * n, f"run no {n}", (1 << 30) + n) for n in range(1, count)),
        )
        connection.execute(
            "INSERT INTO views SELECT id, (SELECT view FROM views WHERE run = 1) FROM runs WHERE id > 1"
        )
        connection.execute("INSERT INTO tags SELECT id, 'tag ' || (id % 7) FROM runs")
    connection.close()


def changed(data: RecordingData) -> RecordingData:
    """Return a recording in which every tenth layer is larger, every seventh has another class."""
    layers = dict(data.layers.columns)
    rows = np.arange(len(data.layers))
    layers["parameters"] = layers["parameters"] + np.where(rows % 10 == 0, 64, 0)
    layers["type"] = np.where(rows % 7 == 0, len(data.strings) - 1, layers["type"])
    sizes = dict(data.allocations.columns)
    larger = sizes["layer"] % 10 == 0
    for name in ("bytes", "requested"):
        sizes[name] = np.where(larger, sizes[name] * 2, sizes[name])
    events = dict(data.events.columns)
    events["bytes"] = np.where(
        events["allocation"] >= 0, sizes["bytes"][events["allocation"]], events["bytes"]
    )
    made = {"layers": layers, "allocations": sizes, "events": events}
    tables = {**data.tables, **{name: Table(name, table) for name, table in made.items()}}
    return RecordingData(replace(data.facts, identifier="b" * 32), data.strings, tables)


def measure_history(folder: Path, count: int) -> dict[str, float]:
    """Return the seconds of what is done with a history of many runs."""
    fill(folder, count)
    with History(folder) as history:
        assert len(history.runs()) == count
    numbers = iter(range(100))

    def add() -> None:
        with History(folder) as history:
            history.add(recording(f"added {next(numbers)}"), file=False)

    command = [sys.executable, "-m", "memtrack", "history", "--folder", str(folder)]
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ}}
    return {
        "open": best_of(lambda: encode_history(memtrack.history(folder=folder))),
        "text": best_of(lambda: str(memtrack.history(folder=folder))),
        "notebook": best_of(lambda: memtrack.history(folder=folder)._repr_mimebundle_()),
        "search": best_of(lambda: memtrack.history("tag 3 no 99", folder=folder)),
        "page": best_of(
            lambda: answer(folder, {"type": "list", "request": 1, "search": "", "offset": 5000})
        ),
        "rename": best_of(
            lambda: answer(folder, {"type": "note", "request": 1, "id": 5, "note": "x"})
        ),
        "pin": best_of(lambda: answer(folder, {"type": "pin", "request": 1, "id": 7})),
        "pin_by_name": best_of(lambda: memtrack.history("no 77", folder=folder).pin("run no 77")),
        "add": best_of(add),
        "command": best_of(lambda: subprocess.run(command, check=True, **quiet)),
    }


def measure_diff(folder: Path) -> dict[str, float]:
    """Return the seconds of a diff of two runs of ten thousand layers, from the history and not."""
    before = large_recording()
    after = changed(before)
    for data in (before, after):
        data.self_check()
    with History(folder) as history:
        runs = [history.add(data, file=False) for data in (before, after)]
        views = [history.view(run) for run in runs]
        sizes = [len(row[0]) for row in _views(folder)]
    found = compare(*views)
    assert found.peak_change == views[1].peak.bytes - views[0].peak.bytes != 0
    assert sum(part.change for part in found.parts) == found.peak_change
    a, b = (run.id for run in runs)
    print(
        f"{len(found.rows)} rows, {found.peak_change} bytes of change, kept in {sizes} bytes each"
    )

    def shown() -> None:
        encode_comparison(memtrack.compare(a, b, folder=folder))

    return {
        "diff_of_kept_runs": best_of(lambda: memtrack.compare(a, b, folder=folder)),
        "diff_as_payload": best_of(shown),
        "diff_as_text": best_of(lambda: str(Diff(found))),
        "diff_for_notebook": best_of(lambda: Diff(found)._repr_mimebundle_()),
        "diff_of_recordings": best_of(lambda: compare(before, after)),
    }


def _views(folder: Path) -> list[tuple[bytes]]:
    connection = sqlite3.connect(folder / "history.db")
    try:
        return connection.execute("SELECT view FROM views").fetchall()
    finally:
        connection.close()


def main() -> int:
    """Measure, print a table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        seconds = measure_history(Path(one), options.runs) | measure_diff(Path(other))
        size = (Path(one) / "history.db").stat().st_size
    print(f"{options.runs} runs in {size >> 20} MiB")
    for name, spent in seconds.items():
        print(f"  {name:20}{1000 * spent:8.1f} ms")
    if options.out:
        machine = {"machine": platform.machine(), "python": platform.python_version()}
        limits = {"open": MOST_OPEN_S, "diff_as_payload": MOST_DIFF_S}
        result = {**machine, "runs": options.runs, "bytes": size, "limits": limits}
        options.out.write_text(json.dumps({**result, "seconds": seconds}, indent=2) + "\n")
    return int(seconds["open"] > MOST_OPEN_S or seconds["diff_as_payload"] > MOST_DIFF_S)


if __name__ == "__main__":
    sys.exit(main())
