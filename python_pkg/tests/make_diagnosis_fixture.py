"""Writes tests/fixtures/diagnosis: the diagnoses that the tests of both languages share.

    python python_pkg/tests/make_diagnosis_fixture.py

Each file is what a notebook holds under `application/vnd.memtrack.diagnosis.v1+json`: `full` with
everything that can be known, `text` from a message alone, `crash` a failure that is not of memory,
`none` where no error was found. Names that must be escaped are among them, and sizes beyond 2^32.
"""

import json
from pathlib import Path

from memtrack.analysis.parts import ESTIMATED, Part
from memtrack.diagnosis.diagnosis import (
    Advice,
    Cause,
    Check,
    Diagnosis,
    Holder,
    Needed,
    Place,
    Process,
)
from memtrack.diagnosis.titles import title
from memtrack.i18n import text
from memtrack.reports.diagnosispayload import encode_diagnosis
from memtrack.reports.words import PARTS, literal

FOLDER = Path(__file__).parent / "fixtures" / "diagnosis"
MIB, GIB = 1 << 20, 1 << 30
MESSAGE = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.70 GiB of"
    " which 512.00 MiB is free. Process 4121 has 1.20 GiB memory in use. Including non-PyTorch"
    " memory, this process has 22.00 GiB memory in use. Of the allocated memory 20.60 GiB is"
    " allocated by PyTorch, and 921.60 MiB is reserved by PyTorch but unallocated."
)
TOTAL = 23 * GIB + 717 * MIB


def full():
    """Everything known: a real peak in forward of a layer, with the live process at hand."""
    parts = [
        Part("parameter", 3 * GIB + 100 * MIB),
        Part("gradient", GIB),
        Part("activation", 14 * GIB + 819 * MIB),
        Part("temporary", GIB + 719 * MIB),
        Part("cache", 921 * MIB),
        Part("context", 512 * MIB, ESTIMATED),
        Part("others", GIB + 204 * MIB),
    ]
    parts.append(Part("free", TOTAL - sum(part.bytes for part in parts)))
    return Diagnosis(
        kind="cuda_oom",
        device_memory=True,
        headline=literal(
            "Out of memory in forward of layers.17.self_attn:"
            " 2.00 GiB asked for, largest free block 612 MiB"
        ),
        numbers={
            "requested": 2 * GIB,
            "total": TOTAL,
            "free": 512 * MIB,
            "allocated": 20 * GIB + 614 * MIB,
            "reserved": 21 * GIB + 512 * MIB,
            "reserved_unallocated": 921 * MIB,
            "process": 22 * GIB,
        },
        other_processes=[Process(4121, GIB + 204 * MIB), Process(77, -1)],
        causes=[
            Cause(
                "capacity",
                0.93,
                title("capacity"),
                [
                    text("At the peak: {shares}", shares=PARTS["activation"]),
                    literal("<b>escaped</b> & {kept}"),
                ],
            ),
            Cause("fragmentation", 0.05, title("fragmentation"), [literal("612 MiB < 2.00 GiB")]),
        ],
        contradictions=[literal("allocated 20.6 GiB > reserved 20.1 GiB")],
        checks=[
            Check("who", literal("See who holds it"), "%memtrack who"),
            Check("batch", literal("Look at the batch")),
        ],
        advice=[
            Advice(
                "autocast",
                literal("bf16 autocast"),
                literal("faster"),
                'with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = model(batch)',
                [literal("from Ampere on")],
                5 * GIB + 512 * MIB,
            ),
            Advice("accumulate", literal("micro-batch 12, accumulate 2"), literal("+4 % time")),
        ],
        needed=Needed(2 * GIB, 2 * GIB + 2 * MIB, 612 * MIB, 921 * MIB, 512 * MIB, GIB + 204 * MIB),
        place=Place("forward", "layers.17.self_attn", 3, "train.py:88"),
        holders=[
            Holder(PARTS["activation"], 14 * GIB + 819 * MIB, 412),
            Holder(literal("layers.0.<mlp>"), 900 * MIB, 3),
        ],
        parts=parts,
        message=MESSAGE,
        later=[literal("RuntimeError: NCCL communicator was aborted")],
    )


def of_text():
    """From a message alone: figures, no parts, no place; the cause cannot be told."""
    return Diagnosis(
        kind="cuda_oom",
        device_memory=True,
        headline=literal("Out of memory on GPU 0: 2.00 GiB asked for, 512 MiB of 23.7 GiB free."),
        numbers={"requested": 2 * GIB, "total": TOTAL, "free": 512 * MIB},
        causes=[Cause("unknown", 0.3, title("unknown"))],
        checks=[Check("live", literal("Run it again with memtrack loaded"), "%load_ext memtrack")],
        needed=Needed(segment=2 * GIB, device_free=512 * MIB),
        message=MESSAGE,
    )


def crash():
    """A failure that is not of memory: the context is corrupted."""
    return Diagnosis(
        kind="not_oom",
        device_memory=False,
        headline=literal(
            "Not out of memory: a kernel read or wrote outside its memory (illegal access)."
        ),
        causes=[Cause("not_oom_bad_index_or_int32", 0.7, title("not_oom_bad_index_or_int32"))],
        checks=[
            Check("blocking", literal("Find the kernel"), "CUDA_LAUNCH_BLOCKING=1 python train.py")
        ],
        message="CUDA error: an illegal memory access was encountered",
    )


def nothing():
    """Nothing was found."""
    return Diagnosis(
        kind="none",
        device_memory=False,
        headline=literal("No memory error found, and no other error either."),
    )


DIAGNOSES = {"full": full, "text": of_text, "crash": crash, "none": nothing}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in DIAGNOSES.items():
        payload = json.dumps(encode_diagnosis(make()), ensure_ascii=False, indent=1)
        (FOLDER / f"{name}.json").write_text(payload + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
