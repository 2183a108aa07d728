"""What `memtrack run` leaves of a program that trains: a recording, however the program ends."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from scripts.running import clean_environment, memtrack_run, python

import memtrack
from memtrack.recording.categories import Category

TRAINING = """
import os, sys
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    loss = model(input=torch.randn(32, 64)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(float(loss.detach()), [round(float(p.detach().sum()), 6) for p in model.parameters()])
how = sys.argv[1:]
if "exit" in how:
    sys.exit(3)
if "interrupt" in how:
    raise KeyboardInterrupt
if "wait" in how:
    import time
    print("waiting", flush=True)
    time.sleep(60)
if "fail" in how:
    model(torch.zeros(2, 3))
if "memory" in how:
    torch.empty(1 << 50)
"""
LAYERS = ["Sequential", "Sequential.0", "Sequential.1", "Sequential.2"]
PARAMETERS = 4 * (64 * 256 + 256 + 256 * 8 + 8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text(TRAINING)
    return tmp_path


def recorded(path):
    """Open a recording and assert that it holds the three steps of TRAINING."""
    recording = memtrack.open(path)
    data = recording.data
    data.self_check()
    return recording


def told(path, folder):
    """Return the last line of a program whose recording is at `path`."""
    shown = path.relative_to(folder) if path.parent == folder else path
    return f"memtrack: recorded in {path}. To look at it: memtrack open {shown}\n"


def test_a_program_runs_as_without_us_and_leaves_its_recording(folder):
    found = memtrack_run(folder, "train.py", "a")
    assert (found.code, found.out) == (0, python(folder, "train.py", "a").out)
    assert found.err == told(folder / "train.memtrack", folder)
    recording = recorded(folder / "train.memtrack")
    data = recording.data
    assert (data.facts.state, data.steps_run, data.facts.label) == ("complete", 3, "train")
    assert [data.strings[code] for code in data.layers["path"]] == LAYERS
    parts = {part.id: part.bytes for part in recording.ledger.parts}
    assert parts["parameter"] == PARAMETERS
    assert parts["optimizer_state"] == 2 * PARAMETERS + 4 * 4
    # The first call is there whole, its inputs given by name included.
    phases = data.phases["kind"]
    assert len(data.calls) == 3 * len(LAYERS)
    inputs = data.allocations["category"] == Category.INPUT
    assert (data.allocations["bytes"][inputs] == 4 * 32 * 64).sum() == 3
    assert len(phases) > 0


def line_of(code):
    """Return the number of a line of TRAINING."""
    return [line.strip() for line in TRAINING.splitlines()].index(code) + 1


INTERRUPTED = (
    "Traceback (most recent call last):\n"
    '  File "{folder}/train.py", line {line}, in <module>\n'
    "    raise KeyboardInterrupt\n"
    "KeyboardInterrupt\n"
)


@pytest.mark.parametrize(
    ("how", "code", "state", "shown"),
    [("exit", 3, "failed", ""), ("interrupt", -2, "interrupted", INTERRUPTED)],
)
def test_a_program_that_ends_otherwise_leaves_its_recording_too(folder, how, code, state, shown):
    found = memtrack_run(folder, "--out", "other", "train.py", how)
    assert found.code == code
    line = line_of("raise KeyboardInterrupt")
    shown = shown.format(folder=folder, line=line)
    assert found.err == shown + told(folder / "other.memtrack", folder)
    assert recorded(folder / "other.memtrack").data.facts.state == state


def test_an_error_inside_a_model_has_no_frame_of_ours(folder):
    found = memtrack_run(folder, "train.py", "fail")
    shown, _, last = found.err.rpartition("memtrack: recorded")
    assert (found.code, f"memtrack: recorded{last}") == (
        1,
        told(folder / "train.memtrack", folder),
    )
    assert shown.startswith(
        "Traceback (most recent call last):\n"
        f'  File "{folder}/train.py", line {line_of("model(torch.zeros(2, 3))")}, in <module>\n'
        "    model(torch.zeros(2, 3))\n"
    )
    assert shown.endswith("(2x3 and 64x256)\n")
    assert "memtrack" not in shown.replace(str(folder), "")
    assert recorded(folder / "train.memtrack").data.facts.state == "failed"


def test_a_program_that_is_interrupted_from_outside(folder):
    command = [sys.executable, "-m", "memtrack", "run", "train.py", "wait"]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stdout:
            if "waiting" in line:
                break
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert err.endswith(told(folder / "train.memtrack", folder))
    data = recorded(folder / "train.memtrack").data
    assert (data.facts.state, data.steps_run) == ("interrupted", 3)


ENDLESS = """
import signal, torch
model = torch.nn.Linear(8, 8)
for step in range(1000):
    model(torch.zeros(2, 8)).sum().backward()
    if step == 20:
        signal.raise_signal(signal.SIGINT)
"""


@pytest.mark.parametrize("history", ["off", "kept"])
def test_an_interrupted_training_ends_by_the_signal(tmp_path, history):
    """A shell's loop stops at a program that died of its signal, and goes on at one that exits 1."""
    (tmp_path / "train.py").write_text(ENDLESS)
    ended = subprocess.run(
        [sys.executable, "-m", "memtrack", "run", "train.py"],
        cwd=tmp_path,
        env=clean_environment() | {"MEMTRACK_HISTORY": history},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert recorded(tmp_path / "train.memtrack").data.facts.state == "interrupted"
    assert (tmp_path / "kept" / "history.db").exists() == (history == "kept")


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM")
def test_a_program_that_is_ended_from_outside_leaves_its_recording(folder):
    command = [sys.executable, "-m", "memtrack", "run", "train.py", "wait"]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert any("waiting" in line for line in process.stdout)
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-signal.SIGTERM, told(folder / "train.memtrack", folder))
    data = recorded(folder / "train.memtrack").data
    assert (data.facts.state, data.steps_run) == ("interrupted", 3)


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="nothing is forked")
def test_a_signal_in_the_midst_of_a_fork_leaves_the_run_too(folder):
    """There the main thread holds what any other thread would wait for before it opens the history."""
    (folder / "forks.py").write_text(
        "import os, signal, torch\n"
        "os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGTERM))\n"
        "import memtrack.runs\n"  # what it does before a fork comes ahead of the line above
        "torch.nn.Linear(2, 2)(torch.zeros(1, 2))\n"
        "os.fork()\n"
    )
    found = memtrack_run(folder, "forks.py", MEMTRACK_HISTORY=str(folder / "kept"))
    assert (found.code, found.err) == (-signal.SIGTERM, told(folder / "forks.memtrack", folder))
    (run,) = memtrack.history(folder=folder / "kept").runs
    assert (run.identifier, run.state) == (
        memtrack.open(folder / "forks.memtrack").data.facts.identifier,
        "interrupted",
    )


HANGS = """
import os, signal, sys, time
from memtrack.scripts import termination

def save():
    with termination.held_back():
        if "twice" in sys.argv:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
            print("saved", flush=True)
            return
        while True:
            time.sleep(60)

termination.MOST_S = 60 if "twice" in sys.argv else 0.3
termination.end_by_signal(save)
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM")
def test_saving_that_hangs_ends_by_the_signal_and_a_second_signal_ends_no_saving(tmp_path):
    hung = python(tmp_path, "-c", HANGS)
    assert (hung.code, hung.out) == (-signal.SIGTERM, "")
    twice = python(tmp_path, "-c", HANGS, "twice")
    assert (twice.code, twice.out) == (-signal.SIGTERM, "saved\n")


def test_a_handler_of_the_programs_own_is_left_alone(folder):
    (folder / "own.py").write_text(
        "import os, signal, torch\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('mine'))\n"
        "torch.nn.Linear(2, 2)(torch.zeros(1, 2))\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "print('on')\n"
    )
    found = memtrack_run(folder, "own.py")
    assert (found.code, found.out) == (0, "mine\non\n")
    assert recorded(folder / "own.memtrack").data.facts.state == "complete"


def test_a_worker_ends_by_the_signal_alone(folder):
    (folder / "forks.py").write_text(
        "import os, signal, time, torch\n"
        "torch.nn.Linear(2, 2)(torch.zeros(1, 2))\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    time.sleep(60)\n"
        "    os._exit(9)\n"
        "os.kill(child, signal.SIGTERM)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    found = memtrack_run(folder, "forks.py")
    assert (found.code, found.out) == (0, "-15\n")
    assert found.err.count("recorded in") == 1


def test_an_error_inside_a_model_shows_no_frame_that_is_there_for_hooks(folder):
    (folder / "fails.py").write_text(
        "import torch\n"
        "class Fails(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        raise KeyError('no luck')\n"
        "Fails()(torch.zeros(1))\n"
    )
    ours, pythons = memtrack_run(folder, "fails.py"), python(folder, "fails.py")
    frames = [re.findall(r'File "(.+?)", line \d+, in (.+)', one.err) for one in (ours, pythons)]
    assert frames[0] == frames[1]


def test_a_memory_error_is_explained_between_its_traceback_and_the_recording(folder):
    found = memtrack_run(folder, "train.py", "memory")
    traceback, _, rest = found.err.partition("DefaultCPUAllocator: ")
    message, _, rest = rest.partition("\n")
    assert (found.code, "memtrack" in traceback.replace(str(folder), "")) == (1, False)
    assert "tried to allocate 4503599627370496" in message
    explanation, _, last = rest.rpartition("memtrack: recorded")
    assert f"memtrack: recorded{last}" == told(folder / "train.memtrack", folder)
    assert "memory ran out" in explanation
    assert "memtrack could not" not in explanation


def test_no_file_is_written_over_and_steps_end_a_recording(folder):
    (folder / "train.memtrack").write_bytes(b"mine")
    (folder / "train-2.memtrack").write_bytes(b"mine too")
    found = memtrack_run(folder, "--steps", "2", "train.py")
    assert found.err == told(folder / "train-3.memtrack", folder)
    assert (folder / "train.memtrack").read_bytes() == b"mine"
    data = recorded(folder / "train-3.memtrack").data
    assert (data.steps_run, data.facts.state) == (2, "complete")


def test_a_module_leaves_a_recording_of_its_name(folder):
    (folder / "package").mkdir()
    (folder / "package" / "train.py").write_text(TRAINING)
    found = memtrack_run(folder, "--out", folder / "package", "-m", "package.train")
    target = folder / "package" / "package.train.memtrack"
    assert found.err == told(target, folder)
    assert recorded(target).data.steps_run == 3


def test_nothing_is_recorded_where_no_model_runs(folder):
    (folder / "train.py").write_text(
        "import os, torch\n"
        "os.environ['CUDA_VISIBLE_DEVICES'] = ''\n"
        "print(torch.ones(2).sum(), torch.cuda.is_initialized())\n"
        "print(type(torch.__spec__.loader).__name__, vars(torch.__spec__.loader).keys())\n"
    )
    found = memtrack_run(folder, "train.py")
    assert found.out == python(folder, "train.py").out
    assert found.err == (
        "memtrack: nothing was recorded, since no model ran in the main thread of this process.\n"
    )


WORKERS = """
import sys, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False)

def main():
    import torch.utils.checkpoint
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(8, 8))
    model = Double()
    # A first call inside of hooks that would lie under ours.
    early = torch.utils.checkpoint.checkpoint(model.inner, torch.ones(1, 8, requires_grad=True), use_reentrant=False)
    early.sum().backward()
    for (batch,) in DataLoader(data, batch_size=4, num_workers=2):
        model(batch).sum().backward()
    print(model.inner.weight.grad.sum())

if __name__ == "__main__":
    main()
"""


def test_workers_and_checkpointing_are_left_as_they_are(folder):
    (folder / "train.py").write_text(WORKERS)
    found = memtrack_run(folder, "train.py")
    assert found.code == 0
    assert found.err == told(folder / "train.memtrack", folder)
    names = [path.name for path in folder.glob("*.memtrack")]
    assert names == ["train.memtrack"]
    assert recorded(folder / "train.memtrack").data.steps_run == 2


def test_where_nothing_can_be_written_the_recording_goes_elsewhere(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("temporary")
    (folder / "train.py").write_text(TRAINING + "\nimport shutil; shutil.rmtree(sys.path[0])\n")
    found = memtrack_run(folder, "train.py", TMPDIR=str(other))
    assert found.code == 0
    path = re.search(r"recorded in (.*?)\. To", found.err)[1]
    assert path == str(other / "train.memtrack")
    assert recorded(path).data.steps_run == 3


def test_an_error_of_torchs_own_import_is_shown_as_without_us(folder):
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text("import no_such_module_anywhere\n")
    (folder / "train.py").write_text("import torch\n")
    found = memtrack_run(folder, "--no-record", "train.py")
    assert found == python(folder, "train.py")
