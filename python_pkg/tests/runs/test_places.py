"""Histories in odd places, and clocks that are wrong."""

import os
import time

import pytest
from kept_runs import many, recording

import memtrack
from memtrack.errors import UnavailableError
from memtrack.runs import History

NAMES = [
    "a b?c=1&mode=ro#x",
    "100%25 %zz",
    "ünï 目录",
    "with'quote\"and\\back",
    "new\nline",
    "~",
    "file:uri",
    "x" * 200,
    "sur\udcffrogate",
]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_folder_may_have_any_name(tmp_path, name):
    folder = tmp_path / name
    try:
        folder.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    with History(folder) as history:
        many(history, 2)
        history.name(history.run(1), "first")
    with History(folder, create=False) as history:
        assert [run.id for run in history.runs()] == [2, 1]
        assert history.data(history.run("first")).facts.label == "net"
    assert sorted(path.name for path in folder.iterdir()) == ["history.db", "recordings"]
    assert "first" in str(memtrack.history(folder=folder))


def test_what_stands_in_its_place_is_left_there_and_told(tmp_path):
    (tmp_path / "history.db").mkdir()
    with pytest.raises(UnavailableError, match="unable to open"):
        History(tmp_path)
    with pytest.raises(UnavailableError, match="There is no history"):
        History(tmp_path, create=False)
    assert (tmp_path / "history.db").is_dir()


def test_a_run_is_added_where_its_recording_cannot_be_kept(tmp_path):
    (tmp_path / "recordings").write_text("a file of the user's")
    with History(tmp_path) as history:
        run = history.add(recording())
        assert (run.file, history.view(run).peak.bytes) == ("", run.peak)
    assert (tmp_path / "recordings").read_text() == "a file of the user's"


def test_runs_stand_in_the_order_in_which_they_were_added_whatever_the_clock_says(
    tmp_path, monkeypatch
):
    with History(tmp_path) as history:
        # In 2033, back to 2017, before there was time (a board without a battery), and 2065.
        for number, now in enumerate((2e9, 1.5e9, 1.0, 3e9)):
            monkeypatch.setattr(time, "time", lambda now=now: now)
            run = history.add(recording(f"{number:032x}"))
            assert (run.created, history.run("last").id) == (now, run.id)
            assert history.data(run).facts.identifier == run.identifier
        assert [run.id for run in history.runs()] == [4, 3, 2, 1]
        history.delete(history.run(1))
        monkeypatch.setattr(time, "time", lambda: 1e9)  # long before it was deleted
        history.add(recording("e" * 32))
        assert [run.id for run in history.runs(deleted=True)] == [1]
        assert history.restore(history.run(1, deleted=True)).id == 1
