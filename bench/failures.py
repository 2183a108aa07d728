"""Failures whose cause is known against what memtrack says of them: truth and first cause, a line each.

    python bench/failures.py DIR [--out bench/results/failures.json]

DIR holds for each failure `NAME.json` (message, what the out-of-memory observer was told, the truth)
and, where torch's allocator was what failed, `NAME.pickle.gz`: its snapshot at that moment. Each is
explained from the text alone, from the snapshot alone, and from both with what the observer was
told. Exit code 1: a first cause of the last is not the truth.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from memtrack.diagnosis.combined import combine
from memtrack.diagnosis.diagnosis import Diagnosis
from memtrack.diagnosis.evidence import LiveFacts, explain_facts, explain_recording
from memtrack.diagnosis.explain import explain_text
from memtrack.readers.torch_snapshot import read_snapshot

TRUTHS = {
    "absurd_shape": "integer_overflow_or_garbage_size",
    "backward_peak": "capacity",
    "cpu_allocator": "integer_overflow_or_garbage_size",  # it asks for 2^50 bytes
    "device_assert": "not_oom_bad_index_or_int32",
    "dynamic_shapes": "fragmentation",
    "embedding_assert": "not_oom_bad_index_or_int32",
    "forward_activations": "capacity",
    "fraction_limit": "per_process_fraction_limit",
    "fragmentation": "fragmentation",
    "illegal_access": "not_oom_bad_index_or_int32",
    "leak_loss_graph": "graph_retention",
    "optimizer_first_step": "capacity",
    "other_process": "other_process_or_framework",
    "pinned_host": "pinned_or_wsl_host_limit",
}
"""What each of the failures of `make_failures.py` is made to be, as the id of a cause."""


def main() -> int:
    """Explain every failure, print a line each and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bench/results/failures.json"))
    options = parser.parse_args()
    results = [explain(path) for path in sorted(options.folder.glob("*.json"))]
    for one in results:
        print(line(one))
    wrong = [one["name"] for one in results if one["first"] != one["expected"]]
    print(f"{len(results) - len(wrong)} of {len(results)} named first")
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    options.out.write_text(json.dumps({**machine, "failures": results}, indent=1) + "\n")
    return int(bool(wrong))


def explain(path: Path) -> dict[str, Any]:
    """Return what is said of one failure, and how long it took in seconds."""
    case = json.loads(path.read_text())
    text = explain_text(f"{case['error_type']}: {case['message']}")
    snapshot = path.with_suffix(".pickle.gz")
    alone, both, seconds = None, text, 0.0
    if snapshot.is_file():
        data = read_snapshot(snapshot)
        alone = explain_recording(None, data, 0)
        begin = time.perf_counter()
        both = combine(text, explain_recording(text, data, 0, observed(case)))
        seconds = time.perf_counter() - begin
    elif text.device_memory:
        both = combine(text, explain_facts(text, LiveFacts(stats=case["stats"])))
    return {
        "name": case["name"],
        "truth": case["truth"],
        "expected": TRUTHS[case["name"]],
        "first": both.causes[0].id if both.causes else "",
        "confidence": round(both.causes[0].confidence, 2) if both.causes else 0.0,
        "headline": both.headline.render(),
        "evidence": [one.render() for one in both.causes[0].evidence] if both.causes else [],
        "by_text": ranked(text),
        "by_snapshot": [] if alone is None else ranked(alone),
        "by_both": ranked(both),
        "seconds": round(seconds, 4),
    }


def observed(case: dict[str, Any]) -> LiveFacts:
    """Return what the out-of-memory observer was told; its total is what the process is allowed."""
    told = case["observer"][-1]
    return LiveFacts(
        limit=told["device_total"], free=told["device_free"], segment=told["requested"]
    )


def ranked(found: Diagnosis) -> list[list[Any]]:
    """Return the causes with their confidence."""
    return [[cause.id, round(cause.confidence, 2)] for cause in found.causes]


def line(one: dict[str, Any]) -> str:
    """Return one failure as a line."""
    right = "right" if one["first"] == one["expected"] else "WRONG"
    said = f"{one['first'] or '-'} {one['confidence']:.2f}"
    return f"{one['name']:22}{right:6} {said:40} {one['seconds'] * 1000:5.0f} ms  {one['truth']}"


if __name__ == "__main__":
    sys.exit(main())
