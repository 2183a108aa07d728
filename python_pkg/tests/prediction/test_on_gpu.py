"""The same prediction with and without a GPU, on any build of torch, and what a GPU says to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from prediction import small_networks

import memtrack

SCRIPT = Path(small_networks.__file__)
EVERYWHERE = {
    "language": (284_460_032, 322_961_408),
    "pictures": (251_800_064, 402_653_184),
}
"""Peak allocated and reserved on an H200 as predicted by torch 2.13 without CUDA; bytes."""
CLOSE = 0.01
"""Workspaces of convolutions are estimates that better ones may replace."""
REAL = 0.05
"""Figures of a GPU: cuDNN's choice of workspaces is its own."""


def in_a_process(name: str, what: str, **environment: str) -> Any:
    """Return what the script prints in a process of its own, where nothing has touched CUDA."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), name, what],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_prediction_is_the_same_on_every_build_of_torch(name: str) -> None:
    found = small_networks.predicted(name)
    assert (found["allocated"], found["reserved"]) == pytest.approx(EVERYWHERE[name], rel=CLOSE)


@pytest.mark.gpu
@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_gpu_that_is_there_is_not_touched_and_changes_nothing(name: str) -> None:
    beside = in_a_process(name, "predict")
    assert beside["initialised"] is False
    assert beside == in_a_process(name, "predict", CUDA_VISIBLE_DEVICES="")


@pytest.mark.gpu
@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_prediction_beside_live_tensors_allocates_nothing_and_leaves_them(name: str) -> None:
    mine = torch.arange(1000, device="cuda")
    stream, device = torch.cuda.current_stream(), torch.cuda.current_device()
    drawn = torch.cuda.get_rng_state()
    before = torch.cuda.memory_stats()
    found = memtrack.predict(small_networks.NETWORKS[name], steps=2, gpu="H200")
    assert torch.cuda.memory_stats() == before
    assert found.peak_allocated > 10 * 1000 * 1000
    assert (torch.cuda.current_stream(), torch.cuda.current_device()) == (stream, device)
    assert torch.equal(torch.cuda.get_rng_state(), drawn)
    assert int(mine.sum()) == 499_500


@pytest.mark.gpu
@pytest.mark.parametrize("name", EVERYWHERE)
def test_what_a_gpu_needs_is_what_is_predicted(name: str) -> None:
    if "H200" not in torch.cuda.get_device_name():
        pytest.skip("the figures are of an H200")
    real, found = in_a_process(name, "run"), in_a_process(name, "predict")
    assert found["allocated"] == pytest.approx(real["allocated"], rel=REAL)
    assert found["reserved"] == pytest.approx(real["reserved"], rel=0.12)
