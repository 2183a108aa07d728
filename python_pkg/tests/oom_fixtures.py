"""Failures made on purpose on an H200, of which the cause is known: message, observer, snapshot."""

import gzip
import json
import pickle
import re
from pathlib import Path

from memtrack.diagnosis.evidence import LiveFacts, ProcessFact
from memtrack.readers.torch_snapshot import read_snapshot, recording_of

FOLDER = Path(__file__).parent / "fixtures" / "oom"
CAUSES = {
    "absurd_shape": "integer_overflow_or_garbage_size",
    "backward_peak": "capacity",
    "dynamic_shapes": "fragmentation",
    "forward_activations": "capacity",
    "fraction_limit": "per_process_fraction_limit",
    "fragmentation": "fragmentation",
    "leak_loss_graph": "graph_retention",
    "optimizer_first_step": "capacity",
    "other_process": "other_process_or_framework",
}
TOTAL = 150_109_880_320
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def case(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def snapshot(name):
    return read_snapshot(FOLDER / f"{name}.pickle.gz")


def without_history(name):
    """What a process has that did not record its allocator: segments and blocks alone."""
    with gzip.open(FOLDER / f"{name}.pickle.gz") as file:
        found = pickle.load(file)
    return recording_of({**found, "device_traces": [[] for _ in found["device_traces"]]})


def facts(name):
    """What the observer was told, and the driver's figures as the message has them."""
    known = case(name)
    told = known["observer"][-1]
    message = known["message"]
    process = _sizes(r"this process has ([\d.]+) (\w+)", message)
    others = re.findall(r"Process (\d+) has ([\d.]+) (\w+)", message)
    return LiveFacts(
        total=TOTAL,
        free=told["device_free"],
        limit=told["device_total"],
        segment=told["requested"],
        process=process[0] if process else None,
        processes=[
            ProcessFact(int(pid), int(float(size) * UNITS[unit])) for pid, size, unit in others
        ],
    )


def _sizes(pattern, message):
    return [int(float(size) * UNITS[unit]) for size, unit in re.findall(pattern, message)]
