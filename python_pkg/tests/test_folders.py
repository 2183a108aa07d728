"""A working folder that has been removed: commands say so in one line, programs and recordings go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtrack.cli import main
from memtrack.folders import folder_of_imports, from_the_root, working_folder

RECORDING = Path(__file__).parent / "fixtures" / "report" / "recording.memtrack"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="no folder in use can be removed there")


@pytest.fixture
def warm():
    """torch as a notebook has it that has worked for a while: its libraries want a folder to load in."""
    torch = pytest.importorskip("torch")
    import memtrack

    with memtrack.track(history=False):
        torch.nn.Linear(4, 4)(torch.ones(2, 4)).sum().backward()
    return torch


@pytest.fixture
def gone(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    monkeypatch.delenv("MEMTRACK_HISTORY", raising=False)
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    return folder


def test_paths_stay_as_they_are(gone, tmp_path):
    assert working_folder() == Path(".")
    assert folder_of_imports() == ""
    assert from_the_root("a/../b.py") == "b.py"
    assert from_the_root(tmp_path / "c") == str(tmp_path / "c")


def test_paths_are_whole_where_there_is_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(working_folder()) == folder_of_imports() == os.getcwd()
    assert from_the_root("b.py") == os.path.join(os.getcwd(), "b.py")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["history"], "There is no history"),
        (["diff"], "There is no history"),
        (["diff", "1", "2"], "There is no history"),
        (["diff", str(RECORDING), "1"], "There is no history"),
        (["check", str(RECORDING)], "There is no history"),
        (["open", "x.memtrack"], "There is no file x.memtrack."),
        (["explain", "x.log"], "There is no file x.log."),
        (["export", str(RECORDING), "x.json"], "x.json cannot be written"),
        (["predict", "train.py:build"], "There is no file train.py."),
        (["predict", "no_such_module_here:build"], "There is no module 'no_such_module_here'"),
        (["predict", "train:build", "--save", "no/x"], "There is no folder no."),
    ],
)
def test_commands_say_in_one_line_what_is_missing(gone, words, said, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_recording_is_made_and_kept_where_there_is_a_place_for_it(
    warm, gone, is_kept, tmp_path, monkeypatch, capsys
):
    import memtrack
    from memtrack.runs import keeping

    monkeypatch.setattr(keeping, "_told", set())
    monkeypatch.setattr(keeping, "_turned", None)
    if is_kept:
        monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    with memtrack.track() as recording:
        warm.ones(1000)
    keeping.wait()
    told = capsys.readouterr().err.splitlines()
    assert recording.peak.bytes >= 4000
    if is_kept:
        assert told == []
        assert len(memtrack.history().runs) == 1
    else:
        assert len(told) == 1
        assert ".memtrack" in told[0]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-m", "json.tool", "--help"], 0, "usage: python -m json.tool"),
        (["train.py"], 2, "can't open file"),
        (["../train.py"], 2, "can't open file"),
        (["-m", "no_such_module_here"], 1, "No module named no_such_module_here"),
    ],
)
def test_programs_run_as_python_runs_them(gone, words, code, said):
    command = [sys.executable, "-m", "memtrack", "run", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    assert said in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
