"""Whether a recording tells the truth: its peak and names against an untracked run of its own.

    python bench/peaks.py [--models NAMES] [--variants NAMES] [--steps N] [--jobs N] [--out FILE]

For each model and variant two fresh processes train the same steps: one bare, which asks torch for
`max_memory_allocated`, one recorded. The figures are the difference of the peaks, the share of the
peak's bytes that have a category, the share of its activations that have a layer, and whether the
parts sum to the whole at every event. Needs a CUDA GPU; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

MARK = "RESULT "
BATCHES = {
    "gpt2-124m": (8, 512),
    "bert-base": (32, 128),
    "llama-300m": (4, 1024),
    "qwen2-500m": (4, 512),
    "t5-small": (16, 512),
    "vit-base": (32, 0),
    "resnet-50": (32, 0),
    "mlp": (4096, 0),
}
VARIANTS = ("base", "autocast-bf16", "checkpoint")


def build(name: str) -> tuple[Any, Callable[[int, int], dict[str, Any]]]:
    """Return a model with random weights, and what makes a batch for it."""
    import torch
    import transformers as hf

    def tokens(vocabulary: int, shrink: int = 1) -> Callable[[int, int], dict[str, Any]]:
        return lambda batch, length: {
            "input_ids": torch.randint(0, vocabulary, (batch, length)),
            "labels": torch.randint(0, vocabulary, (batch, length // shrink)),
        }

    def images(batch: int, _: int) -> dict[str, Any]:
        return {
            "pixel_values": torch.randn(batch, 3, 224, 224),
            "labels": torch.randint(0, 1000, (batch,)),
        }

    if name == "gpt2-124m":
        config = hf.GPT2Config()
        return hf.GPT2LMHeadModel(config), tokens(config.vocab_size)
    if name == "bert-base":
        config = hf.BertConfig()
        return hf.BertForMaskedLM(config), tokens(config.vocab_size)
    if name == "llama-300m":
        shape = {"hidden_size": 1024, "num_hidden_layers": 16, "num_attention_heads": 16}
        rest = {"num_key_value_heads": 4, "intermediate_size": 2816, "vocab_size": 32000}
        return hf.LlamaForCausalLM(hf.LlamaConfig(**shape, **rest)), tokens(32000)
    if name == "qwen2-500m":
        shape = {"hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14}
        rest = {"num_key_value_heads": 2, "intermediate_size": 4864, "vocab_size": 151936}
        config = hf.Qwen2Config(**shape, **rest, tie_word_embeddings=True)
        return hf.Qwen2ForCausalLM(config), tokens(config.vocab_size)
    if name == "t5-small":
        config = hf.T5Config(decoder_start_token_id=0, pad_token_id=0)
        return hf.T5ForConditionalGeneration(config), tokens(config.vocab_size, shrink=4)
    if name == "vit-base":
        return hf.ViTForImageClassification(hf.ViTConfig(num_labels=1000)), images
    if name == "resnet-50":
        return hf.ResNetForImageClassification(hf.ResNetConfig(num_labels=1000)), images
    return perceptron(), lambda batch, _: {
        "x": torch.randn(batch, 1024),
        "y": torch.randint(0, 1000, (batch,)),
    }


def perceptron() -> Any:
    """Return a plain stack of linear layers with its loss inside."""
    from torch import nn

    class Lossy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(
                *(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.GELU()),
                *(nn.Dropout(0.1), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)),
            )
            self.loss = nn.CrossEntropyLoss()

        def forward(self, x: Any, y: Any) -> dict[str, Any]:
            return {"loss": self.loss(self.net(x), y)}

    return Lossy()


def training(name: str, variant: str) -> tuple[Any, Any, Callable[[], None]]:
    """Return the model and optimizer on the GPU, and one step of training."""
    import torch

    torch.manual_seed(0)
    batch, length = BATCHES[name]
    with torch.device("cuda"):
        model, make = build(name)
    if variant == "checkpoint":
        options = {"use_reentrant": False}
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=options)
        model.config.use_cache = False
    model.train()
    data = {key: tensor.cuda() for key, tensor in make(batch, length).items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    casts = variant == "autocast-bf16"

    def loss_of() -> Any:  # the rest of the output is let go before backward
        with torch.autocast("cuda", torch.bfloat16, enabled=casts):
            return model(**data)["loss"]

    def step() -> None:
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()

    return model, optimizer, step


def bare(name: str, variant: str, steps: int) -> dict[str, Any]:
    """Train untracked; return the peak that torch counts, bytes."""
    import torch

    _model, _optimizer, step = training(name, variant)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    torch.cuda.reset_peak_memory_stats()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return {
        "peak": torch.cuda.max_memory_allocated(),
        "allocations": torch.cuda.memory_stats()["allocation.all.allocated"] - before,
        "reserved": torch.cuda.max_memory_reserved(),
    }


def recorded(name: str, variant: str, steps: int) -> dict[str, Any]:
    """Train recorded; return what the recording says of its peak, and what it cost the device."""
    import numpy as np
    import torch

    from memtrack.analysis import allocated, by_category, ledger, peak
    from memtrack.analysis.agreement import agreement
    from memtrack.analysis.reserved import reserved
    from memtrack.capture import Recorder
    from memtrack.recording import Category

    model, _optimizer, step = training(name, variant)
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    recorder = Recorder(model, steps=steps + 1, label=name)
    recorder.enter()
    for _ in range(steps):
        step()
    recorder.leave()
    torch.cuda.synchronize()
    statistics = torch.cuda.memory_stats()
    data = recorder.finish()
    data.self_check()
    highest = peak(data, 0)
    table = data.allocations
    alive = (table["start"] < highest.cut) & (highest.cut <= table["end"])
    sizes, categories = table["bytes"], table["category"]
    activations = alive & np.isin(
        categories, (Category.ACTIVATION, Category.OUTPUT, Category.RECOMPUTED)
    )
    levels = allocated(data, 0)
    cuts = np.arange(data.cuts + 1)
    held = reserved(data, 0, cuts, levels)
    parts = ledger(data, 0, highest.cut)
    shares = {
        Category(code).id: int(sizes[alive & (categories == code)].sum())
        for code in np.unique(categories[alive])
    }
    return {
        "peak": highest.bytes,
        "steps": data.steps,
        "events": data.cuts,
        "allocations": statistics["allocation.all.allocated"] - before,
        "known": 1 - shares.get("unknown", 0) / highest.bytes,
        "in_layers": _share(sizes, activations & (table["layer"] >= 0), activations),
        "categories_sum": bool((by_category(data, 0, cuts).sum(axis=1) == levels).all()),
        "reserved_covers": bool((held >= levels).all()),
        "reserved": int(held.max()),
        "parts_sum": sum(part.bytes for part in parts.parts) == parts.total,
        "samples_sum": agreement(data, 0).differ == (),
        "bytes": shares,
    }


def _share(sizes: Any, part: Any, whole: Any) -> float | None:
    """Return which part of the bytes of `whole` those of `part` are; None where there are none."""
    total = int(sizes[whole].sum())
    return int(sizes[part].sum()) / total if total else None


def in_process(kind: str, name: str, variant: str, steps: int) -> dict[str, Any]:
    """Run one side in a process of its own; `{"error": …}` with its last line where it fails."""
    command = [sys.executable, __file__, "--one", kind, name, variant, str(steps)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in ran.stdout.splitlines():
        if line.startswith(MARK):
            result: dict[str, Any] = json.loads(line[len(MARK) :])
            return result
    return {"error": (ran.stderr.strip().splitlines() or ["no output"])[-1][:300]}


def compare(name: str, variant: str, steps: int) -> dict[str, Any]:
    """Return both sides of one configuration and how far they are apart."""
    plain, ours = (in_process(kind, name, variant, steps) for kind in ("bare", "recorded"))
    result = {"model": name, "variant": variant, "bare": plain, "recorded": ours}
    if "error" not in plain and "error" not in ours:
        result["peak_error"] = (ours["peak"] - plain["peak"]) / plain["peak"]
        result["reserved_error"] = (ours["reserved"] - plain["reserved"]) / plain["reserved"]
        result["allocations_added"] = ours["allocations"] - plain["allocations"]
    return result


def main() -> None:
    """Measure, print a line a configuration, and write the figures where asked."""
    if sys.argv[1:2] == ["--one"]:
        run = {"bare": bare, "recorded": recorded}[sys.argv[2]]
        print(MARK + json.dumps(run(sys.argv[3], sys.argv[4], int(sys.argv[5]))), flush=True)
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=BATCHES, default=list(BATCHES))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    work = [
        (name, variant, options.steps)
        for variant in options.variants
        for name in options.models
        if not (variant == "checkpoint" and name in ("resnet-50", "mlp"))  # have none
    ]
    results: list[dict[str, Any]] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda one: compare(*one), work):
            results.append(result)
            print(result["model"], result["variant"], json.dumps(result.get("peak_error")))
            if options.out:
                write(options.out, results)
    print(json.dumps(worst(results)))


def write(path: Path, results: list[dict[str, Any]]) -> None:
    """Write the figures so far."""
    figures = {
        "command": "python bench/peaks.py",
        **surroundings(),
        "worst": worst(results),
        "results": results,
    }
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def worst(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the worst of each figure over all configurations that ran."""
    ran = [one for one in results if "peak_error" in one]
    ours = [one["recorded"] for one in ran]
    return {
        "configurations": len(ran),
        "failed": len(results) - len(ran),
        "peak_error": max((abs(one["peak_error"]) for one in ran), default=None),
        "reserved_error": max((abs(one["reserved_error"]) for one in ran), default=None),
        "allocations_added": max((abs(one["allocations_added"]) for one in ran), default=None),
        "known": min((one["known"] for one in ours), default=None),
        "in_layers": min(
            (one["in_layers"] for one in ours if one["in_layers"] is not None), default=None
        ),
        "sums": all(
            one["categories_sum"] and one["parts_sum"] and one["samples_sum"] for one in ours
        ),
    }


def surroundings() -> dict[str, str]:
    """Return the versions and the hardware the figures were taken with."""
    import torch
    import transformers

    return {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "python": platform.python_version(),
        "hardware": torch.cuda.get_device_name(),
    }


if __name__ == "__main__":
    main()
