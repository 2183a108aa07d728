"""What the simulator says of other settings, against runs with these settings on a GPU.

    python bench/whatif.py [--out bench/results/NAME.json]

One training loop with changing shapes, a side stream, a captured graph and an `empty_cache` runs once
under each setting, each time in a process of its own with the allocator's history on. Every run is
replayed as recorded; and from the first, of torch's default settings alone, the peak of reserved bytes
under all the others is predicted and compared with what torch counted there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtrack.allocator.replay import replay
from memtrack.allocator.settings import Settings
from memtrack.readers.torch_snapshot import read_snapshot
from memtrack.recording import RecordingData

RUNS = {
    "default": ("", 0),
    "expandable": ("expandable_segments:True", 0),
    "split 64 MiB": ("max_split_size_mb:64", 0),
    "divisions of 4": ("roundup_power2_divisions:4", 0),
    "shared segments of 64 MiB": ("large_segment_size_mb:64", 0),
    "limit": ("", 0.92),
    "limit, expandable": ("expandable_segments:True", 0.92),
    "limit, garbage collection": ("garbage_collection_threshold:0.6", 1.2),
}
"""Setting, and the limit of reserved bytes as a multiple of the default run's peak; 0: none."""


def train(path: Path, limit: int) -> None:
    """Run the loop and leave its snapshot and figures beside `path`."""
    import torch

    total = torch.cuda.get_device_properties(0).total_memory
    if limit:
        torch.cuda.set_per_process_memory_fraction(limit / total)
    torch.manual_seed(0)
    torch.cuda.memory._record_memory_history("all", context=None, max_entries=1_000_000)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device="cuda")
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    side = torch.cuda.Stream()
    lengths = [128, 384, 200, 512, 96, 448, 640, 320, 576, 256]
    for step, length in enumerate(lengths):
        batch = torch.randn(16, length, 512, device="cuda")
        with torch.cuda.stream(side):
            side.wait_stream(torch.cuda.current_stream())
            batch.record_stream(side)
            norm = batch.square().sum()
        torch.cuda.current_stream().wait_stream(side)
        norm.record_stream(torch.cuda.current_stream())
        model(batch).square().mean().add(norm * 0).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        if step == 4:
            torch.cuda.empty_cache()
    graph = torch.cuda.CUDAGraph()
    weight = torch.randn(2048, 2048, device="cuda")
    with torch.cuda.graph(graph):
        _ = (weight @ weight).relu() + weight
    torch.cuda.memory._dump_snapshot(str(path))
    stats = torch.cuda.memory_stats()
    wanted = (
        "reserved_bytes.all.peak",
        "allocated_bytes.all.peak",
        "num_alloc_retries",
        "num_ooms",
    )
    figures = {name: stats[name] for name in wanted}
    figures |= {"total": total, "torch": torch.__version__, "gpu": torch.cuda.get_device_name()}
    path.with_suffix(".json").write_text(json.dumps(figures))


def main() -> int:
    """Run everything and write the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for the snapshots")
    parser.add_argument("--of", type=Path, help="a folder of kept snapshots: nothing is run")
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(Path(options.train[0]), int(options.train[1]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        kept = options.of or options.keep or Path(folder)
        kept.mkdir(exist_ok=True)
        if options.of is None:
            run_all(kept)
        results = compare(kept)
    for result in results["runs"]:
        print(json.dumps(result))
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def run_all(folder: Path) -> None:
    """Run under each setting, the default first, the others at once."""
    assert start(folder / "0.pickle", "", 0).wait() == 0, "the default run failed"
    limits = limits_of(folder)
    others = [
        start(path, RUNS[name][0], limits[name])
        for name, path in paths_of(folder).items()
        if name != "default"
    ]
    codes = [other.wait() for other in others]
    assert not any(codes), f"runs ended with {codes}"


def paths_of(folder: Path) -> dict[str, Path]:
    """Name the snapshot of each run."""
    return {name: folder / f"{place}.pickle" for place, name in enumerate(RUNS)}


def limits_of(folder: Path) -> dict[str, int]:
    """Return the bytes each run may reserve, 0 where it may all."""
    peak = told(folder / "0.pickle")["reserved_bytes.all.peak"]
    return {name: int(multiple * peak) for name, (_, multiple) in RUNS.items()}


def compare(folder: Path) -> dict[str, Any]:
    """Compare the runs with their replays and with what is predicted from the first."""
    base, figures = read_snapshot(folder / "0.pickle"), told(folder / "0.pickle")
    limits = limits_of(folder)
    runs = [row(base, figures, name, path, limits[name]) for name, path in paths_of(folder).items()]
    where = {"python": platform.python_version(), "gpu": figures["gpu"], "torch": figures["torch"]}
    return {**where, "runs": runs}


def start(path: Path, conf: str, limit: int) -> subprocess.Popen[bytes]:
    """Start one run in a process of its own."""
    environment = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": conf}
    command = [sys.executable, __file__, "--train", str(path), str(limit)]
    return subprocess.Popen(command, env=environment)


def told(path: Path) -> dict[str, Any]:
    """Return what torch counted in a run."""
    figures: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
    return figures


def row(
    base: RecordingData, default: dict[str, Any], name: str, path: Path, limit: int
) -> dict[str, Any]:
    """Compare one run with its own replay, and with what the default run lets predict."""
    truth = told(path)
    own = replay(read_snapshot(path), 0)
    settings = Settings.parse(RUNS[name][0])
    if limit:
        # The share is of the whole device, which the recording of a file does not know.
        settings = replace(settings, memory_fraction=limit / default["total"])
    predicted = replay(base, 0, settings, capacity=default["total"])
    peak = truth["reserved_bytes.all.peak"]
    return {
        "run": name,
        "peak_reserved": peak,
        "replayed": own.peak,
        "replay_error": round((own.peak - peak) / peak, 6),
        "replay_largest_error_at_any_event": own.worst,
        "predicted": predicted.peak,
        "prediction_error": round((predicted.peak - peak) / peak, 6),
        "predicted_failure": predicted.failed >= 0,
        "retries": truth["num_alloc_retries"],
        "predicted_retries": predicted.retries,
    }


if __name__ == "__main__":
    sys.exit(main())
