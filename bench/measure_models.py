"""Measures the programs of `bench/prediction_models.py` on a GPU, to check predictions against.

Usage, on the machine with the GPU: python3 bench/measure_models.py [--zoo] [--out FILE] [--jobs N] [--limit SECONDS]
In: torch with CUDA, transformers; with `--zoo`, the programs of `bench/prediction_zoo.py` are measured.
Out: `bench/results/measured-models.json` or `measured-zoo.json`, one row a configuration:
peak allocated of each phase and step, peak reserved, the process's total by the driver, versions, and
what `scaled_dot_product_attention` may choose. Each configuration has a fresh process, several run at
a time; a few run alone first, so that what the whole device has in use tells the process's total.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STEPS = 4
ALONE = (
    ("mlp", "base"),
    ("mlp", "autocast-bf16"),
    ("resnet-50", "base"),
    ("vit-base", "autocast-bf16"),
    ("lstm-words", "base"),
    ("gpt2-124m", "base"),
)
"""Configurations that run with nothing else on the device: linear, convolutions, attention, RNN."""


def main() -> int:
    """Measure every configuration within the time, print each, write all."""
    sys.path.insert(0, str(HERE))
    options = _arguments()
    if options.one:
        print("RESULT " + json.dumps(measured(*options.one)), flush=True)
        return 0
    begun, rows = time.monotonic(), []
    for name, variant in () if options.zoo else ALONE:
        before = _device_used()
        row = _child(name, variant, 60.0)
        row["alone"] = {"used_before": before, "used_after": row.pop("used", None)}
        rows.append(_told(row))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:

        def go(work: tuple[str, str]) -> dict[str, Any]:
            left = options.limit - (time.monotonic() - begun)
            if left < 15:
                return {"model": work[0], "variant": work[1], "error": "not run: time"}
            return _child(*work, left)

        rows += [_told(row) for row in pool.map(go, _work(options.zoo))]
    out = Path(options.out or RESULTS / f"measured-{'zoo' if options.zoo else 'models'}.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zoo", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--limit", type=float, default=220.0)
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "VARIANT"))
    return parser.parse_args()


def _work(zoo: bool) -> list[tuple[str, str]]:
    from prediction_families import FAMILIES
    from prediction_zoo import ZOO

    models = ZOO if zoo else FAMILIES
    pairs = [(name, variant) for name, model in models.items() for variant in model.variants]
    return sorted(pairs, key=lambda pair: pair[1] != "base")


def _told(row: dict[str, Any]) -> dict[str, Any]:
    what = row.get("error") or f"peak {row['peak'] >> 20} MiB, reserved {row['reserved'] >> 20} MiB"
    print(f"{row['model']:18s} {row['variant']:18s} {what}", flush=True)
    return row


def _child(name: str, variant: str, limit: float) -> dict[str, Any]:
    """Measure one configuration in a process of its own."""
    failed: dict[str, Any] = {"model": name, "variant": variant}
    command = [sys.executable, __file__, "--one", name, variant]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return {**failed, "error": "not run: time"}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            row: dict[str, Any] = json.loads(line[7:])
            return row
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
    return {**failed, "error": last[:300]}


def measured(name: str, variant: str) -> dict[str, Any]:
    """Run one configuration here and return what it took."""
    import torch
    from prediction_models import phases_told, program

    cuda = torch.cuda
    free, total = cuda.mem_get_info()
    row: dict[str, Any] = {"model": name, "variant": variant, "context_used": total - free}
    peaks: list[dict[str, int]] = []

    def phase_ended(phase: str) -> None:
        peaks[-1][phase] = max(peaks[-1].get(phase, 0), cuda.max_memory_allocated())
        cuda.reset_peak_memory_stats()

    step = program(name, variant)()
    row["after_build"] = cuda.memory_allocated()
    with phases_told(phase_ended):
        for _ in range(STEPS):
            peaks.append({})
            cuda.reset_peak_memory_stats()
            step()
            cuda.synchronize()
            peaks[-1]["after"] = cuda.memory_allocated()
            peaks[-1]["reserved"] = cuda.memory_reserved()
    row["steps"] = peaks
    row["peak"] = max(n for one in peaks for key, n in one.items() if key != "reserved")
    row["reserved"] = cuda.memory_stats()["reserved_bytes.all.peak"]
    row["process"] = _process_bytes()
    row["used"] = _device_used()
    row["attention"] = _attention_facts(torch)
    row["versions"] = _versions(torch)
    return row


def _attention_facts(torch: Any) -> dict[str, bool]:
    backends = torch.backends.cuda
    return {
        "flash": backends.flash_sdp_enabled(),
        "efficient": backends.mem_efficient_sdp_enabled(),
        "cudnn": backends.cudnn_sdp_enabled(),
        "math": backends.math_sdp_enabled(),
    }


def _versions(torch: Any) -> dict[str, Any]:
    import transformers

    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "transformers": transformers.__version__,
        "gpu": torch.cuda.get_device_name(),
    }


def _process_bytes() -> int | None:
    """Return what the driver counts for this process; None where it is told other numbers."""
    lines = _query("--query-compute-apps=pid,used_memory")
    own = {str(os.getpid()), *_outer_pids()}
    for line in lines:
        pid, _, mib = line.partition(",")
        if pid.strip() in own and mib.strip().isdigit():
            return int(mib) * 2**20
    return None


def _outer_pids() -> list[str]:
    """Return this process's numbers in the namespaces that it can see."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return line.split()[1:]
    return []


def _device_used() -> int | None:
    """Return what the whole device has in use, in bytes, by the driver."""
    lines = _query("--query-gpu=memory.used")
    return int(lines[0]) * 2**20 if lines and lines[0].strip().isdigit() else None


def _query(what: str) -> list[str]:
    command = ["nvidia-smi", what, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
