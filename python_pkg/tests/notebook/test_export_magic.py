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
