"""`%memtrack predict` in real cells: figures, progress, the largest batch, one line for what is wrong."""

import os
import random
import re
import sys

import numpy as np
import pytest

import memtrack
from memtrack.reports.payload import MIME_TYPE

torch = pytest.importorskip("torch")
PROGRAM = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = torch.nn.Linear(256, 8192)
        self.out = torch.nn.Linear(8192, 16)

    def forward(self, x):
        return self.out(torch.relu(self.wide(x)))

def build_of_n(batch):
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(batch, 256, device="cuda")
    def step():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()
    return step

def build():
    return build_of_n(64)
"""


@pytest.fixture
def program(notebook):
    assert notebook.run(PROGRAM).success
    return notebook


def bars(notebook):
    """What was published under a display id, in order: the line of progress."""
    return [
        one["data"]
        for one in notebook.published
        if (one["transient"] or {}).get("display_id") and "<progress" in one["data"]["text/html"]
    ]


def test_lines_of_cells_are_called_by_the_number_of_the_cell(program, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", lambda: program.shell)
    found = program.run("%memtrack predict build").result
    assert [one.site for one in found.assumptions] == ["In [1]:21"]
    sites = set(found.report().views[0].timeline.sites)
    assert any(site.startswith("In [1]:") for site in sites)
    assert not any("ipython-input" in site for site in sites)
    program.run("outside = torch.nn.Linear(2, 2)")
    program.run("def wrong():\n    return lambda: outside(torch.ones(2))")
    assert not program.run("%memtrack predict wrong").success
    assert "ipython-input" not in program.err and " at In [4]:2" in program.err


def test_a_prediction_is_a_value_with_the_figures_of_the_api(program):
    found = program.run('%memtrack predict build --gpu "RTX 4090" --steps 2').result
    same = memtrack.predict(program.shell.user_ns["build"], gpu="RTX 4090", steps=2)
    assert found.told == same.told
    assert found.fits is True
    assert found.data.steps_run == 2


def test_all_three_forms_say_that_it_is_predicted(program):
    found = program.run("%memtrack predict build").result
    shown = found._repr_mimebundle_()
    words = " ".join(shown["text/plain"].split())
    assert words.startswith("Predicted: Peak ")
    assert "A100 80GB (cuda:0), 79.1 GiB: predicted" in words
    assert "Predicted, from event to event" in words
    assert "layer, predicted" in words
    assert "No GPU was named: the kernels of A100 80GB are assumed" in words
    assert " a step" not in words  # how long predicting took is no figure of the run
    html = shown["text/html"]
    for part in ("Predicted: Peak", "GiB: predicted", ">predicted</text>", "layer, predicted"):
        assert part in html
    assert shown[MIME_TYPE]["report"]["evidence"] == "predicted"
    assert shown[MIME_TYPE]["report"]["step_ns"] is None


def test_the_bare_magic_shows_it_again_as_its_text_says(program):
    found = program.run("%memtrack predict build").result
    assert "%memtrack shows this again" in found._repr_mimebundle_()["text/plain"]
    assert program.run("%memtrack").result is found
    advised = program.run("%memtrack advise").result
    assert advised.base.peak == found.peak.bytes


def test_a_prediction_of_the_api_does_not_say_that_the_magic_shows_it(program):
    found = memtrack.predict(program.shell.user_ns["build"])
    assert "%memtrack" not in found._repr_mimebundle_()["text/plain"]


def test_workspaces_are_called_by_their_library(program):
    data = program.run("%memtrack predict build --gpu H200").result.data
    named = {data.string(name) for name in data.allocations["name"] if name >= 0}
    assert {"cuBLAS", "cuBLAS in backward"} <= named


def test_a_prediction_has_no_statistics_and_says_so(program):
    program.run("%memtrack predict build --gpu T4")
    assert not program.run("%memtrack summary").success
    assert program.err.startswith("UsageError: A prediction has no statistics of the allocator.")


def test_progress_is_a_bar_that_fills_and_goes_away(program):
    program.run("%memtrack predict build --gpu T4 --steps 3")
    told = bars(program)
    assert [one["text/html"].split('"')[3] for one in told] == ["0.25", "0.50", "0.75", "1.00"]
    assert told[1]["text/plain"] == "██████████░░░░░░░░░░ Predicting: 2 of 4"
    assert "" in program.texts()


def test_the_largest_batch_is_one_below_what_does_not_fit(program):
    found = program.run("%memtrack predict build_of_n --gpu 4GiB --largest-batch").result
    (sentence,) = [line for line in program.texts() if line.startswith("Largest batch that fits")]
    size, failing = (int(number) for number in re.findall(r"\d+", sentence))
    assert sentence.endswith("What limits it: backward of Net")  # relu's gradient is its own
    assert found.fits is True
    of_n = program.shell.user_ns["build_of_n"]
    assert size < failing <= size + 1 + size // 256  # as near as predictions are sure
    assert memtrack.predict(lambda: of_n(size), gpu="4GiB", steps=2).fits is True
    assert memtrack.predict(lambda: of_n(failing), gpu="4GiB", steps=2).fits is not True
    shares = [float(one["text/html"].split('"')[3]) for one in bars(program)]
    assert shares == sorted(shares)
    assert len(shares) > 3


def test_not_even_one_is_said(program):
    assert program.run("%memtrack predict build_of_n --gpu 300MiB --largest-batch").result is None
    assert any("Not even a batch of 1 fits" in line for line in program.texts())


def test_the_session_is_left_as_it_was(program):
    program.run("torch.manual_seed(5); import random, numpy; random.seed(5); numpy.random.seed(5)")
    before = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy())
    names, environment = set(program.shell.user_ns), dict(os.environ)
    known = (torch.cuda.is_available, torch.Tensor.cuda, torch.nn.Module.__call__)
    modules = set(sys.modules)
    program.run("%memtrack predict build")
    after = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1])
    assert torch.equal(before[0], after[0])
    assert before[1] == after[1]
    assert (before[2] == after[2]).all()
    assert (torch.cuda.is_available, torch.Tensor.cuda, torch.nn.Module.__call__) == known
    assert dict(os.environ) == environment
    new = {name for name in set(program.shell.user_ns) - names if not name.startswith("_")}
    assert not new
    assert not {name for name in set(sys.modules) - modules if not name.startswith("memtrack")}
    assert program.run("torch.ones(2, requires_grad=True).sum().backward()").success


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "%memtrack predict BUILD"),
        ("buld", "Did you mean 'build'?"),
        ("build --gpu", "--gpu NAME|SIZE"),
        ('build --gpu "RTX 4091"', "The nearest: RTX 4090"),
        ("build --gpu 24", "write 24GiB"),
        ("build --gpu RTX 4090", 'In quotes: --gpu "RTX 4090"'),
        ("build --step 3", "Did you mean '--steps'?"),
        ("build --steps many", "whole number"),
        ("build --steps 0", "from 1 to 1000"),
        ("build_of_n", "but it wants batch"),
        ("Net", "not Net"),
        ("3", "not int"),
        ("build_of_n --largest-batch", "--gpu NAME|SIZE"),
        ("build --largest-batch --gpu T4", "with one number"),
    ],
)
def test_what_is_wrong_is_one_line(program, words, said):
    result = program.run(f"%memtrack predict {words}")
    assert result.result is None
    assert said in program.err + program.out
    assert len((program.err + program.out).strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("build()", "build"),
        ("build ()", "build"),
        ("run_for_real()", "run_for_real"),
        ("run_for_real(3)", "lambda: run_for_real(3)"),
        ("run_for_real(3) --largest-batch --gpu 24GiB", "run_for_real --largest-batch"),
        ("holder.start()", "holder.start"),
        ("[run_for_real][0](3)", "lambda: [run_for_real][0](3)"),
        ("run_for_real() or build", "lambda: run_for_real() or build"),
        ("partial(build_of_n, run_for_real())", "lambda: partial(build_of_n, run_for_real())"),
    ],
)
def test_a_call_is_never_run_for_real(program, words, usage):
    program.run(
        "from functools import partial\nruns = []\n"
        "def run_for_real(*_):\n    runs.append(1)\n    return build\n"
        "class holder:\n    start = staticmethod(run_for_real)"
    )
    result = program.run(f"%memtrack predict {words}")
    assert not result.success
    assert program.err.strip().endswith(f"Pass the function: %memtrack predict {usage}")
    assert "would run for real" in program.err
    assert program.err.strip().count("\n") == 0
    assert program.shell.user_ns["runs"] == []


@pytest.mark.parametrize(
    "words",
    ["lambda: build_of_n(64)", "partial(build_of_n, 64)", "functools.partial(build_of_n, 64)"],
)
def test_a_function_with_its_values_is_predicted(program, words):
    program.run("import functools\nfrom functools import partial")
    found = program.run(f"%memtrack predict {words} --steps 2").result
    same = program.run("%memtrack predict build --steps 2").result
    assert found.peak_allocated == same.peak_allocated


def test_an_exception_of_the_program_is_shown_with_its_own_line(program):
    program.run("def failing():\n    raise KeyError('mine')")
    result = program.run("%memtrack predict failing")
    assert isinstance(result.error_in_exec, KeyError)
    assert "raise KeyError('mine')" in program.out + program.err
