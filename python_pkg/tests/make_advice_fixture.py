"""Writes tests/fixtures/advice/advice.json: the advice that the tests of both languages share.

    python python_pkg/tests/make_advice_fixture.py

It is the optional member `advice` of a report's payload. Every kind of figure, cost and evidence is
in it, a remedy that needs more than the run as it is, and names that must be escaped.
"""

import json
from pathlib import Path

from memtrack.i18n import Text, text
from memtrack.remedies import Advised, Base, Combination, Remedy
from memtrack.reports.advicepayload import encode_advice

FOLDER = Path(__file__).parent / "fixtures" / "advice"
GIB = 1 << 30
PEAK = 8 * GIB + 96 * (1 << 20)


def remedy(name, title, saving, **more):
    """A remedy that helps, by default known from a simulation and free."""
    values = {
        "applies": True,
        "why": text("activations"),
        "cost": text("nothing"),
        "cost_class": "none",
        "harm": 1,
        "saving_bytes": saving,
        "peak": PEAK - saving,
        "low": PEAK - saving,
        "high": PEAK - saving,
        "evidence": "simulated",
        "code": "",
    }
    return Remedy(id=name, title=Text(title), **{**values, **more})


def advised():
    """What helps in a run that reaches 8 GiB and is to fit into 4."""
    checkpoint = remedy(
        "checkpoint_blocks",
        "checkpoint each of the 24 blocks",
        4 * GIB,
        harm=5,
        cost_class="medium",
        caveats=(Text("BatchNorm sees every batch twice."), Text("No in-place changes.")),
        code="x = checkpoint(self.block, x, use_reentrant=False)",
    )
    autocast = remedy(
        "autocast_bf16",
        "bf16 autocast",
        2 * GIB,
        evidence="estimated",
        low=PEAK - 2 * GIB - GIB // 4,
        high=PEAK - GIB,
        caveats=(Text("From Ampere on."),),
        code='with torch.autocast("cuda", dtype=torch.bfloat16):\n    loss = model(batch)',
    )
    fused = remedy("fused_loss", "fused <loss>", 3 * GIB, harm=2, evidence="predicted")
    accumulate = remedy("accumulate", "micro-batch 4, accumulate 2", GIB, harm=3, cost_class="low")
    loop = remedy("loop_optimizer", "optimizer without foreach", -GIB // 4, cost_class="high")
    unknown = Remedy(
        id="lora",
        title=Text("LoRA"),
        applies=True,
        why=Text("Which layers are adapted is not known: predict the run with them."),
        cost=text("nothing"),
        cost_class="none",
        harm=9,
    )
    refused = Remedy(
        id="set_to_none",
        title=Text("zero_grad(set_to_none=True)"),
        applies=False,
        why=Text("The gradients are let go already."),
        cost=text("nothing"),
        cost_class="none",
        harm=0,
    )
    best = [fused, checkpoint]
    mild = [autocast, accumulate]
    return Advised(
        Base(PEAK, PEAK + GIB // 2),
        [checkpoint, fused, autocast, accumulate, loop, unknown, refused],
        [
            Combination(_ids(best), _titles(best), 2 * GIB, PEAK - 2 * GIB, None, fits=True),
            Combination(_ids(mild), _titles(mild), 5 * GIB, PEAK - 5 * GIB, None, fits=False),
        ],
        budget=4 * GIB,
    )


def _ids(remedies):
    return [one.id for one in remedies]


def _titles(remedies):
    return [one.title for one in remedies]


def main():
    """Write the file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    content = json.dumps(encode_advice(advised()), indent=1, ensure_ascii=False)
    (FOLDER / "advice.json").write_text(content + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
