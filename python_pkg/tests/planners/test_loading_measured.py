"""The computer's memory while a checkpoint is loaded, as planned and as the kernel counts it.

Each way runs in a process of its own, with a file of 200 MB. Private memory is `RssAnon`, pages of the
file are `RssFile`, both sampled by the kernel's own counters while it loads.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memtrack.planners.inputs import LoadingInputs
from memtrack.planners.loading import loading_ways

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="only Linux tells what memory is of"
)
MIB = 1 << 20
LAYERS, SIDE = 6, 2880
COUNT = LAYERS * SIDE * SIDE
"""Six square weights in fp32: 190 MiB."""

MODEL = f"""
import json, sys, threading, time
import torch
def status():
    rows = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return [int(rows[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile")]
def make():
    return torch.nn.Sequential(*(torch.nn.Linear({SIDE}, {SIDE}, bias=False) for _ in range({LAYERS})))
def touch(model):
    for one in model.parameters():
        one.detach().sum()
"""
LOAD = """
make()[:0]; torch.load(sys.argv[2], weights_only=True)
before, most, done = status(), [0, 0], False
def watch():
    while not done:
        now = status()
        most[:] = [max(pair) for pair in zip(most, now)]
        time.sleep(0.0005)
watcher = threading.Thread(target=watch); watcher.start()
model = load(sys.argv[1])
touch(model)
time.sleep(0.01)
done = True; watcher.join()
print(json.dumps([a - b for a, b in zip(most, before)]))
"""
WAYS = {
    "load_cpu": """
def load(path):
    model = make(); state = torch.load(path); model.load_state_dict(state); return model
""",
    "mmap": """
def load(path):
    model = make(); model.load_state_dict(torch.load(path, mmap=True)); return model
""",
    "assign": """
def load(path):
    model = make(); model.load_state_dict(torch.load(path), assign=True); return model
""",
    "meta": """
def load(path):
    with torch.device("meta"):
        model = make()
    model.load_state_dict(torch.load(path), assign=True); return model
""",
    "meta_mmap": """
def load(path):
    with torch.device("meta"):
        model = make()
    model.load_state_dict(torch.load(path, mmap=True), assign=True); return model
""",
    "safetensors": """
from safetensors.torch import load_file
def load(path):
    model = make(); model.load_state_dict(load_file(path + ".safetensors")); return model
""",
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A checkpoint in both formats, and a small one to warm up with."""
    folder = tmp_path_factory.mktemp("checkpoint")
    path = folder / "model.pt"
    program = f"""{MODEL}
torch.save(make().state_dict(), sys.argv[1])
torch.save({{"x": torch.ones(1)}}, sys.argv[2])
try:
    from safetensors.torch import save_file
    save_file(make().state_dict(), sys.argv[1] + ".safetensors")
except ImportError:
    pass
"""
    run(program, path)
    return path


def run(program, path):
    command = [sys.executable, "-c", program, str(path), str(path.with_name("small.pt"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("way", WAYS)
def test_private_memory_and_mapped_pages_are_as_planned(way, checkpoint):
    if way == "safetensors":
        pytest.importorskip("safetensors")
    inputs = LoadingInputs(COUNT, stored="fp32", dtype="fp32", built="fp32", largest=SIDE * SIDE)
    planned = {one.id: one for one in loading_ways(inputs)}[way]
    private, mapped = json.loads(run(MODEL + WAYS[way] + LOAD, checkpoint))
    # Beside the weights: a reader's buffers, and code that loading touches for the first time.
    assert private == pytest.approx(planned.host, abs=16 * MIB)
    assert mapped == pytest.approx(planned.mapped, abs=24 * MIB)
