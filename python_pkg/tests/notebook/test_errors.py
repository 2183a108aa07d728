"""Wrong use in a real shell: one line, with what was probably meant, and nothing kept."""

import gc
import weakref

import pytest

pytest.importorskip("torch")

SETUP = """
import torch
from torch import nn
model = nn.Linear(2, 2)
disc = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
numbers = [1, 2, 3]
class Trainer: pass
trainer = Trainer()
trainer.model = model
"""


@pytest.fixture
def named(notebook):
    assert notebook.run(SETUP).success
    return notebook


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "numbers",
            (
                "`numbers` is a list of 3 int; %memtrack takes a torch.nn.Module or a list of them."
                " Known here: model, disc."
            ),
        ),
        (
            "trainer",
            (
                "`trainer` is of type Trainer; %memtrack takes a torch.nn.Module or a list of them."
                " Did you mean 'trainer.model'?"
            ),
        ),
        (
            "nn.Linear",
            (
                "`nn.Linear` is the class Linear, not an object made from it; %memtrack takes a"
                " torch.nn.Module or a list of them. Known here: model, disc."
            ),
        ),
        (
            "[model, 3]",
            (
                "`[model, 3]` is a list of 2 Linear, int; %memtrack takes a torch.nn.Module or a list"
                " of them. Known here: model, disc."
            ),
        ),
        (
            "[]",
            (
                "`[]` is an empty list; %memtrack takes a torch.nn.Module or a list of them."
                " Known here: model, disc."
            ),
        ),
        ("modle", "There is no name 'modle' in this notebook. Did you mean 'model'?"),
        ("stauts", "There is no name 'stauts' in this notebook. Did you mean '%memtrack status'?"),
        ("stop", "There is no name 'stop' in this notebook. Did you mean '%memtrack off'?"),
        ("xyzzy", "There is no name 'xyzzy' in this notebook. Known here: model, disc."),
        ("trainer.modle", "`trainer.modle` fails: AttributeError: 'Trainer' object has no"),
        ("model[", "`model[` is not an expression."),
        (
            "model --optimizer model",
            (
                "`model` is of type Linear; --optimizer takes a torch.optim.Optimizer or a list of"
                " them. Known here: optimizer."
            ),
        ),
        ("model --stpes 3", "There is no option '--stpes'. Did you mean '--steps'?"),
        ("diff a", "There is no history in "),
        ("save run", "Nothing has been recorded yet. %memtrack MODEL records a model."),
        ("mark here", "Nothing is being recorded, so nothing can be marked. %memtrack MODEL"),
        ("", "Nothing has been recorded yet. %memtrack MODEL records a model."),
    ],
)
def test_wrong_use_is_one_line_on_stderr(named, line, sentence, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "none"))
    result = named.run(f"%memtrack {line}")
    assert not result.success
    assert named.err.startswith(f"UsageError: {sentence}")
    assert named.err.count("\n") == 1
    assert named.out == "" and named.published == []


def test_failed_request_leaves_the_running_recording_alone(named):
    named.run("%memtrack model")
    named.run("%memtrack numbers")
    named.run("model(torch.ones(1, 2)).sum().backward()")
    named.run("%memtrack status")
    assert named.texts()[-1].startswith("Recording `model`.")


def test_failed_request_keeps_nothing_of_the_user(named):
    named.run("class Big: pass\nbig = Big()")
    alive = weakref.ref(named.shell.user_ns["big"])
    assert not named.run("%memtrack big").success
    assert not named.run("%memtrack [big, big]").success
    named.run("del big")
    gc.collect()
    assert alive() is None


def test_without_torch_one_line_says_how_to_install(bare, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.startswith("memtrack.capture")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    bare.run("%load_ext memtrack")
    bare.run("%memtrack model")
    assert bare.err.startswith(
        "UsageError: Recording needs PyTorch, which is not installed in this environment."
    )
    assert "pip install torch" in bare.err and bare.err.count("\n") == 1
    monkeypatch.undo()


def test_errors_in_chinese(named):
    named.run("%config MemtrackMagics.language = 'zh_CN'")
    named.run("%memtrack modle")
    assert named.err == "UsageError: 此笔记本中没有名称“modle”。您是否想用“model”？\n"


def test_the_hint_of_save_works(training, tmp_path):
    training.run("%memtrack model --steps 1")
    training.run("train(1)")
    training.run("r = %memtrack")
    assert training.run(f"path = r.save({str(tmp_path / 'run')!r})").success
    assert (tmp_path / "run.memtrack").exists()
