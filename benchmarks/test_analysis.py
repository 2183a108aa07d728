"""What a report of a large recording costs: a million events and ten thousand layers.

    python -m pytest benchmarks/test_analysis.py --capture=no

Times are told as multiples of one cumulative sum over the events on the same machine, in the same
run, beside the milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from large_recording import large_recording

from memtrack.analysis import allocated, layer_table, live_set, peak, timeline
from memtrack.recording import RecordingData
from memtrack.reports import build_report, notebook_payload, render_html, render_text
from memtrack.reports.bounded import payload_bytes


@pytest.fixture(scope="module")
def data() -> RecordingData:
    recording = large_recording()
    recording.self_check()
    return recording


def best_of(action: Callable[[], Any], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def test_a_million_events_become_a_report_within_two_seconds(data: RecordingData) -> None:
    report = build_report(data)
    unit = best_of(lambda: np.cumsum(data.events["bytes"]), rounds=10)
    actions: dict[str, Callable[[], Any]] = {
        "allocated": lambda: allocated(data, 0),
        "peak": lambda: peak(data, 0),
        "layer_table": lambda: layer_table(data, 0),
        "timeline": lambda: timeline(data, 0),
        "zoom": lambda: timeline(data, 0, 400_000, 401_000),
        "live_set": lambda: live_set(data, 0, 430_000),
        "build_report": lambda: build_report(data),
        "text": lambda: render_text(report),
        "html": lambda: render_html(report),
        "notebook_payload": lambda: notebook_payload(report),
    }
    print(f"\n{data.cuts} events, {len(data.layers)} layers, {len(data.calls)} calls")
    seconds = {name: best_of(action) for name, action in actions.items()}
    for name, spent in seconds.items():
        print(f"  {name:18}{1000 * spent:8.1f} ms {spent / unit:8.0f} × cumsum")
    size = payload_bytes(notebook_payload(report))
    print(f"  payload {size} bytes, html {len(render_html(report).encode())} bytes")
    assert seconds["build_report"] < 2
    assert size <= 250_000
