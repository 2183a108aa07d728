"""The callbacks, in real trainers: Hugging Face's and Lightning's, in processes of their own."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
from scripts.running import clean_environment, python

import memtrack
from memtrack.errors import UsageError
from memtrack.integrations.trainrun import TrainRun
from memtrack.recording import Category, PhaseKind

needs_transformers = pytest.mark.skipif(
    not (find_spec("transformers") and find_spec("accelerate")),
    reason="needs transformers and accelerate",
)
needs_lightning = pytest.mark.skipif(not find_spec("lightning"), reason="needs lightning")

HUGGINGFACE = """
import sys, torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
from memtrack.integrations.huggingface import MemtrackCallback

class Model(GPT2LMHeadModel):
    calls = 0
    def forward(self, *args, **kwargs):
        Model.calls += 1
        if "fail" in sys.argv and Model.calls == 4:
            torch.empty(1 << 50)
        return super().forward(*args, **kwargs)

torch.manual_seed(0)
config = GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=100, n_positions=32)
model = Model(config)
data = [{"input_ids": torch.arange(16), "labels": torch.arange(16)}] * 64
callback = MemtrackCallback(steps=2, out="run.memtrack") if "plain" not in sys.argv else None
arguments = TrainingArguments("out", max_steps=4, per_device_train_batch_size=4, use_cpu=True,
    gradient_accumulation_steps=2, report_to=[], remove_unused_columns=False, save_strategy="no", disable_tqdm=True, seed=1)
trainer = Trainer(model, arguments, train_dataset=data, callbacks=[callback] if callback else [])
try:
    trainer.train()
except RuntimeError:
    if "caught" not in sys.argv:
        raise
    print("CAUGHT")
print("WEIGHTS", sum(float(p.double().sum()) for p in model.parameters()))
"""
LIGHTNING = """
import logging, sys, warnings, torch
warnings.simplefilter("ignore")
logging.disable()
import lightning.pytorch as pl
from torch import nn
from memtrack.integrations.lightning import MemtrackCallback

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
    def training_step(self, batch, index):
        if "fail" in sys.argv and index == 2:
            torch.empty(1 << 50)
        return self.net(batch[0]).square().mean()
    def validation_step(self, batch, index):
        self.net(batch[0])
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

torch.manual_seed(0)
model = Model()
data = torch.utils.data.TensorDataset(torch.randn(64, 64))
loader = torch.utils.data.DataLoader(data, batch_size=8)
steps = None if "all" in sys.argv or "fail" in sys.argv else 3
callbacks = [] if "plain" in sys.argv else [MemtrackCallback(steps, out="run.memtrack")]
trainer = pl.Trainer(max_epochs=1, callbacks=callbacks, accelerator="cpu", logger=False,
    enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, loader, loader if "all" in sys.argv else None)
print("WEIGHTS", sum(float(p.double().sum()) for p in model.parameters()))
"""


def train(folder, source, *arguments, **environment):
    (folder / "train.py").write_text(source)
    return python(folder, "train.py", *arguments, CUDA_VISIBLE_DEVICES="", **environment)


def weights(outcome):
    assert outcome.code == 0, outcome.err
    return next(line for line in outcome.out.splitlines() if line.startswith("WEIGHTS"))


def kinds(data):
    """How many phases of each kind there are."""
    found = data.phases["kind"].tolist()
    return {kind.id: found.count(kind) for kind in PhaseKind if kind != PhaseKind.OTHER}


def marks(data):
    return [data.string(int(label)) for label in data.marks["label"]]


def paths(data):
    return [data.string(int(path)) for path in data.layers["path"]]


def bytes_of(data, category):
    rows = data.allocations
    return int(rows["bytes"][rows["category"] == category].sum())


@needs_transformers
def test_hugging_faces_trainer_records_its_first_steps_and_trains_as_ever(tmp_path):
    tracked = train(tmp_path, HUGGINGFACE)
    assert weights(tracked) == weights(train(tmp_path, HUGGINGFACE, "plain"))
    assert tracked.err.count("\nPeak ") == 1 and "\nModel, 2 steps" in tracked.err
    data = memtrack.open(tmp_path / "run.memtrack").data
    data.self_check()
    assert (data.steps_run, data.facts.state, data.facts.label) == (2, "complete", "Model")
    # Two steps of two micro-batches each.
    assert kinds(data) == {"forward": 4, "backward": 4, "optimizer": 2}
    assert marks(data) == ["epoch 1"]
    parameters = 100 * 32 + 32 * 32 + 2 * (12 * 32 * 32 + 13 * 32) + 2 * 32
    assert bytes_of(data, Category.PARAMETER) == 4 * parameters


@needs_transformers
def test_an_error_of_memory_in_the_trainer_is_explained_under_its_traceback(tmp_path):
    failed = train(tmp_path, HUGGINGFACE, "fail")
    assert failed.code == 1
    traceback, _, explanation = failed.err.partition("DefaultCPUAllocator: can't allocate memory")
    assert traceback.count("Traceback (most recent call last)") == 1
    assert "memtrack/capture" not in traceback.rpartition("Traceback")[2]
    assert "The computer's own memory ran out, not the GPU's: 4096 TiB" in explanation
    data = memtrack.open(tmp_path / "run.memtrack").data
    assert data.facts.state == "failed" and data.calls["failed"].any()


@needs_transformers
def test_an_error_that_the_program_catches_ends_the_recording_with_the_program(tmp_path):
    found = train(tmp_path, HUGGINGFACE, "fail", "caught", MEMTRACK_HISTORY=str(tmp_path / "kept"))
    assert found.code == 0 and "CAUGHT" in found.out
    assert "Traceback" not in found.err and found.err.count("\nPeak ") == 1
    data = memtrack.open(tmp_path / "run.memtrack").data
    data.self_check()
    assert data.facts.state == "failed" and data.calls["failed"].any()
    (run,) = memtrack.history(folder=tmp_path / "kept").runs
    assert (run.identifier, run.state) == (data.facts.identifier, "failed")


@needs_lightning
def test_lightnings_trainer_records_its_first_steps_and_trains_as_ever(tmp_path):
    tracked = train(tmp_path, LIGHTNING)
    assert weights(tracked) == weights(train(tmp_path, LIGHTNING, "plain"))
    assert tracked.err.count("\nPeak ") == 1 and "\nModel, 3 steps" in tracked.err
    data = memtrack.open(tmp_path / "run.memtrack").data
    data.self_check()
    assert (data.steps_run, data.facts.state) == (3, "complete")
    # What runs is called as the user's code calls it, not `Sequential`.
    assert paths(data) == ["Model.net", "Model.net.0", "Model.net.1", "Model.net.2"]
    # Lightning runs forward and backward inside of the optimizer's step, which so has two pauses.
    assert kinds(data) == {"forward": 3, "backward": 3, "optimizer": 9}
    assert bytes_of(data, Category.PARAMETER) == 4 * (64 * 256 + 256 + 256 * 8 + 8)
    assert marks(data) == ["epoch 1"]


@needs_lightning
def test_without_a_number_of_steps_the_whole_training_is_recorded_with_its_validation(tmp_path):
    assert weights(train(tmp_path, LIGHTNING, "all")) == weights(
        train(tmp_path, LIGHTNING, "plain")
    )
    data = memtrack.open(tmp_path / "run.memtrack").data
    assert data.facts.state == "complete" and marks(data) == ["epoch 1", "validation"]
    assert kinds(data)["backward"] == 8 and kinds(data)["forward"] == 16


@needs_lightning
def test_an_error_of_memory_in_lightning_is_explained_and_passes_through(tmp_path):
    failed = train(tmp_path, LIGHTNING, "fail")
    assert failed.code == 1 and failed.out == ""
    assert failed.err.count("The computer's own memory ran out, not the GPU's") == 1
    assert "train.py:15" in failed.err.partition("Where:")[2].partition("\n\n")[0]
    assert failed.err.rstrip().splitlines()[-1].startswith("RuntimeError: ")
    assert memtrack.open(tmp_path / "run.memtrack").data.facts.state == "failed"


@needs_lightning
def test_under_torchrun_each_rank_writes_its_own(tmp_path):
    source = LIGHTNING.replace('accelerator="cpu"', 'accelerator="cpu", devices=2, strategy="ddp"')
    (tmp_path / "train.py").write_text(source)
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]
    done = subprocess.run(
        [*command, "train.py"],
        cwd=tmp_path,
        env={**clean_environment(), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\nPeak ") == 1  # rank 0 alone shows its report
    ranks = memtrack.open(tmp_path / "run.ranks")
    assert (list(ranks), ranks.missing) == ([0, 1], ())
    assert all(ranks[number].data.steps_run == 3 for number in ranks)


@pytest.mark.parametrize("steps", [0, -1, 2.0, True, "3"])
def test_steps_are_a_whole_number(steps):
    with pytest.raises(UsageError, match="steps must be a whole number from 1"):
        TrainRun(steps, None, show=False)


def test_a_folder_that_is_not_there_stops_before_training(tmp_path):
    run = TrainRun(1, tmp_path / "missing" / "run", show=False)
    with pytest.raises(UsageError, match="There is no folder"):
        run.begin(None, "model", first=True, watch=False)
    assert not run.running


@pytest.mark.parametrize(
    ("module", "missing", "words"),
    [
        ("huggingface", ["transformers"], "needs transformers: pip install transformers"),
        ("lightning", ["lightning", "pytorch_lightning"], "needs Lightning: pip install lightning"),
    ],
)
def test_without_the_package_the_import_says_what_to_install(tmp_path, module, missing, words):
    blocked = "".join(f"sys.modules[{name!r}] = None; " for name in missing)
    code = f"import sys; {blocked}import memtrack.integrations.{module}"
    done = python(tmp_path, "-c", code)
    assert done.code == 1 and done.err.rstrip().endswith(words)


CELLS = """
import IPython, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = (sys.excepthook, vars(shell.InteractiveTB).get("structured_traceback"))
shell.run_cell(
    "import torch\\n"
    "from memtrack.integrations.trainrun import TrainRun\\n"
    "run = TrainRun(None, None, show=False)\\n"
    "run.begin(None, 'model', first=True, watch=True)\\n"
    "class Net(torch.nn.Linear):\\n"
    "    def forward(self, x):\\n"
    "        torch.empty(1 << 50)\\n"
    "net = Net(4, 4)\\n"
)
shell.run_cell("net(torch.ones(1, 4))")
run = shell.user_ns["run"]
assert (sys.excepthook, vars(shell.InteractiveTB).get("structured_traceback")) == before
assert not shell.events.callbacks["post_run_cell"], shell.events.callbacks
from torch.utils._python_dispatch import _get_current_dispatch_mode
assert _get_current_dispatch_mode() is None
print("STATE", run.running, run.recording.data.facts.state)
"""


def test_an_error_in_a_cell_ends_the_recording_and_leaves_nothing_behind(tmp_path):
    pytest.importorskip("IPython", reason="needs IPython")
    (tmp_path / "cells.py").write_text(CELLS)
    done = python(tmp_path, "cells.py", IPYTHONDIR=str(tmp_path))
    assert "STATE False failed\n" in done.out, done.out + done.err
    assert "memtrack/capture" not in done.out
    assert "The computer's own memory ran out" in done.err
