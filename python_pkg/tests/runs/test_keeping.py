"""Finished recordings become runs by themselves; what fails there is told once and harms nothing."""

import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from kept_runs import KIB, recording

from memtrack.errors import UnavailableError
from memtrack.recording import RecordingBuilder
from memtrack.runs import History, keeping
from memtrack.runs.surroundings import Origin


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    monkeypatch.setattr(keeping, "_told", set())
    monkeypatch.setattr(keeping, "_turned", None)
    return tmp_path / "kept"


def origin(tmp_path):
    return Origin("", None, tmp_path)


def identifiers(folder):
    keeping.wait()
    with History(folder, create=False) as history:
        return [run.identifier for run in history.runs()]


def test_what_is_kept_is_there_in_order(folder, tmp_path):
    for number in range(40):
        keeping.keep(recording(f"{number:032x}"), origin(tmp_path))
    assert identifiers(folder) == [f"{number:032x}" for number in reversed(range(40))]
    assert not [one for one in threading.enumerate() if one.name == "memtrack history"]


def test_keeping_does_not_wait_for_the_disk(folder, tmp_path, monkeypatch):
    from memtrack.runs.store import History as Store

    slow, add = threading.Event(), Store.add
    monkeypatch.setattr(Store, "add", lambda *a, **k: slow.wait(20) and add(*a, **k))
    began = time.monotonic()
    keeping.keep(recording(), origin(tmp_path))
    assert time.monotonic() - began < 1
    slow.set()
    assert identifiers(folder) == ["a" * 32]


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none"])
def test_it_can_be_switched_off(folder, tmp_path, monkeypatch, word):
    monkeypatch.setenv("MEMTRACK_HISTORY", word)
    monkeypatch.chdir(tmp_path)
    keeping.keep(recording(), origin(tmp_path))
    keeping.wait()
    assert list(tmp_path.iterdir()) == []
    keeping.turn(True)
    keeping.keep(recording(), origin(tmp_path))
    keeping.wait()
    assert (tmp_path / ".memtrack" / "history.db").is_file()


def test_nothing_is_kept_of_a_recording_of_nothing(folder, tmp_path):
    builder = RecordingBuilder()
    add = builder.strings.add
    builder["devices"].add(kind=add("cpu"), index=0, name=add("CPU"), total=-1, context=-1)
    keeping.keep(builder.build(recording().facts), origin(tmp_path))
    keeping.wait()
    assert not folder.exists()


def test_a_failure_is_told_once_in_one_line(folder, tmp_path, capsys):
    folder.write_text("a file where the folder should be")
    for number in range(3):
        keeping.keep(recording(f"{number:032x}"), origin(tmp_path))
        keeping.wait()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("memtrack: this run is not in the history. The history ")
    assert "Set MEMTRACK_HISTORY to another folder." in told[0]


def test_a_newer_history_is_told_in_one_line_and_left_alone(folder, tmp_path, capsys):
    History(folder).close()
    connection = sqlite3.connect(folder / "history.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (folder / "history.db").read_bytes()
    keeping.keep(recording(), origin(tmp_path))
    keeping.wait()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("memtrack: this run is not in the history.") and "newer" in line
    assert (folder / "history.db").read_bytes() == before


def test_limits_told_wrongly_are_said_once_and_remove_nothing(
    folder, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("MEMTRACK_HISTORY_FILES", "lots")
    for number in range(60):
        keeping.keep(recording(f"{number:032x}"), origin(tmp_path))
    keeping.wait()
    assert capsys.readouterr().err == (
        "memtrack: no recording is removed."
        " MEMTRACK_HISTORY_FILES must be a whole number from 0, not 'lots'.\n"
    )
    assert sum(1 for _ in (folder / "recordings").iterdir()) == len(identifiers(folder)) == 60


def test_even_a_bug_of_ours_is_one_line(folder, tmp_path, capsys, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("x")

    monkeypatch.setattr(keeping, "with_origin", broken)
    keeping.keep(recording(), origin(tmp_path))
    keeping.wait()
    assert capsys.readouterr().err == (
        "memtrack: this run is not in the history. ZeroDivisionError: x\n"
    )


def test_an_interrupt_while_the_thread_starts_stops_nothing_later(folder, tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            keeping.keep(recording("1" * 32), origin(tmp_path))
    keeping.wait()
    keeping.keep(recording("2" * 32), origin(tmp_path))
    assert identifiers(folder) == ["2" * 32, "1" * 32]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


def in_child(action):
    """Run an action in a forked process and return its exit code: 0, or 1 where it has raised."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@needs_fork
def test_forks_while_runs_are_added_lose_none(folder, tmp_path):
    def child(number):
        keeping.keep(recording(f"b{number:031x}"), origin(tmp_path))
        keeping.wait()

    for number in range(12):
        keeping.keep(recording(f"a{number:031x}"), origin(tmp_path))
        assert in_child(lambda number=number: child(number)) == 0
    expected = [f"{who}{number:031x}" for who in "ab" for number in range(12)]
    assert sorted(identifiers(folder)) == expected


@needs_fork
def test_a_child_of_an_open_history_leaves_it_alone(folder, tmp_path, monkeypatch):
    from memtrack.runs import forks

    monkeypatch.setattr(forks, "PATIENCE_S", 0.05)

    def child():
        with pytest.raises(UnavailableError, match="in use when this process was forked"):
            History(folder)

    with History(folder) as history:
        assert in_child(child) == 0
        history.add(recording("c" * 32))
    assert in_child(lambda: History(folder).close()) == 0
    assert identifiers(folder) == ["c" * 32]


@needs_fork
def test_a_forked_child_keeps_its_own(folder, tmp_path):
    keeping.keep(recording("a" * 32), origin(tmp_path))

    def child():
        keeping.keep(recording("b" * 32), origin(tmp_path))
        keeping.wait()

    assert in_child(child) == 0
    assert sorted(identifiers(folder)) == ["a" * 32, "b" * 32]


SCRIPT = """
import torch, memtrack, sys
model = torch.nn.Linear(8, 8)
with memtrack.track(model, history="quiet" not in sys.argv):
    model(torch.randn(4, 8)).sum().backward()
if "raise" in sys.argv:
    raise SystemExit(3)
"""


def run_script(tmp_path, *words):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "MEMTRACK_HISTORY": ""}
    told = subprocess.run(
        [sys.executable, str(script), *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    return told.returncode, told.stderr


def test_a_script_has_its_history_beside_it_when_it_ends(tmp_path):
    assert run_script(tmp_path) == (0, "")
    assert run_script(tmp_path, "raise") == (3, "")
    with History(tmp_path / ".memtrack", create=False) as history:
        runs = history.runs()
        assert [run.id for run in runs] == [2, 1]
        assert runs[0].notebook == str(tmp_path / "train.py") and runs[0].parameters == 72
        assert history.data(runs[1]).facts.extra["run"]["batches"] == ["input 0 4×8 float32"]
    assert run_script(tmp_path, "quiet") == (0, "")
    with History(tmp_path / ".memtrack", create=False) as history:
        assert len(history.runs()) == 2


PROGRAM = """
import torch, sys
torch.nn.Linear(8, 8)(torch.randn(4, 8)).sum().backward()
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize(("code", "state"), [(0, "complete"), (3, "failed")])
def test_a_program_that_was_run_is_a_run(tmp_path, code, state):
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "memtrack", "run"]
    environment = {**os.environ, "MEMTRACK_HISTORY": "", "MEMTRACK_LANG": "en"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True}
    told = subprocess.run([*command, "train.py", str(code)], **options)
    assert told.returncode == code
    assert len(told.stderr.splitlines()) == 1  # where the file is
    subprocess.run([*command, "--no-record", "train.py", "0"], **options)
    with History(tmp_path / ".memtrack", create=False) as history:
        (run,) = history.runs()
        assert (run.label, run.state) == ("train", state)
        assert run.notebook == str(tmp_path / "train.py") and run.cell is None


def test_a_history_keeps_no_more_than_it_is_given(folder, tmp_path):
    keeping.keep(recording("a" * 32, 7 * KIB), origin(tmp_path))
    assert identifiers(folder) == ["a" * 32]
    run = keeping.keep_now(recording("a" * 32, 7 * KIB), origin(tmp_path))
    assert (run.id, run.peak) == (1, 7 * KIB)
