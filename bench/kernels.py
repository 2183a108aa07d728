"""Measure what single operations allocate on a GPU, forward and backward, in order.

Usage: python bench/kernels.py [--out bench/results/kernels.json] [--only SUBSTRING] [--seconds S]

Each case runs once to warm up, so that library workspaces and plans are there, and is then recorded by
the allocator's own history. `forward` and `backward` are the signed bytes of its requests and releases
in order; `kept` says what is alive after each. `first` is what only the first run left: workspaces.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import torch
from kernel_cases import CASES, Case

_REQUESTED = "free_requested"


def recorded(run: Any) -> tuple[Any, list[int]]:
    """Return what `run` returns and the signed bytes of every request and release meanwhile."""
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history(max_entries=100_000, context=None)
    try:
        outputs = run()
        torch.cuda.synchronize()
        traces = torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]
    finally:
        torch.cuda.memory._record_memory_history(None)
    signed = {"alloc": 1, _REQUESTED: -1}
    return outputs, [
        signed[entry["action"]] * entry["size"] for entry in traces if entry["action"] in signed
    ]


def tensors_of(outputs: Any) -> list[torch.Tensor]:
    """Return the floating tensors among outputs that a backward pass can begin at."""
    several = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    return [one for one in several if isinstance(one, torch.Tensor) and one.requires_grad]


def backward_of(outputs: Any, wanted: list[torch.Tensor]) -> Any:
    """Return a function that computes the gradients of what is wanted, made ready for recording."""
    ends = tensors_of(outputs)
    if not ends or not wanted:
        return None
    seeds = [torch.ones_like(one) for one in ends]
    return lambda: torch.autograd.grad(ends, wanted, seeds, allow_unused=True)


def measure(make: Case) -> dict[str, Any]:
    """Return what one case allocates."""
    function, wanted = make()
    base = torch.cuda.memory_allocated()
    # An optimizer's first step can be taken only once; its workspaces are none.
    warm = bool(wanted)
    if warm:
        outputs = function()
        backward = backward_of(outputs, wanted)
        grads = backward() if backward else None
        del outputs, backward, grads
        gc.collect()
    first = torch.cuda.memory_allocated() - base
    base = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    outputs, forward = recorded(function)
    row: dict[str, Any] = {"first": first, "forward": forward}
    row["forward_kept"] = torch.cuda.memory_allocated() - base
    row["forward_peak"] = torch.cuda.max_memory_allocated() - base
    backward = backward_of(outputs, wanted)
    if backward is not None:
        base = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        grads, row["backward"] = recorded(backward)
        row["backward_kept"] = torch.cuda.memory_allocated() - base
        row["backward_peak"] = torch.cuda.max_memory_allocated() - base
        row["node"] = type(tensors_of(outputs)[0].grad_fn).__name__
    return row


def facts() -> dict[str, Any]:
    """Return the versions and the device that the figures hold for."""
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "gpu": torch.cuda.get_device_name(),
        "python": platform.python_version(),
    }


def main() -> None:
    """Measure every case and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("bench/results/kernels.json"))
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=300.0)
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/kernels.py needs a CUDA GPU: there is none here.")
    torch.manual_seed(0)
    cases, begun = [], time.monotonic()
    for name, make in CASES.items():
        if chosen.only not in name:
            continue
        if time.monotonic() - begun > chosen.seconds:
            print(f"stopped before {name}: {chosen.seconds} s are over")
            break
        try:
            cases.append({"name": name, **measure(make)})
        except (RuntimeError, TypeError, ValueError, AssertionError, AttributeError) as error:
            cases.append({"name": name, "error": f"{type(error).__name__}: {error}"[:300]})
        gc.collect()
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    head = json.dumps(facts())[:-1]
    chosen.out.write_text(f'{head}, "cases": [\n{rows}\n]}}\n')
    print(f"{len(cases)} cases, {sum('error' in one for one in cases)} failed, {chosen.out}")


if __name__ == "__main__":
    main()
