"""`memtrack predict MODULE:FUNCTION`: exit codes, JSON, the program as its user runs it, wrong use."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import memtrack
from memtrack.cli import main

pytest.importorskip("torch")
Read = pytest.CaptureFixture[str]
PROGRAM = """
import sys
import torch

BYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 4 << 20

def build(size=BYTES):
    weight = torch.zeros(size // 4, device="cuda", requires_grad=True)
    print("built")
    def step():
        weight.grad = None
        (weight * 2).sum().backward()
    return step

def of_n(mebibytes):
    return build(mebibytes << 20)

def left():
    sys.exit(3)

def failing():
    raise ValueError("mine")

class Net(torch.nn.Module):
    pass

NUMBER = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    name = f"program_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    yield tmp_path / name
    for known in [one for one in sys.modules if one.startswith("program_")]:
        del sys.modules[known]


def predicted(capsys: Read, *words: str, code: int = 0) -> tuple[Any, str]:
    """Return the JSON of a prediction, and what went to stderr."""
    assert main(["predict", *words, "--json"]) == code
    out, err = capsys.readouterr()
    return json.loads(out), err


def test_what_fits_is_0_and_what_does_not_is_1(folder: Path, capsys: Read) -> None:
    assert main(["predict", f"{folder.name}:build", "--gpu", "RTX 4090"]) == 0
    assert "fits RTX 4090" in " ".join(capsys.readouterr().out.split())
    assert main(["predict", f"{folder.name}:build", "--gpu", "8MiB"]) == 1


def test_json_has_bytes_and_nothing_that_the_program_prints(folder: Path, capsys: Read) -> None:
    told, err = predicted(capsys, f"{folder.name}:build", "--steps", "2")
    assert told["schema"] == "memtrack.prediction/1"
    # The weight with its doubled copy or its gradient, and two scalars of 512 bytes each.
    assert told["peak_allocated"] == 2 * (4 << 20) + 2 * 512
    assert told["calls"] == 2
    assert told["fits"] is None
    assert err == "built\n"


@pytest.mark.parametrize(
    ("words", "gpu", "given", "capacity", "kernels", "assumed"),
    [
        ([], None, "nothing", -1, "A100 80GB", True),
        (["--gpu", "24GiB"], None, "size", 24 << 30, "A100 80GB", True),
        (["--gpu", "RTX 4090"], "RTX 4090", "name", None, "RTX 4090", False),
        (["--gpu", "MI300X"], "MI300X", "name", None, "A100 80GB", True),
    ],
)
def test_json_says_what_was_asked_and_whose_kernels_are_assumed(
    words: list[str],
    gpu: str | None,
    given: str,
    capacity: int | None,
    kernels: str,
    assumed: bool,
    folder: Path,
    capsys: Read,
) -> None:
    told, _ = predicted(capsys, f"{folder.name}:build", *words)
    assert (told["gpu"] or "").endswith(gpu or "") and (told["gpu"] is None) == (gpu is None)
    assert (told["gpu_given"], told["kernels_assumed"]) == (given, assumed)
    assert told["kernels"].endswith(kernels)
    assert told["capacity"] == capacity or capacity is None


def test_a_file_elsewhere_and_values_in_the_call(
    folder: Path, capsys: Read, monkeypatch: Any
) -> None:
    monkeypatch.chdir("/")
    told, _ = predicted(capsys, f"{folder}.py:build(size={8 << 20})")
    assert told["peak_allocated"] == 2 * (8 << 20) + 2 * 512
    told, _ = predicted(capsys, f"{folder}.py:of_n(2)")
    assert told["peak_allocated"] == 2 * (2 << 20) + 2 * 512


def test_the_module_finds_its_own_arguments(folder: Path, capsys: Read) -> None:
    before, path = list(sys.argv), list(sys.path)
    told, _ = predicted(capsys, f"{folder.name}:build", "--args", str(16 << 20))
    assert told["peak_allocated"] == 2 * (16 << 20) + 2 * 512
    assert (sys.argv, sys.path) == (before, path)


def test_a_file_with_the_name_of_a_module_of_python(folder: Path, capsys: Read) -> None:
    import colorsys as of_python

    (folder.parent / "colorsys.py").write_text(PROGRAM)
    told, _ = predicted(capsys, "colorsys:of_n(1)")
    assert told["peak_allocated"] == 2 * (1 << 20) + 2 * 512
    assert sys.modules["colorsys"] is of_python


def test_the_largest_batch(folder: Path, capsys: Read) -> None:
    words = (f"{folder.name}:of_n", "--largest-batch", "--gpu", "2GiB")
    told, _ = predicted(capsys, *words)
    size = told["largest_batch"]
    assert told["fits"] is True
    assert [size, True] in told["tried"]
    # The weight and its double, beside what a context takes and a margin.
    assert 400 < size < (2048 - 300) // 2
    assert told["limiting_next"] == {"phase": "other", "layer": ""}  # it has no module
    assert main(["predict", *words]) == 0
    assert capsys.readouterr().out.count(f"Largest batch that fits: {size}.") == 1


def test_a_terminal_sees_a_bar_that_goes_away(folder: Path, capsys: Read, monkeypatch: Any) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    predicted(capsys, f"{folder.name}:build", "--steps", "1")
    told = sys.stderr.getvalue()
    assert "██████████░░░░░░░░░░ Predicting: 1 of 2" in told
    assert told.endswith("\r")


def test_not_even_the_smallest_is_1(folder: Path, capsys: Read) -> None:
    told, _ = predicted(capsys, f"{folder.name}:of_n", "--largest-batch", "--gpu", "2MiB", code=1)
    assert told["largest_batch"] == 0
    assert told["schema"] == "memtrack.prediction/1"


def test_what_is_saved_reopens(folder: Path, capsys: Read) -> None:
    told, _ = predicted(capsys, f"{folder.name}:build", "--save", str(folder.parent / "it"))
    again = memtrack.open(folder.parent / "it.memtrack")
    assert isinstance(again, memtrack.Prediction)
    assert again.peak_allocated == told["peak_allocated"]


def test_a_program_that_fails_is_2_with_its_own_traceback(folder: Path, capsys: Read) -> None:
    assert main(["predict", f"{folder.name}:failing"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].strip().startswith(f'File "{folder}.py", line ')
    assert lines[-2] == "ValueError: mine"
    assert lines[-1] == "Not predicted: the program raised ValueError, as shown above."
    assert main(["predict", f"{folder.name}:left"]) == 2
    assert capsys.readouterr().err == "The program left with 3 before it was predicted.\n"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def build(:", "SyntaxError"),
        ("import nothing_1", "nothing_1"),
    ],
)
def test_a_module_that_cannot_be_imported_is_2(
    folder: Path, capsys: Read, source: str, error: str
) -> None:
    (folder.parent / "program_broken.py").write_text(source)
    assert main(["predict", "program_broken:build"]) == 2
    err = capsys.readouterr().err
    assert error in err
    assert "memtrack/cli" not in err
    assert "program_broken" not in sys.modules


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{}"], "MODULE:FUNCTION"),
        (["{}:"], "MODULE:FUNCTION"),
        (["{}:nothing"], "no function"),
        (["{}:buld"], "Did you mean '{}:build'?"),
        (["{}:NUMBER"], "is no function"),
        (["{}:Net"], "not Net"),
        (["{}:of_n"], "of_n() without arguments, but it wants mebibytes"),
        (["{}:of_n(x)"], "plain values"),
        (["{}:of_n("], "plain values"),
        (["not_there_at_all:build"], "no module"),
        (["not/there.py:build"], "no file not/there.py"),
        (["{}:build", "--gpu", "RTX 4091"], "RTX 4090"),
        (["{}:build", "--gpu", "24"], "24GiB"),
        (["{}:build", "--gpu", "M2 Max 32GB"], "Only CUDA devices"),
        (["{}:build", "--steps", "x"], "whole number"),
        (["{}:build", "--args", "'"], "--args"),
        (["{}:build", "--save", "not/there/it"], "no folder"),
        (["{}:of_n", "--largest-batch"], "--gpu NAME|SIZE"),
    ],
)
def test_wrong_use_is_2(folder: Path, words: list[str], said: str, capsys: Read) -> None:
    assert main(["predict", *[word.format(folder.name) for word in words]]) == 2
    error = capsys.readouterr().err
    assert said.format(folder.name) in error
    assert error.count("\n") == 1
