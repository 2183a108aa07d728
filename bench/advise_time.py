"""How long `memtrack.advise` takes on a recording of a hundred thousand events.

    python bench/advise_time.py [--layers 80] [--steps 4] [--out bench/results/advise-time.json]

The recording is that of a Llama of 80 layers, trained without data, so that every remedy has work to do:
grouped attention that is written out, norms, a large vocabulary. Times are of the process, in seconds,
the median of three, without and with a budget. No GPU is needed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from pathlib import Path

import torch
import transformers

from memtrack.prediction.predict import predict
from memtrack.remedies import advise

ROUNDS = 3


def program(layers):
    """Return a `build` of the model."""

    def build():
        config = transformers.LlamaConfig(
            hidden_size=512,
            num_hidden_layers=layers,
            num_attention_heads=8,
            num_key_value_heads=2,
            intermediate_size=1408,
            vocab_size=32000,
        )
        model = transformers.LlamaForCausalLM(config).cuda()
        words = torch.randint(0, 100, (4, 512)).cuda()
        optimizer = torch.optim.AdamW(model.parameters())

        def step():
            optimizer.zero_grad()
            loss = model(input_ids=words, labels=words).loss
            loss.backward()
            optimizer.step()

        return step

    return build


def seconds(data, budget):
    """Return the median of the processor's seconds that advice on a recording takes."""
    taken = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        advise(data, budget=budget)
        taken.append(time.process_time() - begin)
    return round(statistics.median(taken), 2)


def main(arguments: list[str]) -> int:
    """Make the recording, time the advice and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=80)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path("bench/results/advise-time.json"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    data = predict(program(options.layers), steps=options.steps, gpu="H200")
    told = {
        "events": len(data.events),
        "layers": len(data.layers),
        "seconds": seconds(data, None),
        "seconds_with_budget": seconds(data, 4 << 30),
    }
    print(json.dumps(told))
    options.out.write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
