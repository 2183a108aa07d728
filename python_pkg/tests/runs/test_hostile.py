"""Recordings, histories and words that anybody may have made: nothing leaves the folder, nothing is lost."""

import sqlite3

import pytest
from kept_runs import KIB, recording

from memtrack.errors import UnavailableError, UsageError
from memtrack.runs import History, Limits
from memtrack.runs.store import FILE

IDENTIFIERS = ("../../out", "/out", "a/b", "..", "", "a\0b", "n" * 300, "\udcff", "con:aux", "-x")


def files(folder):
    return [
        path.relative_to(folder).as_posix() for path in folder.rglob("*.memtrack") if path.is_file()
    ]


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_no_identifier_leads_out_of_the_folder(tmp_path, identifier):
    with History(tmp_path / "deep" / ".memtrack") as history:
        run = history.add(recording(identifier))
        assert history.add(recording(identifier)).id == run.id
        assert history.data(run).facts.identifier == run.identifier
        if identifier:
            assert history.recorded_as(identifier) == run
    assert files(tmp_path) == [f"deep/.memtrack/recordings/{run.identifier}.memtrack"]


def test_recordings_without_an_identifier_are_runs_of_their_own(tmp_path):
    with History(tmp_path / ".memtrack") as history:
        runs = [history.add(recording("", size * KIB)) for size in (1, 2, 1)]
    assert [run.id for run in runs] == [1, 2, 1]
    assert [run.peak for run in runs] == [KIB, 2 * KIB, KIB]


@pytest.mark.parametrize(
    "name", ["../mine.memtrack", "recordings/../../mine.memtrack", "{absolute}"]
)
def test_a_history_from_elsewhere_removes_and_reads_only_its_own(tmp_path, name):
    folder = tmp_path / ".memtrack"
    mine = tmp_path / "mine.memtrack"
    mine.write_text("precious")
    with History(folder, limits=Limits(files=1)) as history:
        history.add(recording())
        with sqlite3.connect(folder / FILE) as connection:
            connection.execute("UPDATE runs SET file = ?", (name.format(absolute=mine),))
        connection.close()
        with pytest.raises(UnavailableError, match="not kept"):
            history.data(history.run(1))
        history.add(recording("b" * 32))
        assert history.run(1).file == ""
    assert mine.read_text() == "precious"


def test_words_that_are_no_utf8_are_kept_as_well_as_can_be(tmp_path):
    with History(tmp_path / ".memtrack") as history:
        run = history.add(recording(label="net\udcff", run={"path": "/home/\udcff.py"}))
        assert (run.label, run.notebook) == ("net?", "/home/?.py")
        assert history.view(run).label == "net\udcff"
        assert history.note(run, "a\ud800").note == "a?"
        assert history.tag(run, ["\ud800"]).tags == ["?"]
        with pytest.raises(UsageError, match="no run"):
            history.run("\udcff")


def test_a_deleted_run_that_is_saved_again_is_back(tmp_path):
    with History(tmp_path / ".memtrack") as history:
        run = history.name(history.add(recording()), "mine")
        history.delete(run)
        assert history.add(recording()) == run
        assert [one.id for one in history.runs()] == [1] and not history.runs(deleted=True)
