"""The script by which `make` does only what has changed."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "step.py"


@pytest.fixture
def step(tmp_path, monkeypatch, capfd):
    """Run a step that appends to `out` at the root of an empty project; give code and output."""
    spec = importlib.util.spec_from_file_location("step", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "STAMPS", tmp_path / "stamps")
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    (tmp_path / "in").write_text("1")

    def run(program="echo x >> out", key="k"):
        arguments = ["step.py", "s", "--on", "in", "--key", key, "--makes", "out", "--"]
        monkeypatch.setattr("sys.argv", [*arguments, "sh", "-c", program])
        code = module.main()
        return code, "".join(capfd.readouterr())

    return run


def times_run(tmp_path):
    return (tmp_path / "out").read_text().count("x")


def test_step_runs_once_for_the_same_inputs(step, tmp_path):
    assert step()[0] == 0
    assert "up to date" in step()[1]
    assert times_run(tmp_path) == 1


@pytest.mark.parametrize("change", ["input", "key", "result", "gone"])
def test_step_runs_again_when_something_differs(step, tmp_path, change):
    step()
    key = "k"
    if change == "input":
        (tmp_path / "in").write_text("2")
    elif change == "key":
        key = "other"
    elif change == "result":
        (tmp_path / "out").write_text("x made by hand")
    else:
        (tmp_path / "out").unlink()
    assert "up to date" not in step(key=key)[1]


def test_failed_step_shows_its_output_and_runs_again(step, tmp_path):
    code, output = step("echo x >> out; echo what went wrong; exit 3")
    assert code == 3
    assert "what went wrong" in output
    assert "s failed" in output
    step("echo x >> out; exit 3")
    assert times_run(tmp_path) == 2


def test_step_that_does_not_make_what_it_promises_fails(step):
    code, output = step("true")
    assert code == 1
    assert "did not make" in output
