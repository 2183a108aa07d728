"""Write fixtures/ranks/ranks.json: four ranks, of which one has left nothing and one was killed.

Rank 1 has three times the batch of the others. TypeScript reads the same file.
"""

import json
from pathlib import Path

from synthetic import Category, PhaseKind, Script

from memtrack.rankfacts import RankFacts
from memtrack.reports.ranks import build_ranks_report
from memtrack.reports.rankspayload import encode_ranks

FOLDER = Path(__file__).parent / "fixtures" / "ranks"
MIB = 1 << 20
WORLD_SIZE = 4
BATCHES = {0: 1, 1: 3, 3: 1}
PARAMETERS, ACTIVATION = 64 * MIB, 100 * MIB


def rank(number, batch, *, steps=2, state="complete"):
    """One rank: parameters, and in each step an activation of each of two layers."""
    script = Script()
    script.device("cuda", number, "NVIDIA Test 24GB", total=24 << 30)
    root = script.layer("model", type_="DistributedDataParallel")
    head = script.layer("head", root, "Linear", parameters=PARAMETERS // 4)
    body = script.layer("body", root, "Linear")
    script.older(PARAMETERS, Category.PARAMETER, layer=head, name="head.weight")
    for step in range(steps):
        script.phase(PhaseKind.FORWARD, step)
        held = []
        for layer, share in ((head, 3), (body, 1)):
            with script.call(layer, f"{batch}×8", size=share * batch * ACTIVATION):
                size = share * batch * ACTIVATION
                held.append(script.alloc(size, Category.ACTIVATION, layer=layer))
        script.phase(PhaseKind.BACKWARD, step)
        for row in held:
            script.free(row)
    return script.build(label="train", state=state, identifier=f"run-{number}", source="allocator")


def members():
    """Rank, file and what reads it."""
    states = {3: "recording"}
    return [
        (
            RankFacts(number, WORLD_SIZE, number, "node", 1000 + number),
            f"train.rank{number}.memtrack",
            lambda number=number, batch=batch: rank(
                number, batch, state=states.get(number, "complete")
            ),
        )
        for number, batch in BATCHES.items()
    ]


def payload():
    """What the browser gets."""
    return encode_ranks(build_ranks_report("train", WORLD_SIZE, members()))


def main():
    """Write the file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps(payload(), ensure_ascii=False, indent=1)
    (FOLDER / "ranks.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
