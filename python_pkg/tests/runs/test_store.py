"""Runs that are added are there; names, baselines, tags and deletions are as asked."""

import os
import sqlite3
import stat
from contextlib import closing

import numpy as np
import pytest
from kept_runs import KIB, many, recording

from memtrack.comparison import compare, view_of
from memtrack.errors import NewerFormat, UnavailableError, UnreadableFile, UsageError
from memtrack.runs import History, Limits, files, history_folder
from memtrack.runs.database import Database
from memtrack.units import GIB


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / ".memtrack") as opened:
        yield opened


def test_a_run_is_there_with_all_that_is_known(history):
    around = {"path": "train.ipynb", "cell": 12, "commit": "abc123", "dirty": True}
    run = history.add(recording(run=around))
    assert (run.id, run.label, run.peak, run.parameters) == (1, "net", 4 * KIB, KIB)
    assert (run.notebook, run.cell, run.commit, run.dirty) == ("train.ipynb", 12, "abc123", True)
    assert [one.id for one in history.runs()] == [run.id]
    assert np.max(run.spark) == 1.0
    data = history.data(run)
    assert data.facts.identifier == "a" * 32
    assert view_of(data).shares == history.view(run).shares


def test_the_view_comes_back_whole(history):
    run = history.add(recording())
    kept, made = history.view(run), view_of(recording())
    assert compare(kept, made).peak_change == 0
    assert kept.tree == made.tree and kept.settings == made.settings and kept.peak == made.peak
    assert {name: values.tolist() for name, values in kept.columns.items()} == {
        name: values.tolist() for name, values in made.columns.items()
    }


def test_the_same_recording_is_one_run(history):
    assert history.add(recording()).id == history.add(recording()).id == 1
    assert len(history.runs()) == 1


def test_runs_are_found_by_number_name_last_and_baseline(history):
    first, second, third = many(history, 3)
    history.name(first, "before checkpointing")
    history.make_baseline(second)
    for which, run in (
        (1, first),
        ("1", first),
        ("before checkpointing", first),
        ("baseline", second),
        ("last", third),
        (third.identifier, third),
    ):
        assert history.run(which).id == run.id
    with pytest.raises(UsageError, match="Did you mean 'before checkpointing'"):
        history.run("before checkpoint")
    with pytest.raises(UsageError, match="There is no run '17'"):
        history.run(17)


def test_an_empty_history_says_so(history):
    with pytest.raises(UsageError, match=r"There is no run in .* yet. It begins"):
        history.run("last")
    with pytest.raises(UsageError, match="There is no baseline yet"):
        history.run("baseline")


def test_names_are_taken_once_and_are_no_numbers(history):
    first, second = many(history, 2)
    history.name(first, "base")
    with pytest.raises(UsageError, match="Run 1 is called 'base' already"):
        history.name(second, "base")
    for bad in ("12", "last", "Baseline", "-x", "x" * 81, "a\nb"):
        with pytest.raises(UsageError):
            history.name(second, bad)
    assert history.name(first, "").name == ""
    assert history.name(second, "base").name == "base"
    history.delete(second)
    assert history.name(first, "base").name == "base"
    assert history.restore(second).name == ""


def test_our_folder_is_no_part_of_anybodys_commits(history):
    assert (history.folder / ".gitignore").read_text() == "*\n"
    (history.folder / ".gitignore").write_text("theirs")
    History(history.folder).close()
    assert (history.folder / ".gitignore").read_text() == "theirs"


def test_each_label_has_a_baseline(history):
    net = [history.add(recording(f"{n:032x}")) for n in range(3)]
    other = history.add(recording("f" * 32, label="gan"))
    history.make_baseline(net[0])
    history.make_baseline(other)
    history.make_baseline(net[1])
    assert [run.baseline for run in history.runs()] == [True, False, True, False]
    assert history.baseline_for("net", net[2].id).id == net[1].id
    assert history.baseline_for("net", net[1].id).id == other.id
    assert history.baseline_for("gan").id == other.id
    assert history.baseline_for("new").id == other.id
    history.make_baseline(other, on=False)
    assert history.baseline_for("gan").id == net[1].id
    assert history.baseline_for("net", net[1].id) is None


def test_the_run_of_a_recording_is_found(history):
    run = history.tag(history.add(recording("a" * 32)), ["x"])
    assert history.recorded_as("a" * 32) == run
    assert history.recorded_as("a" * 31) is None
    history.delete(run)
    assert history.recorded_as("a" * 32) is None


def test_deleted_runs_come_back(history):
    first, second = many(history, 2)
    history.delete(second)
    assert [run.id for run in history.runs()] == [first.id]
    assert [run.id for run in history.runs(deleted=True)] == [second.id]
    assert history.run("last").id == first.id
    with pytest.raises(UsageError, match="There is no run '2'"):
        history.run(2)
    assert history.run(2, deleted=True).deleted
    assert history.restore(second).id == second.id
    assert len(history.runs()) == 2


def test_search_looks_at_words_and_tags(history):
    first, second = many(history, 2)
    history.tag(first, ["bf16", " ckpt ", ""])
    history.note(second, "Batch 12, checkpointed")
    assert history.run(1).tags == ["bf16", "ckpt"]
    assert [run.id for run in history.runs(search="CKPT")] == [1]
    assert [run.id for run in history.runs(search="batch 12")] == [2]
    assert [run.id for run in history.runs(search="12 BATCH")] == [2]
    assert history.runs(search="nothing") == history.runs(search="bf16 nothing") == []


def test_full_recordings_are_kept_by_number_and_pinned_ones_stay(tmp_path):
    with History(tmp_path, limits=Limits(files=3)) as history:
        kept = history.add(recording("e" * 32))
        history.pin(kept)
        many(history, 6)
        files = sorted(run.id for run in history.runs() if run.file)
        assert files == [1, 5, 6, 7]
        assert len(list((tmp_path / "recordings").iterdir())) == 4
        with pytest.raises(UnavailableError, match="not kept any more"):
            history.data(history.run(2))
        assert history.view(history.run(2)).peak.bytes == KIB


def test_full_recordings_are_kept_by_size(tmp_path):
    with History(tmp_path, limits=Limits(bytes=1)) as history:
        many(history, 3)
        assert [bool(run.file) for run in history.runs()] == [True, False, False]


def test_the_environment_says_how_many_recordings_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY_FILES", "2")
    with History(tmp_path) as history:
        many(history, 4)
        assert [bool(run.file) for run in history.runs()] == [True, True, False, False]
        monkeypatch.setenv("MEMTRACK_HISTORY_SIZE", "1KiB")
        history.add(recording("f" * 32))
        assert [bool(run.file) for run in history.runs()] == [True, *(4 * [False])]
        monkeypatch.setenv("MEMTRACK_HISTORY_FILES", "0")
        assert history.add(recording("0" * 32)).file == ""
    assert sum(1 for _ in (tmp_path / "recordings").iterdir()) == 0


def test_what_a_session_says_goes_before_the_environment(monkeypatch):
    monkeypatch.setattr(files, "_set", (None, None))
    monkeypatch.setenv("MEMTRACK_HISTORY_FILES", "7")
    monkeypatch.setenv("MEMTRACK_HISTORY_SIZE", "3 GiB")
    assert files.limits_now() == Limits(7, 3 * GIB)
    files.limit(500)
    assert files.limits_now() == Limits(500, 3 * GIB)
    files.limit(None, "20GiB")
    assert files.limits_now() == Limits(7, 20 * GIB)
    files.limit()
    assert files.limits_now() == Limits(7, 3 * GIB)


@pytest.mark.parametrize(
    ("variable", "word"),
    [("FILES", "many"), ("FILES", "-1"), ("FILES", "1" * 40), ("SIZE", "big"), ("SIZE", "0GiB")],
)
def test_limits_that_are_none_are_told_before_anything_is_added(
    history, monkeypatch, variable, word
):
    monkeypatch.setenv(f"MEMTRACK_HISTORY_{variable}", word)
    with pytest.raises(UsageError, match=f"MEMTRACK_HISTORY_{variable} must be .*, not '{word}'"):
        history.add(recording())
    assert history.runs() == []
    with pytest.raises(UsageError, match="from 0, not -1"):
        files.limit(-1)


def test_two_kernels_see_each_other(tmp_path):
    with History(tmp_path) as one, History(tmp_path) as other:
        one.add(recording("a" * 32))
        other.add(recording("b" * 32))
        assert [run.id for run in one.runs()] == [run.id for run in other.runs()] == [2, 1]


def test_where_it_lies(tmp_path, monkeypatch):
    monkeypatch.delenv("MEMTRACK_HISTORY", raising=False)
    assert history_folder(tmp_path) == tmp_path / ".memtrack"
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "elsewhere"))
    assert history_folder(tmp_path) == tmp_path / "elsewhere"
    with pytest.raises(UnavailableError, match="There is no history"):
        History(tmp_path / "elsewhere", create=False)
    assert not (tmp_path / "elsewhere").exists()


def test_a_newer_history_is_left_alone(tmp_path):
    History(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "history.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (tmp_path / "history.db").read_bytes()
    with pytest.raises(NewerFormat, match="newer memtrack"):
        History(tmp_path)
    assert (tmp_path / "history.db").read_bytes() == before


def test_another_programs_database_is_left_alone(tmp_path):
    connection = sqlite3.connect(tmp_path / "history.db")
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    with pytest.raises(UnreadableFile, match="not a history of memtrack"):
        History(tmp_path)


@pytest.mark.parametrize("content", [b"nonsense " * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_no_database_is_told(tmp_path, content):
    (tmp_path / "history.db").write_bytes(content)
    with pytest.raises((UnreadableFile, UnavailableError), match="history"):
        History(tmp_path)
    assert (tmp_path / "history.db").read_bytes() == content


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_can_only_be_read(tmp_path):
    with History(tmp_path) as history:
        many(history, 2)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with History(tmp_path) as history:
            assert len(history.runs()) == 2
            with pytest.raises(UnavailableError, match="only be read"):
                history.delete(history.run(1))
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "taken").write_text("x")
    with pytest.raises(UnavailableError, match="cannot be used"):
        History(tmp_path / "taken")


def test_a_damaged_view_costs_only_itself(history):
    run = history.add(recording())
    with (
        closing(Database(history.folder / "history.db", create=False)) as database,
        database.writing() as connection,
    ):
        connection.execute("UPDATE views SET view = ?", (b"PK nonsense",))
    with pytest.raises(UnreadableFile, match="damaged"):
        history.view(run)
    assert len(history.runs()) == 1


def test_files_that_no_run_knows_are_removed_when_they_are_old(history):
    many(history, 1)
    orphan = history.folder / "recordings" / "killed.memtrack"
    fresh = history.folder / "recordings" / "being-written.memtrack"
    for path in (orphan, fresh):
        path.write_bytes(b"x")
    os.utime(orphan, (0, 0))
    history.add(recording("f" * 32))
    assert not orphan.exists() and fresh.exists()
    assert len([run for run in history.runs() if run.file]) == 2
