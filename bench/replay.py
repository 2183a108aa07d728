"""The simulated allocator against recorded runs: does replaying a trace reserve what torch reserved?

    python bench/replay.py PATH… [--rounds N] [--out bench/results/NAME.json]

PATH is a torch snapshot or a folder that is searched for them. Each is replayed as it was recorded;
its peak of reserved bytes and every moment in between are compared with the trace's own segments. A
trace that starts from nothing is complete; of one that does not, the layout at its start is rebuilt
by the reader, and what follows is compared all the same. Then the same requests are replayed with
expandable segments. Exit code 1: a complete trace is off by more than the limit.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from memtrack.allocator.replay import Replay, replay
from memtrack.allocator.settings import UNLIMITED, Settings
from memtrack.errors import UnreadableFile
from memtrack.readers.torch_snapshot import read_snapshot
from memtrack.recording import RecordingData

LIMIT = 0.005
"""Share of the recorded peak that a replay of a complete trace may be off by."""
ENDINGS = (".pickle", ".pkl", ".gz", ".xz")
STARTS = {
    "nothing": "complete: it starts with nothing reserved",
    "layout": "not complete: blocks are older than the trace; their layout is rebuilt",
    "guess": "not complete: blocks are older than the trace and lie in no known segment",
}


def main() -> int:
    """Replay every trace, print a line each and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results = [result for path in files(options.paths) for result in measure(path, options.rounds)]
    for result in results:
        print(line(result))
    known = [result for result in results if result["error"] is not None]
    worst = max((abs(r["error"]) for r in known if r["complete"]), default=0.0)
    print(f"largest error of a complete trace {worst:.3%}, limit {LIMIT:.1%}")
    if options.out is not None:
        options.out.write_text(json.dumps({**machine(), "traces": results}, indent=1) + "\n")
    return int(worst > LIMIT)


def files(paths: Sequence[Path]) -> Iterator[Path]:
    """Find the snapshots of folders; a file is taken as it is."""
    for path in paths:
        if path.is_dir():
            yield from (found for found in sorted(path.rglob("*")) if found.suffix in ENDINGS)
        else:
            yield path


def measure(path: Path, rounds: int) -> Iterator[dict[str, Any]]:
    """Replay each device of a snapshot."""
    try:
        data = read_snapshot(path)
    except UnreadableFile as error:
        print(error, file=sys.stderr)
        return
    for device in range(len(data.devices)):
        events = int((data.events["device"] == device).sum())
        seconds, recorded = timed(data, device, rounds)
        pages = replay(data, device, replace(recorded.settings, expandable_segments=True))
        yield {
            "file": path.name,
            "device": int(data.devices["index"][device]),
            "events": events,
            "complete": recorded.start == "nothing",
            "start": STARTS[recorded.start],
            "recorded_peak_reserved": recorded.recorded_peak,
            "simulated_peak_reserved": recorded.peak,
            "error": recorded.error,
            "largest_error_at_any_event": recorded.worst,
            "peak_allocated": int(recorded.allocated.max()),
            "us_per_event": round(seconds / max(events, 1) * 1e6, 3),
            "settings": told(recorded.settings),
            "expandable_segments_peak_reserved": pages.peak,
        }


def timed(data: RecordingData, device: int, rounds: int) -> tuple[float, Replay]:
    """Return the least seconds of a replay, and the replay."""
    least = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        done = replay(data, device)
        least = min(least, time.perf_counter() - began)
    return least, done


def told(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ from torch's own."""
    usual = asdict(Settings())
    values = {name: value for name, value in asdict(settings).items() if value != usual[name]}
    return {name: -1 if value == UNLIMITED else value for name, value in values.items()}


def line(result: dict[str, Any]) -> str:
    """Return one result as a line of text."""
    error = result["error"]
    share = "nothing reserved" if error is None else f"{error:+.3%}"
    mib = [
        f"{result[name] / 2**20:10.1f}"
        for name in (
            "recorded_peak_reserved",
            "simulated_peak_reserved",
            "expandable_segments_peak_reserved",
        )
    ]
    start = "complete" if result["complete"] else "rebuilt "
    return (
        f"{result['file']:32} {result['events']:8} events {start} "
        f"{mib[0]} MiB recorded {mib[1]} simulated {share:>9} "
        f"{mib[2]} with pages {result['us_per_event']:6.2f} µs an event"
    )


def machine() -> dict[str, Any]:
    """Say where this was measured."""
    return {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


if __name__ == "__main__":
    sys.exit(main())
