"""`memtrack predict MODULE:FUNCTION`: exit codes, JSON, wrong use in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtrack.cli import main

pytest.importorskip("torch")
PROGRAM = """
import torch

def build():
    weight = torch.zeros(1 << 20, device="cuda", requires_grad=True)
    def step():
        weight.grad = None
        (weight * 2).sum().backward()
    return step
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    name = f"program_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / name


def test_what_fits_is_0_and_what_does_not_is_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", f"{folder.name}:build", "--gpu", "RTX 4090"]) == 0
    assert "fits RTX 4090" in " ".join(capsys.readouterr().out.split())
    assert main(["predict", f"{folder.name}:build", "--gpu", "8MiB"]) == 1


def test_json_has_bytes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", f"{folder.name}:build", "--json", "--steps", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "memtrack.prediction/1"
    # The weight with its doubled copy or its gradient, and two scalars of 512 bytes each.
    assert told["peak_allocated"] == 2 * (4 << 20) + 2 * 512
    assert told["calls"] == 2
    assert told["fits"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{}"], "MODULE:FUNCTION"),
        (["{}:nothing"], "no function"),
        (["not_there_at_all:build"], "no module"),
        (["{}:build", "--gpu", "RTX 4091"], "RTX 4090"),
        (["{}:build", "--steps", "x"], "whole number"),
    ],
)
def test_wrong_use_is_2(
    folder: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", *[word.format(folder.name) for word in words]]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
