"""`memtrack.compare` and `memtrack.history`: whatever stands for a run, the figures are its own."""

import pytest
from kept_runs import KIB, many, recording

import memtrack
from memtrack.recording import save_recording
from memtrack.runs import History


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    with History(tmp_path / "kept") as history:
        many(history, 3)
        history.name(history.run(1), "first")
    return tmp_path / "kept"


def test_runs_are_named_by_number_name_and_word(folder):
    for a, b, change in ((1, 2, KIB), ("first", "last", 2 * KIB), ("3", 1, -2 * KIB)):
        found = memtrack.compare(a, b)
        assert found.peak_change == change
    assert found.runs == (3, 1) and found.names == ("", "first")


def test_the_last_run_is_compared_with_its_baseline(folder):
    with pytest.raises(memtrack.UsageError, match="There is no baseline yet"):
        memtrack.compare()
    memtrack.history().make_baseline("first")
    assert memtrack.compare().runs == (1, 3)
    assert memtrack.compare(b=2).peak_change == KIB
    with pytest.raises(memtrack.UsageError, match="Run 1 is the baseline itself"):
        memtrack.compare(b="first")


def test_files_and_recordings_are_runs_too(folder, tmp_path):
    path = save_recording(recording("f" * 32, 9 * KIB), tmp_path / "big.memtrack")
    found = memtrack.compare("first", path)
    assert found.peak_change == 8 * KIB and found.names == ("first", "big.memtrack")
    opened = memtrack.open(path)
    assert memtrack.compare(opened, str(path)).peak_change == 0
    assert memtrack.compare(opened.data, memtrack.history()[0]).runs == (None, 3)
    with History(folder) as history:
        history.add(opened.data)
    assert memtrack.compare("last", opened).runs == (4, 4)


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        ("nothing", "There is no run 'nothing'"),
        (99, "There is no run '99'"),
        (1.5, "A run to compare is a recording, a file or a run's name, not float."),
        (None, "not NoneType"),
    ],
)
def test_what_is_no_run_is_told_in_a_sentence(folder, subject, sentence):
    with pytest.raises(memtrack.UsageError, match=sentence):
        memtrack.compare(subject)


def test_without_a_history_one_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "none"))
    with pytest.raises(memtrack.UnavailableError, match="There is no history"):
        memtrack.history()
    with pytest.raises(memtrack.UnavailableError, match="There is no history"):
        memtrack.compare(1, 2)
    found = memtrack.compare(memtrack.Recording(recording()), memtrack.Recording(recording()))
    assert found.peak_change == 0
    assert not (tmp_path / "none").exists()


def test_a_history_is_a_sequence_that_can_be_changed(folder):
    runs = memtrack.history()
    assert [run.id for run in runs] == [3, 2, 1] and len(runs) == 3
    runs.tag(2, "bf16", "wide")
    runs.note(2, "slower")
    runs.pin("first")
    runs.delete(3)
    assert [run.id for run in memtrack.history()] == [2, 1]
    assert [run.id for run in memtrack.history(deleted=True)] == [3]
    assert [run.id for run in memtrack.history("bf16")] == [2]
    changed = memtrack.history()
    assert changed[0].tags == ["bf16", "wide"] and changed[0].note == "slower"
    assert changed[1].pinned and changed[1].name == "first"
    changed.restore(3)
    changed.name("first", "")
    assert [run.name for run in memtrack.history()] == ["", "", ""]
    assert changed.recording(2).peak.bytes == 2 * KIB


def test_names_lead_to_functions_and_not_to_rooms():
    assert callable(memtrack.history) and callable(memtrack.compare)
    assert {"history", "compare", "track"} <= set(dir(memtrack))
