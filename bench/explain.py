"""How well texts of public errors are read and explained, against a file of known cases.

    python bench/explain.py CASES.jsonl [--failures FOLDER] [--megabytes 100]
        [--out bench/results/explain.json]

CASES has one object a line: `message`, `kind`, `parsed_bytes`, `parsed_text`, `root_cause_class`,
`root_cause_basis`. FOLDER holds failures that were provoked on a GPU, one JSON object each with
`message` and `truth`. Figures are counted where the message itself has them: some cases were
collected with figures from elsewhere in their threads. A log of so many megabytes, an error in every
200,000 lines, shows what reading costs. Exit code 1 when a figure is wrong, or a wrong
cause is told with a confidence of 0.6 or more in over 2 % of the cases.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

if find_spec("memtrack") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python_pkg"))

from memtrack.diagnosis.diagnosis import SURE
from memtrack.diagnosis.explain import explain_text
from memtrack.diagnosis.reading import read_lines

UNKNOWN = 1 << 63
MOST_WRONG = 0.02
FIRST = 3
STATED = "stated in the thread"
# Figures go by the contract's names here and by older ones in the cases.
NAMES = {
    "process_in_use": "process",
    "mps_allocated": "allocated",
    "max_allowed": "allowed",
    "smi_used": "device_used",
    "smi_total": "device_total",
}
# Kinds of the cases that say how a report was filed, not what the message is.
BY_STORY = {"story", "mixed"}
HOST = {
    "cpu_oom", "host", "host_pinned", "shm_bus_error", "jupyter", "triton", "viewer", "not_oom",
}  # fmt: skip
HOST_CAUSES = {"host_ram_exhausted", "viewer_or_snapshot_problem", "shm_or_bus_error"}


def wanted_numbers(case: dict) -> dict[str, int]:
    """Return the figures that a case's message has, by the contract's names."""
    squeezed = "".join(case["message"].lower().split())
    limit_name = "limit" if case["kind"].startswith("triton") else "allowed"
    found = {}
    for name, value in case["parsed_bytes"].items():
        printed = case["parsed_text"].get(name)
        if not isinstance(value, int) or value >= UNKNOWN:
            continue
        if printed is None or "".join(str(printed).lower().split()) not in squeezed:
            continue
        found[limit_name if name == "limit" else NAMES.get(name, name)] = value
    return found


def wanted_processes(case: dict) -> list[int]:
    """Return what other processes hold, -1 where the message has no figure for it."""
    listed = case["parsed_bytes"].get("processes", [])
    return [-1 if value >= UNKNOWN else value for value in listed]


def on_device(case: dict) -> bool:
    """Tell whether a case is about device memory, by its kind; of a story by its cause."""
    kind = case["kind"].split(".")[0]
    if kind not in BY_STORY:
        # Two kinds of the driver: one a failure of an option, the other memory under another name.
        return kind not in HOST and case["kind"] != "cuda_driver.expandable_unknown"
    if case["message"].startswith("("):
        words = case["message"].lower()
        return not any(word in words for word in ("host ram", "cpu ram", "kernel crashes"))
    return case["kind"] != "story.checkpoint_reentrant"


def read_case(case: dict) -> dict:
    """Return what was found for a case, and what of it is right."""
    diagnosis = explain_text(case["message"])
    told = [(cause.id, round(cause.confidence, 2)) for cause in diagnosis.causes]
    truth = case["root_cause_class"]
    numbers = wanted_numbers(case)
    processes = [one.bytes for one in diagnosis.other_processes]
    exact = all(diagnosis.numbers.get(name) == value for name, value in numbers.items())
    expected = case["kind"].split(".")[0]
    return {
        "id": case["id"],
        "kind": diagnosis.kind,
        "expected": expected,
        "kind_right": diagnosis.kind == expected,
        "numbers": len(numbers) + len(wanted_processes(case)),
        "exact": exact and processes == wanted_processes(case),
        "device_memory_right": diagnosis.device_memory == on_device(case),
        "truth": truth,
        "told": told[:FIRST],
        "stated": case["root_cause_basis"].startswith(STATED),
        "among_first": truth in [name for name, _ in told[:FIRST]],
        "wrong_and_sure": any(name != truth and sure >= SURE for name, sure in told),
    }


def measure(cases: list[dict]) -> dict:
    """Return the shares and the table of confusion."""
    found = [read_case(case) for case in cases]
    stated = [one for one in found if one["stated"]]
    confusion = Counter((one["truth"], (one["told"] or [("none", 0)])[0][0]) for one in found)
    wrong = [one for one in found if one["wrong_and_sure"]]
    return {
        "cases": len(found),
        "with_numbers": sum(one["numbers"] > 0 for one in found),
        "numbers_exact": sum(one["exact"] for one in found),
        "device_memory_right": sum(one["device_memory_right"] for one in found),
        "kind_right": sum(one["kind_right"] for one in found),
        "stated_causes": len(stated),
        "stated_among_first_three": sum(one["among_first"] for one in stated),
        "wrong_and_sure": len(wrong),
        "wrong_and_sure_share": round(len(wrong) / len(found), 4),
        "not_exact": [one["id"] for one in found if not one["exact"]],
        "device_memory_wrong": [one["id"] for one in found if not one["device_memory_right"]],
        "other_kind": {
            one["id"]: f"{one['expected']} → {one['kind']}"
            for one in found
            if not one["kind_right"]
        },
        "stated_and_missed": {
            one["id"]: {"truth": one["truth"], "told": one["told"]}
            for one in stated
            if not one["among_first"]
        },
        "wrong_and_sure_cases": {
            one["id"]: {"truth": one["truth"], "told": one["told"]} for one in wrong
        },
        "confusion": [
            {"truth": truth, "told_first": told, "cases": count}
            for (truth, told), count in sorted(confusion.items())
        ],
    }


def provoked(folder: Path) -> list[dict]:
    """Return what the message alone tells of failures whose truth is known."""
    rows = []
    for path in sorted(folder.glob("*.json")):
        failure = json.loads(path.read_text())
        diagnosis = explain_text(f"{failure['error_type']}: {failure['message']}")
        rows.append(
            {
                "name": failure["name"],
                "truth": failure["truth"],
                "kind": diagnosis.kind,
                "device_memory": diagnosis.device_memory,
                "told": [(one.id, round(one.confidence, 2)) for one in diagnosis.causes[:FIRST]],
            }
        )
    return rows


def long_log(megabytes: int) -> dict[str, float]:
    """Return what it takes to read a long log: seconds, and the growth of the process in MiB."""
    line = (
        "2026-01-01 00:00:00 INFO trainer step {} loss 0.1 lr 1e-4 tokens/s 10234 grad norm 0.5\n"
    )
    error = "CUDA out of memory. Tried to allocate {}.00 MiB (GPU 0; 10.00 GiB total capacity;"

    def lines():
        for number in range(megabytes * 1_000_000 // len(line)):
            yield line.format(number)
            if number % 200_000 == 1000:
                yield error.format(number // 1000 + 2) + "\n"

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    reading = read_lines(lines())
    seconds = time.perf_counter() - begin
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "megabytes": megabytes,
        "seconds": round(seconds, 2),
        "grown_mib": round(grown / 1024, 1),
        "failures": len(reading.failures),
    }


def main() -> int:
    """Measure, write, and say whether it suffices."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--failures", type=Path)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("bench/results/explain.json"))
    options = parser.parse_args()
    lines = options.cases.read_text(encoding="utf-8").splitlines()
    result = measure([json.loads(line) for line in lines if line.strip()])
    if options.failures:
        result["failures"] = provoked(options.failures)
    result["long_log"] = long_log(options.megabytes)
    options.out.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    for name, value in result.items():
        if not isinstance(value, list) or len(value) < 12:
            print(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    enough = result["numbers_exact"] == result["cases"]
    return int(not enough or result["wrong_and_sure_share"] > MOST_WRONG)


if __name__ == "__main__":
    sys.exit(main())
