"""`%memtrack export` and `%memtrack open FOLDER` in a real shell."""

import csv

import pytest
from make_ranks_fixture import members
from notebook_sources import TRAINING

from memtrack.recording import save_recording
from memtrack.recording.ranks import with_rank
from memtrack.reports.rankspayload import MIME_TYPE


def test_the_latest_run_goes_into_a_file_and_none_is_written_over(notebook, tmp_path):
    notebook.run(TRAINING)
    notebook.run("%memtrack model --steps 2")
    notebook.run("train(2)")
    path = tmp_path / "run.csv"
    notebook.run(f"%memtrack export {path} --table ledger")
    assert notebook.texts()[-1] == f"Wrote {path}."
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["device"] for row in rows} == {"cpu"}
    notebook.run(f"%memtrack export {path}")
    assert f"There is a file {path} already. --force" in notebook.err
    assert path.read_text().startswith("device,part,within,bytes,certainty")
    notebook.run(f"name = {str(path)!r}")
    notebook.run("%memtrack export $name --force")
    assert path.read_text().startswith("device,layer,type,calls,")


def test_without_a_run_it_says_so(notebook, tmp_path):
    notebook.run(f"%memtrack export {tmp_path / 'run.html'}")
    assert "Nothing has been recorded yet." in notebook.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_ranks_shows_the_ranks(notebook, tmp_path):
    for facts, file, load in members():
        save_recording(with_rank(load(), facts), tmp_path / file)
    result = notebook.run(f"%memtrack open {tmp_path}")
    shown = result.result._repr_mimebundle_()
    assert shown["text/plain"].startswith("Rank 1 peaks at 1.23 GiB")
    assert shown[MIME_TYPE]["max_rank"] == 1
    again = notebook.run("%memtrack")
    assert again.result is result.result
    notebook.run("%memtrack summary")
    assert "These are the recordings of several ranks." in notebook.err


@pytest.mark.parametrize("word", ["export", "export run.csv run.html", "export run.csv --all"])
def test_wrong_words_are_one_line(notebook, word):
    notebook.run(f"%memtrack {word}")
    assert notebook.err.startswith("UsageError: ") and notebook.err.strip().count("\n") == 0


def test_ranks_are_exported_and_compared_here_too(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    for name in ("first ranks", "second"):
        (tmp_path / name).mkdir()
        for facts, file, load in members():
            save_recording(with_rank(load(), facts), tmp_path / name / file)
    monkeypatch.chdir(tmp_path)
    notebook.run("%memtrack open second")
    assert notebook.run("%memtrack export out.csv").success
    assert notebook.texts()[-3:] == [f"Wrote out.rank{number}.csv." for number in (0, 1, 3)]
    found = notebook.run("%memtrack diff 'first ranks' second").result
    assert [rank for rank, _ in found.diffs] == [0, 1, 3]
    one = notebook.run("%memtrack diff 'first ranks' second --rank 3").result
    assert one.peak_change == 0
    notebook.run("ranks = %memtrack open second")
    assert notebook.run("%memtrack diff ranks ranks").result.diffs[0][1].peak_change == 0
    for words, said in (
        ("'first ranks' second --rank x", "--rank takes the number of a rank, not 'x'."),
        ("'first ranks' last", "Say which one: --rank N"),
        ("second --steps", "Say which one: --rank N"),
        ("ranks --steps", "Say which one: --rank N"),
    ):
        assert not notebook.run(f"%memtrack diff {words}").success
        assert said in notebook.err, words
