"""`memtrack run` on a GPU: the allocator's history, the explanation, and nothing set up too early."""

import re

import pytest
from scripts.running import memtrack_run, python

import memtrack
from memtrack.recording import EventKind

pytestmark = pytest.mark.gpu

TRAINING = """
import os, sys
import torch
from torch import nn

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
assert not torch.cuda.is_initialized()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())

def train(rows):
    for step in range(3):
        model(torch.randn(rows, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

train(256)
print([round(p.sum().item(), 4) for p in model.parameters()])
if "fail" in sys.argv:
    torch.cuda.set_per_process_memory_fraction(0.02)
    train(1 << 20)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(TRAINING)
    return tmp_path


def test_a_run_is_recorded_from_the_allocators_history(folder):
    found = memtrack_run(folder, "train.py")
    assert (found.code, found.out) == (0, python(folder, "train.py").out)
    data = memtrack.open(folder / "train.memtrack").data
    assert (data.facts.source, data.facts.state, data.steps_run) == ("allocator", "complete", 3)


def test_an_out_of_memory_error_is_explained_and_recorded(folder):
    found = memtrack_run(folder, "train.py", "fail")
    assert found.code == 1
    shown, _, last = found.err.rpartition("memtrack: recorded in ")
    assert re.match(re.escape(str(folder / "train.memtrack")), last)
    traceback, _, rest = shown.partition("OutOfMemoryError: CUDA out of memory.")
    assert traceback.startswith("Traceback (most recent call last):\n")
    assert "/memtrack/" not in traceback
    assert len(rest.strip().splitlines()) > 5
    assert "memtrack could not" not in rest
    data = memtrack.open(folder / "train.memtrack").data
    assert data.facts.state == "failed"
    assert (data.events["kind"] == EventKind.OOM).any()
