"""`memtrack advise FILE`: text, JSON, and its errors in one line."""

import json

import pytest
from large_recording import large_recording

from memtrack.cli.main import main
from memtrack.recording import save_recording


@pytest.fixture
def file(tmp_path):
    return str(save_recording(large_recording(3, 6, 10), tmp_path / "run.memtrack"))


def test_the_table_is_printed(file, capsys):
    assert main(["advise", file, "--budget", "1MiB"]) == 0
    told = capsys.readouterr().out
    assert "Peak" in told and "does not fit into 1.00 MiB" in told and "What helps" in told


def test_json_is_one_object(file, capsys):
    assert main(["advise", file, "--json", "--gpus", "4"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "memtrack.advice/1" and found["remedies"] and found["budget"] is None


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--budget", "much"], "not a size"),
        (["--gpus", "two"], "whole number"),
        (["--gpus", "0"], "between 1"),
        (["--what"], "There is no option '--what'."),
    ],
)
def test_wrong_use_is_one_line(file, capsys, more, told):
    assert main(["advise", file, *more]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
