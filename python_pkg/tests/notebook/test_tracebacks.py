"""The user's errors in torch's operations, as the shell shows them: no frame of ours among them."""

import functools
import os
import signal

import pytest

torch = pytest.importorskip("torch")

MISMATCH = """
from torch import nn
import memtrack
bad = nn.Sequential(nn.Linear(4, 4), nn.Linear(3, 3))
def fails():
    bad(torch.ones(2, 4)).sum().backward()
"""


def last_frames(shown):
    """Return what is shown from the last layer on, with the message."""
    return shown[shown.rindex("linear.py") :]


@pytest.fixture
def failing(training):
    assert training.run(MISMATCH).success
    return training


@pytest.mark.parametrize(
    ("before", "cell"),
    [
        ("%memtrack bad", "fails()"),
        ("pass", "%%memtrack bad\nfails()"),
        ("pass", "with memtrack.track(bad):\n    fails()"),
    ],
)
def test_shape_mismatch_looks_as_untracked(failing, before, cell):
    failing.run("fails()")
    untracked = last_frames(failing.out)
    assert "shapes cannot be multiplied" in untracked
    failing.run(before)
    failing.run(cell)
    assert last_frames(failing.out) == untracked
    for ours in ("capture/", "_dynamo", "_compile.py", "_ops.py"):
        assert ours not in failing.out


def test_shell_has_its_own_formatter_back(failing):
    formatter = failing.shell.InteractiveTB
    assert "structured_traceback" not in vars(formatter)
    failing.run("%memtrack bad")
    assert "structured_traceback" in vars(formatter)
    failing.run("%memtrack off")
    assert "structured_traceback" not in vars(formatter)


def test_another_that_came_on_top_is_left_alone(failing):
    formatter = failing.shell.InteractiveTB
    failing.run("%memtrack bad")
    inner = formatter.structured_traceback
    formatter.structured_traceback = theirs = lambda *args, **kwargs: inner(*args, **kwargs)
    failing.run("%memtrack off")
    assert formatter.structured_traceback is theirs
    failing.run("1 / 0")
    assert "ZeroDivisionError" in failing.out


@pytest.mark.parametrize("cell", ["%memtrack model", "%%memtrack model\ntrain(1)", "%memtrack"])
def test_an_interrupt_while_we_work_shows_nothing_of_ours(training, monkeypatch, cell):
    stop = functools.partial(signal.raise_signal, signal.SIGINT)
    monkeypatch.setattr("memtrack.capture.recorder.living_objects", stop)
    monkeypatch.setattr("memtrack.notebook.latest.last_finished", stop)
    result = training.run(cell)
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    shown = training.out + training.err
    assert "KeyboardInterrupt" in shown
    assert f"memtrack{os.sep}" not in shown
    assert not torch.nn.modules.module._global_forward_hooks


@pytest.mark.parametrize("kind", ["KeyboardInterrupt", "ZeroDivisionError", "SystemExit"])
def test_what_ends_a_program_that_we_run_shows_the_program(training, kind):
    training.run(f"def build():\n    stop()\n\n\ndef stop():\n    raise {kind}('mine')")
    training.run("%memtrack predict build")
    shown = training.out + training.err
    assert f"raise {kind}" in shown or kind == "SystemExit"
    assert f"memtrack{os.sep}" not in shown


CHAINED = """
def build():
    model = nn.Linear(4, 4)
    def step():
        try:
            model(torch.ones(2, 5))
        except RuntimeError as error:
            raise ValueError("mine") from error
    return step
"""


def test_what_an_error_came_from_is_shown_without_our_frames_too(training):
    training.run(CHAINED)
    result = training.run("%memtrack predict build")
    assert isinstance(result.error_in_exec, ValueError)
    assert isinstance(result.error_in_exec.__cause__, RuntimeError)
    shown = training.out + training.err
    assert "model(torch.ones(2, 5))" in shown
    assert "direct cause" in shown
    assert f"memtrack{os.sep}" not in shown


def test_an_error_of_ours_alone_is_shown_whole(training, monkeypatch):
    monkeypatch.setattr("memtrack.notebook.latest.last_finished", functools.partial(divmod, 1, 0))
    training.run("%memtrack")
    shown = training.out + training.err
    assert "ZeroDivisionError" in shown
    assert "latest.py" in shown
