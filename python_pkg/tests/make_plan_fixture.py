"""Writes tests/fixtures/plans/cases.json: plans that Python and TypeScript must compute alike.

    python python_pkg/tests/make_plan_fixture.py

Each case has the inputs of a planner and its answer. `payload.json` is what a notebook holds under
`application/vnd.memtrack.plan.v1+json`.
"""

import json
from dataclasses import asdict
from pathlib import Path

from memtrack.planners.capacity import Capacity
from memtrack.planners.generation import kv_parts, largest_batch, longest_sequence
from memtrack.planners.inputs import KvInputs, LedgerInputs, LoadingInputs, as_json
from memtrack.planners.ledger import ledger_parts
from memtrack.planners.loading import loading_ways
from memtrack.planners.parts import verdict
from memtrack.reports.plan import Plan
from memtrack.reports.planpayload import encode_plan

FOLDER = Path(__file__).parent / "fixtures" / "plans"
GIB = 1 << 30
LLAMA = {"layers": 32, "hidden": 4096, "heads": 32, "sequence": 4096, "vocabulary": 32_000}
SHAPE = {"parameters": 8_030_261_248, "hidden": 4096, "heads": 32, "intermediate": 14_336}
LLAMA3 = {"layers": 32, "kv_heads": 8, "key_size": 128, "value_size": 128, "vocabulary": 128_256}
LEDGERS = (
    LedgerInputs(10**9, optimizer="adam"),
    LedgerInputs(1_234_567_891, optimizer="adam8bit", dtype="bf16"),
    LedgerInputs(7 * 10**9, dtype="bf16", mixed="master", zero=3, gpus=8, **LLAMA),
    LedgerInputs(7 * 10**9, dtype="bf16", mixed="master", zero=1, gpus=7),
    LedgerInputs(70 * 10**9, dtype="bf16", zero=2, gpus=64, optimizer="lion"),
    LedgerInputs(13 * 10**9, mixed="autocast", gpus=4, flash=False, batch=3, **LLAMA),
    LedgerInputs(13 * 10**9, mixed="autocast", zero=3, gpus=3, checkpointing=True, **LLAMA),
    LedgerInputs(7 * 10**9, dtype="fp16", lora=0.0037, optimizer="adamw", gpus=2),
    LedgerInputs(3 * 10**9, optimizer="adafactor"),
    LedgerInputs(3 * 10**9, optimizer="adafactor", checkpointing=True, flash=False, **LLAMA),
    LedgerInputs(5, optimizer="sgd", zero=3, gpus=1000),
    LedgerInputs(7 * 10**9, dtype="bf16", optimizer="none", gpus=8, zero=3),
)
GENERATIONS = (
    KvInputs(**LLAMA3, **SHAPE),
    KvInputs(**LLAMA3, **SHAPE, length=32_768, batch=4, cache_dtype="int8", prompt=1000),
    KvInputs(**LLAMA3, **SHAPE, length=131_071, cache_dtype="int4", dtype="int4"),
    KvInputs(**LLAMA3, **SHAPE, length=8192, window=4096, windowed=26, flash=False),
    KvInputs(**LLAMA3, length=100, cache_dtype="int4", dtype="fp32", batch=3),
    KvInputs(layers=61, kv_heads=128, key_size=192, value_size=128, length=777, cache_dtype="fp8"),
)
LOADINGS = (
    LoadingInputs(7 * 10**9),
    LoadingInputs(70_553_706_496, stored="bf16", dtype="int4", built="bf16", largest=1_050_673_152),
    LoadingInputs(123_456_789, stored="fp32", dtype="fp16"),
    LoadingInputs(3, stored="int4", dtype="int4", built="int4"),
)
CAPACITIES = (4 * GIB, 24 * GIB, 85_899_345_920)


def ledger_case(inputs):
    """One training step."""
    parts = ledger_parts(inputs)
    return {
        "kind": "ledger",
        "inputs": as_json(inputs),
        "parts": {part.id: part.bytes for part in parts},
        "verdicts": _verdicts(parts),
    }


def kv_case(inputs):
    """Generation, with what fits each of the capacities."""
    parts = kv_parts(inputs)
    return {
        "kind": "kv",
        "inputs": as_json(inputs),
        "parts": {part.id: part.bytes for part in parts},
        "verdicts": _verdicts(parts),
        "longest": [longest_sequence(inputs, capacity) for capacity in CAPACITIES],
        "batches": [largest_batch(inputs, capacity) for capacity in CAPACITIES],
    }


def loading_case(inputs):
    """The ways to load, in order."""
    return {
        "kind": "loading",
        "inputs": as_json(inputs),
        "ways": [asdict(way) for way in loading_ways(inputs)],
    }


def cases():
    """All of them."""
    return {
        "capacities": list(CAPACITIES),
        "cases": [
            *map(ledger_case, LEDGERS),
            *map(kv_case, GENERATIONS),
            *map(loading_case, LOADINGS),
        ],
    }


def payload():
    """The plan of a notebook."""
    return encode_plan(Plan(LEDGERS[2], Capacity("NVIDIA A100 80GB", 85_093_000_000)))


def _verdicts(parts):
    total = sum(part.bytes for part in parts)
    return [verdict(total, capacity) for capacity in CAPACITIES]


def main():
    """Write both files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in (("cases", cases()), ("payload", payload())):
        (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
