"""Runs named, listed, changed and compared from a real shell."""

import gc
from itertools import pairwise

import pytest

from memtrack import api
from memtrack.reports.comparison import MIME_TYPE, Diff
from memtrack.reports.history import RunList
from memtrack.reports.steps import Steps
from memtrack.runs import History, Limits, files, keeping
from memtrack.units import GIB


@pytest.fixture
def kept(training, tmp_path, monkeypatch):
    """A notebook whose finished recordings are kept in `kept.folder`."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("MEMTRACK_HISTORY", str(folder))
    monkeypatch.setattr(keeping, "_turned", None)
    monkeypatch.setattr(keeping, "_told", set())
    monkeypatch.setattr(files, "_set", (None, None))
    training.folder = folder
    return training


def runs(notebook):
    keeping.wait()
    with History(notebook.folder, create=False) as history:
        return history.runs()


def record(notebook, steps=2, label="net"):
    notebook.run(f"%memtrack model --optimizer optimizer --steps {steps} --label {label}")
    notebook.run(f"train({steps})")


def told(notebook, line):
    result = notebook.run(line)
    return notebook.err if not result.success else notebook.texts()[-1]


def test_a_notebook_says_how_many_recordings_are_kept(kept, caplog):
    assert kept.run("%config MemtrackMagics.history_files = 1").success
    assert kept.run("%config MemtrackMagics.history_size = '20GiB'").success
    assert files.limits_now() == Limits(1, 20 * GIB)
    record(kept)
    record(kept)
    assert [bool(run.file) for run in runs(kept)] == [True, False]
    kept.run("%config MemtrackMagics.history_size = 'plenty'")
    assert "must be a size above 0 such as 20GiB, not 'plenty'" in caplog.text
    assert files.limits_now() == Limits(1, 20 * GIB)
    assert kept.run("%config MemtrackMagics.history_files = None").success
    assert files.limits_now() == Limits(bytes=20 * GIB)


def test_a_recording_that_ends_is_a_run(kept):
    record(kept)
    (run,) = runs(kept)
    assert (run.label, run.steps, run.state, run.evidence) == ("net", 2, "complete", "measured")
    with History(kept.folder) as history:
        facts = history.view(run).run
        assert history.data(run).facts.identifier == run.identifier
    assert facts["cell"] == run.cell == 2
    assert facts["batches"] and sum(facts["parameters"].values()) == run.parameters


def test_what_saw_nothing_and_what_is_off_is_no_run(kept):
    kept.run("%memtrack model")
    kept.run("%memtrack off")
    kept.run("%config MemtrackMagics.history = False")
    record(kept)
    kept.run("%config MemtrackMagics.history = True")
    assert "not kept" in told(kept, "%memtrack history off")
    record(kept)
    keeping.wait()
    assert not kept.folder.exists()
    told(kept, "%memtrack history on")
    record(kept)
    assert len(runs(kept)) == 1


def test_save_names_the_run_and_makes_it_the_baseline(kept):
    record(kept)
    peak = runs(kept)[0].peak
    sentence = told(kept, "%memtrack save first")
    assert sentence.startswith("Run 1 is called 'first' now: ")
    sentence = told(kept, "%memtrack save --baseline")
    assert "Run 1, 'first'" in sentence and "the baseline" in sentence
    (run,) = runs(kept)
    assert (run.name, run.baseline, run.peak) == ("first", True, peak)


def test_save_ends_a_recording_that_goes_on(kept):
    kept.run("%memtrack model --optimizer optimizer")
    kept.run("train(2)")
    told(kept, "%memtrack save going")
    (run,) = runs(kept)
    assert (run.name, run.steps, run.state) == ("going", 2, "complete")
    assert told(kept, "%memtrack status").startswith("Nothing is being recorded")


def test_save_keeps_a_run_even_where_keeping_is_off(kept):
    kept.run("%memtrack history off")
    record(kept)
    told(kept, "%memtrack save 'by hand'")
    assert [run.name for run in runs(kept)] == ["by hand"]


def test_diff_is_of_the_last_run_against_the_baseline(kept):
    record(kept)
    kept.run("%memtrack save --baseline")
    assert "Run 1 is the baseline itself." in told(kept, "%memtrack diff")
    assert kept.run("model[0].requires_grad_(False)").success
    record(kept)
    kept.run("found = %memtrack diff")
    found = kept.shell.user_ns["found"]
    assert isinstance(found, Diff) and found.runs == (1, 2)
    first, second = reversed(runs(kept))
    assert found.peak_change == second.peak - first.peak
    kept.run("back = %memtrack diff 2 1")
    assert kept.shell.user_ns["back"].peak_change == -found.peak_change
    bundle = kept.shell.display_formatter.format(found)[0]
    assert {"text/plain", "text/html", MIME_TYPE} <= set(bundle)


def test_a_run_that_goes_on_is_the_last_one(kept):
    record(kept)
    kept.run("%memtrack save --baseline")
    kept.run("%memtrack model --optimizer optimizer --label net")
    kept.run("train(3)")
    kept.run("found = %memtrack diff")
    assert kept.shell.user_ns["found"].found.b.steps == 3
    assert len(runs(kept)) == 1


def test_names_of_the_notebook_and_files_are_runs_too(kept, tmp_path):
    record(kept)
    kept.run("kept = %memtrack")
    path = kept.shell.user_ns["kept"].save(tmp_path / "one.memtrack")
    kept.run(f"found = %memtrack diff {path} kept")
    assert kept.shell.user_ns["found"].peak_change == 0
    assert kept.shell.user_ns["found"].names == ("one.memtrack", "")


def test_history_lists_finds_and_changes(kept):
    record(kept, label="net")
    record(kept, label="gan")
    for line, sentence in (
        ("tag 1 bf16 wide", "Run 1 has the tags: bf16, wide"),
        ("note 1 slower than {before}", "Run 1 has its note."),
        ("name 1 base", "Run 1 is called 'base' now."),
        ("pin base", "Run 1 is pinned: its whole recording stays."),
        ("baseline base", "Run 1 is the baseline of net now."),
        ("delete 2", "Run 2 is deleted; %memtrack history restore 2 brings it back."),
    ):
        assert told(kept, f"%memtrack history {line}") == sentence
    kept.run("listed = %memtrack history")
    listed = kept.shell.user_ns["listed"]
    assert isinstance(listed, RunList) and [run.id for run in listed] == [1]
    assert listed[0].note == "slower than {before}"
    kept.run("listed = %memtrack history wide bf16")
    assert len(kept.shell.user_ns["listed"]) == 1
    kept.run("listed = %memtrack history deleted")
    assert [run.id for run in kept.shell.user_ns["listed"]] == [2]
    assert told(kept, "%memtrack history restore 2") == "Run 2 is back."
    kept.run("again = %memtrack history open base")
    assert kept.shell.user_ns["again"].data.facts.label == "net"
    assert told(kept, "%memtrack history unpin 1") == "Run 1 is not pinned any more."


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("save", "Something is missing: %memtrack save NAME | --baseline"),
        ("save a b", "'b' is one word too many. In quotes: %memtrack save \"a b\""),
        ("save ''", "Something is missing: %memtrack save NAME | --baseline"),
        ("diff last --rank 0", "--rank is for a folder of several ranks."),
        ("diff --steps --rank 0", "--rank is for a folder of several ranks."),
        ("diff --rank", "--rank takes the number of a rank, not ''."),
        ("save --base", "There is no option '--base'. Did you mean '--baseline'?"),
        ("save 12", "'12' cannot be the name of a run."),
        ("diff nowhere", "There is no run 'nowhere'"),
        ("diff 1 1 1", "'1' is one word too many."),
        ("diff --step", "There is no option '--step'. Did you mean '--steps'?"),
        ("diff no.memtrack", "no.memtrack"),
        ("history pin", "Something is missing: %memtrack history pin RUN"),
        ("history pin 1 2", "'2' is one word too many."),
        ("history delete 9", "There is no run '9'"),
    ],
)
def test_wrong_lines_are_one_sentence(kept, line, sentence):
    record(kept)
    keeping.wait()
    result = kept.run(f"%memtrack {line}")
    assert not result.success and sentence in kept.err
    assert len(kept.err.strip().splitlines()) == 1


def test_without_a_run_it_says_so(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "none"))
    for line, sentence in (
        ("%memtrack history", "There is no history in"),
        ("%memtrack diff", "There is no history in"),
        ("%memtrack save x", "Nothing has been recorded yet."),
    ):
        notebook.run(line)
        assert sentence in notebook.err
    assert not (tmp_path / "none").exists()


def test_steps_of_a_run_show_what_grows(kept):
    kept.run("leaked = []")
    kept.run("import torch")
    kept.run(
        "%memtrack model --optimizer optimizer --label net\n"
        "for _ in range(6):\n"
        "    leaked.append(torch.zeros(1 << 19)); train(1)"
    )
    kept.run("found = %memtrack diff --steps")
    found = kept.shell.user_ns["found"]
    assert isinstance(found, Steps)
    ends = [one.end for one in found.steps]
    grown = {after - before for before, after in pairwise(ends[2:])}
    assert grown == {4 << 19}
    assert found.findings[0].step_bytes == 4 << 19
    assert "2.00 MiB" in str(found.sentence)
    assert found._repr_mimebundle_()["text/html"].count("<tr>") == len(found.steps) + 1


def test_steps_without_growth_say_so(kept):
    record(kept, steps=4)
    kept.run("found = %memtrack diff --steps")
    found = kept.shell.user_ns["found"]
    assert found.findings == [] and str(found.sentence).startswith("Nothing grows")
    kept.run("kept_run = %memtrack diff --steps 1")
    assert kept.shell.user_ns["kept_run"].steps == found.steps


def test_completion_knows_the_names_of_runs(kept):
    record(kept)
    told(kept, "%memtrack save 'my run'")
    from memtrack.notebook.completion import complete

    assert complete(kept.shell, "%memtrack diff ")[1] == ["last", "baseline", '"my run"']


TRACKED = """
import memtrack
with memtrack.track(model, optimizer, label="tracked"):
    train(3)
"""


def latest(notebook):
    notebook.run("found = %memtrack")
    return notebook.shell.user_ns["found"].report()


class TestARecordingOfAnotherDoor:
    def test_is_what_the_magic_shows_and_save_names(self, kept):
        assert "Nothing has been recorded yet." in told(kept, "%memtrack")
        assert kept.run(TRACKED).success
        assert (latest(kept).label, latest(kept).steps) == ("tracked", 3)
        assert "shows the last recording again" in told(kept, "%memtrack status")
        told(kept, "%memtrack save by-python")
        (run,) = runs(kept)
        assert (run.name, run.label, run.steps) == ("by-python", "tracked", 3)

    def test_is_summarised_exported_compared_and_advised_on(self, kept, tmp_path):
        kept.run(TRACKED)
        kept.run("%memtrack save --baseline")
        kept.run(TRACKED.replace("train(3)", "train(2)"))
        assert kept.run(f"%memtrack export {tmp_path / 'run.json'}").success
        assert '"label": "tracked"' in (tmp_path / "run.json").read_text()
        kept.run("found = %memtrack diff")
        assert kept.shell.user_ns["found"].found.b.steps == 2
        assert kept.run("%memtrack advise").success
        assert isinstance(kept.run("%memtrack diff --steps").result, Steps)

    def test_gives_way_to_whatever_comes_after_it(self, kept, tmp_path):
        kept.run(TRACKED)
        file = kept.shell.user_ns["memtrack"].api.last_finished().save(tmp_path / "old.memtrack")
        record(kept, steps=2, label="magic")
        assert latest(kept).label == "magic"
        kept.run(TRACKED)
        assert latest(kept).label == "tracked"
        kept.run(f"%memtrack open {file}")
        assert "what was opened last" in told(kept, "%memtrack status")
        kept.run(TRACKED.replace("tracked", "newer"))
        assert latest(kept).label == "newer"
        kept.run("%memtrack model")
        assert not kept.run("%memtrack").success  # one that goes on and has nothing yet
        assert "`model`" in kept.err

    def test_speaks_the_language_of_the_magic(self, kept):
        kept.run(TRACKED)
        kept.run("%config MemtrackMagics.language = 'zh_CN'")
        kept.run("found = %memtrack")
        shown = kept.shell.display_formatter.format(kept.shell.user_ns["found"])[0]
        assert "步" in shown["text/plain"]

    def test_that_was_made_before_loading_counts_while_it_is_held(self, kept):
        kept.run("%unload_ext memtrack")
        kept.run(TRACKED.replace(":\n    train", " as held:\n    train"))
        kept.run("%load_ext memtrack")
        assert latest(kept).label == "tracked"
        kept.run("%unload_ext memtrack")
        kept.run("del held, found")

    def test_is_not_held_where_memtrack_was_unloaded(self, kept):
        kept.run(TRACKED)
        assert api.last_finished() is not None
        kept.run("%unload_ext memtrack")
        gc.collect()
        assert api.last_finished() is None
        kept.run(TRACKED)
        gc.collect()
        assert api.last_finished() is None
