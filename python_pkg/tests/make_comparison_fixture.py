"""Writes tests/fixtures/comparison and tests/fixtures/runs: what the tests of both languages share.

    python python_pkg/tests/make_comparison_fixture.py

`comparison/comparison.json` is {"comparison": payload, "lengths": [bytes of each buffer]},
`comparison/comparison.bin` its buffers one after the other, `comparison/notebook.json` the same as a
notebook holds it; `runs/history.json` is what a notebook holds of a list of runs.

The runs: a model of two roots in which a block was renamed, a head widened, a class changed, an
adapter added and a pooler removed, on a GPU beyond 2^32 bytes; names that must be escaped.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from synthetic import Script

from memtrack.comparison import compare
from memtrack.recording import Category, PhaseKind
from memtrack.reports.comparison import Diff
from memtrack.reports.comparisonpayload import encode_comparison, packed_comparison
from memtrack.reports.history import RunList
from memtrack.reports.historypayload import encode_history
from memtrack.runs import Run

FIXTURES = Path(__file__).parent / "fixtures"
MIB = 1 << 20
STARTED = "2026-03-01T12:00:00+00:00"


def run(after):
    """Return the recording before or after the change: three steps of a small model."""
    script = Script()
    script.device("cuda", 0, "NVIDIA Test 24GB", total=24 << 30, context=300 * MIB)
    head = (600 if after else 400) * MIB
    sizes = {}

    def layer(name, parent, kind, size=0):
        row = script.layer(name, parent, kind, parameters=size // 4, parameter_bytes=size)
        if size:
            sizes[row] = size
        return row

    gpt = layer("gpt", -1, "TinyGPT")
    layer("embed", gpt, "Embedding", 400 * MIB)
    blocks = layer("layers" if after else "h", gpt, "ModuleList")
    for number in range(2):
        block = layer(str(number), blocks, "Block")
        layer("attn", block, "Attention", 24 * MIB)
        layer("mlp", block, "GatedMLP" if after else "MLP", 48 * MIB)
    if after:
        layer("adapter <b>", gpt, "LoRA", 3 * MIB)
    layer("head", gpt, "Linear", head)
    if not after:
        layer("pooler", gpt, "Pooler", 2 * MIB)
    layer("loss", -1, "CrossEntropyLoss")
    script.phase(PhaseKind.OTHER)
    for row, size in sizes.items():
        script.alloc(size, Category.PARAMETER, layer=row)
        script.alloc(2 * size, Category.OPTIMIZER_STATE, layer=row)
    for step in range(3):
        _step(script, step, sizes, 7 if after else 12)
    script.mark("after <training>")
    return script.build(
        label="gpt",
        identifier=("b" if after else "a") * 32,
        started=STARTED,
        source="allocator",
        versions={"torch": "2.13.0" if after else "2.12.1"},
        extra={"run": {"commit": ("2" if after else "1") * 40, "batches": ["x 8×512 int64"]}},
    )


def _step(script, step, sizes, activations):
    script.phase(PhaseKind.FORWARD, step)
    kept = []
    for row, size in sizes.items():
        with script.call(row, "8×512×768", size=activations * MIB) as call:
            kept.append(script.alloc(activations * MIB + size // 8, layer=row))
            script.save(kept[-1], call)
    script.phase(PhaseKind.BACKWARD, step)
    gradients = []
    for row, block in zip(reversed(sizes), reversed(kept), strict=True):
        gradients.append(script.alloc(sizes[row], Category.GRADIENT, layer=row))
        script.free(block)
    script.sample(0, reserved=9 << 30, process=10 << 30, used=11 << 30)
    script.phase(PhaseKind.OPTIMIZER, step)
    script.free(script.alloc(64 * MIB, Category.TEMPORARY))
    for block in gradients:
        script.free(block)


def diff():
    """Return the comparison of both, as runs 12 and 14 of a history."""
    return Diff(compare(run(False), run(True)), (12, 14), ("before <i>", ""))


def runs():
    """Return a list of three runs: a baseline, a deleted name, one without most facts."""
    spark = np.linspace(0, 1, 60)
    newest = Run(
        id=14,
        identifier="b" * 32,
        created=1_772_366_400.25,
        label="gpt",
        name="wide <head>",
        state="complete",
        evidence="measured",
        notebook="/home/me/train.ipynb",
        cell=7,
        device="NVIDIA Test 24GB",
        peak=5_100_273_664,
        reserved=6_000_000_000,
        step_ns=41_200_000,
        steps=3,
        structure="c" * 32,
        parameters=124_439_808,
        commit="1" * 40,
        dirty=True,
        note="a note & more",
        pinned=True,
        baseline=False,
        deleted=False,
        file="recordings/x.memtrack",
        file_bytes=1234,
        spark=spark,
        tags=("bf16", "checkpointed"),
    )
    base = replace(
        newest, id=12, identifier="a" * 32, name="", note="", pinned=False, baseline=True
    )
    base = replace(base, created=1_772_280_000.0, dirty=False, tags=(), structure="d" * 32)
    bare = replace(
        base, id=3, identifier="f" * 32, created=1_772_000_000.0, baseline=False, file=""
    )
    bare = replace(bare, notebook="", cell=None, reserved=None, step_ns=None, steps=0, parameters=0)
    bare = replace(bare, structure="", commit="", evidence="predicted", state="interrupted")
    listed = [newest, base, replace(bare, spark=np.zeros(60))]
    return RunList(listed, folder="/home/me/.memtrack", total=1203)


def main():
    """Write all files."""
    payload, buffers = encode_comparison(diff())
    comparison = {"comparison": payload, "lengths": [len(one) for one in buffers]}
    _write("comparison/comparison.json", comparison)
    (FIXTURES / "comparison" / "comparison.bin").write_bytes(b"".join(buffers))
    _write("comparison/notebook.json", packed_comparison(payload, buffers))
    _write("runs/history.json", encode_history(runs()))


def _write(name, content):
    path = FIXTURES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
