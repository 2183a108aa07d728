"""What a tracked step costs: against a bare step, and against torch's own MemTracker.

    python bench/tracking.py [--device cpu|cuda] [--rounds N] [--mem-tracker] [--out NAME.json]

Rounds of bare, tracked and MemTracker steps alternate in one process; the figure is the median over
rounds of the ratio to the bare steps of the same round. On CUDA the first passes are watched
(`first_steps_ratio`) and those that repeat them go without hooks (`memtrack_ratio`).
Models come from transformers configurations with random weights; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

from memtrack.capture import Recorder

Step = Callable[[], None]
FIRST = 5
"""Steps after which passes that repeat go unwatched."""


def gpt2(device: str) -> tuple[torch.nn.Module, torch.optim.Optimizer, Step]:
    """GPT-2: on CUDA the 124 M model with batch 4×512, on the CPU four layers with 4×128."""
    from transformers import GPT2Config, GPT2LMHeadModel

    small = {"n_layer": 4, "n_embd": 256, "n_head": 4, "vocab_size": 8192}
    config = GPT2Config(**({} if device == "cuda" else small))
    config.bos_token_id = config.eos_token_id = 0
    with torch.device(device):
        model = GPT2LMHeadModel(config)
        length = 512 if device == "cuda" else 128
        tokens = torch.randint(0, config.vocab_size, (4, length))
    optimizer = torch.optim.AdamW(model.parameters(), fused=device == "cuda")

    def step() -> None:
        optimizer.zero_grad()
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()

    return model, optimizer, step


def resnet(device: str) -> tuple[torch.nn.Module, torch.optim.Optimizer, Step]:
    """ResNet-50 with batch 16 (on the CPU: 4 images of 64×64): many small operations."""
    from transformers import ResNetConfig, ResNetForImageClassification

    with torch.device(device):
        model = ResNetForImageClassification(ResNetConfig(num_labels=1000))
        batch, side = (16, 224) if device == "cuda" else (4, 64)
        images, labels = torch.randn(batch, 3, side, side), torch.randint(0, 1000, (batch,))
    optimizer = torch.optim.AdamW(model.parameters(), fused=device == "cuda")

    def step() -> None:
        optimizer.zero_grad()
        model(images, labels=labels).loss.backward()
        optimizer.step()

    return model, optimizer, step


def timed(step: Step, steps: int, device: str) -> float:
    """Return seconds per step."""
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / steps


def tracked(model: torch.nn.Module, step: Step, steps: int, device: str) -> tuple[float, float]:
    """Return seconds per step while memtrack records: of the first steps, of those after."""
    recorder = Recorder(model)
    recorder.enter()
    try:
        first = timed(step, FIRST, device)
        return first, timed(step, steps, device)
    finally:
        recorder.leave()
        recorder.detach()


def mem_tracker(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, step: Step, steps: int, device: str
) -> float | None:
    """Return seconds per step under torch's MemTracker; None where it cannot run the model."""
    try:
        from torch.distributed._tools.mem_tracker import MemTracker
    except ImportError:
        return None
    tracker = MemTracker()
    tracker.track_external(model, optimizer)

    def reset_and_step() -> None:
        tracker.reset_mod_stats()  # it refuses a second iteration otherwise
        step()

    try:
        with tracker:
            return timed(reset_and_step, steps, device)
    except (RuntimeError, NotImplementedError, AssertionError) as error:
        print(f"MemTracker: {error}")
        return None


def measure(
    name: str, build: Callable[..., tuple], device: str, rounds: int, steps: int, others: bool
) -> dict:
    """Return the ratios of one model; with `others` that of MemTracker too."""
    torch.manual_seed(0)
    model, optimizer, step = build(device)
    timed(step, 3, device)
    first, later, theirs, bare_ms = [], [], [], []
    for _ in range(rounds):
        bare = timed(step, steps, device)
        bare_ms.append(1e3 * bare)
        at_first, then = tracked(model, step, steps, device)
        first.append(at_first / bare)
        later.append(then / bare)
        other = mem_tracker(model, optimizer, step, steps, device) if others else None
        if other is not None:
            theirs.append(other / bare)
    result = {
        "model": name,
        "bare_ms": round(statistics.median(bare_ms), 2),
        "memtrack_ratio": round(statistics.median(later), 3),
        "memtrack_ratios": [round(ratio, 3) for ratio in later],
        "first_steps_ratio": round(statistics.median(first), 3),
        "mem_tracker_ratio": round(statistics.median(theirs), 3) if theirs else None,
    }
    print(json.dumps(result))
    return result


def hardware(device: str) -> str:
    """Return what the figures were taken on."""
    if device == "cuda":
        return torch.cuda.get_device_name()
    return f"{platform.machine()}, {os.cpu_count()} cores"


def main() -> None:
    """Measure and print; write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--mem-tracker", action="store_true", help="also torch's MemTracker")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    models = {"gpt2": gpt2, "resnet": resnet}
    figures = {
        "command": f"python bench/tracking.py --device {options.device}",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "hardware": hardware(options.device),
        "models": [
            measure(name, build, options.device, options.rounds, options.steps, options.mem_tracker)
            for name, build in models.items()
        ],
    }
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
