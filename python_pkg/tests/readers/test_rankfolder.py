"""Folders of ranks: what is in them, what is missing, what cannot be read."""

import json
import os

import pytest
from make_ranks_fixture import members, rank

import memtrack
from memtrack.cli.main import main
from memtrack.rankfacts import RankFacts
from memtrack.recording import save_recording
from memtrack.recording.ranks import with_rank


@pytest.fixture
def folder(tmp_path):
    """Ranks 0, 1 and 3 of four; rank 2 has only said that it started."""
    for facts, file, load in members():
        save_recording(with_rank(load(), facts), tmp_path / file)
    claim = RankFacts(2, 4, 2, "node", 1002).to_json()
    (tmp_path / "train.rank2.started").write_text(json.dumps(claim))
    return tmp_path


def test_a_folder_opens_as_ranks(folder, capsys):
    ranks = memtrack.open(folder)
    assert isinstance(ranks, memtrack.Ranks)
    assert (repr(ranks), ranks.missing) == ("<memtrack.Ranks of train: 3 of 4>", (2,))
    assert main(["open", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Rank 1 peaks at 1.23 GiB, 1.73 × the mean of 3 ranks (731 MiB)\n")
    assert "- No recording of: rank 2\n" in shown
    assert main(["open", str(folder), "--json"]) == 0
    payload = json.loads(capsys.readouterr().out)
    assert payload["missing"] == [2] and "report" not in payload["ranks"][0]
    assert main(["open", str(folder), "--rank", "1"]) == 0
    assert capsys.readouterr().out.startswith("Peak 1.23 GiB in forward of body")


def test_the_last_ranks_are_missed_by_their_claims_alone(tmp_path):
    save_recording(rank(0, 1), tmp_path / "train.rank0.memtrack")
    claim = RankFacts(2, 3).to_json()
    (tmp_path / "train.rank2.started").write_text(json.dumps(claim))
    ranks = memtrack.open(tmp_path)
    assert (ranks.world_size, ranks.missing) == (3, (1, 2))


def test_names_tell_the_rank_where_the_facts_do_not(tmp_path):
    for number in (0, 2):
        save_recording(rank(number, 1), tmp_path / f"run.rank{number}.memtrack")
    save_recording(rank(0, 1), tmp_path / "other.memtrack")
    ranks = memtrack.open(tmp_path)
    assert (list(ranks), ranks.world_size, ranks.missing) == ([0, 2], 3, (1,))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_a_pipe_in_the_folder_is_not_waited_for(folder):
    os.mkfifo(folder / "train.rank7.memtrack")
    os.mkfifo(folder / "train.rank8.started")
    assert memtrack.open(folder).missing == (2,)


def test_what_cannot_be_read_or_is_there_twice_is_said(folder):
    (folder / "train.rank1.memtrack").write_bytes(b"cut short")
    save_recording(with_rank(rank(0, 1), RankFacts(0, 4)), folder / "zzz.memtrack")
    (folder / "train.rank9.started").write_bytes(b"\xff\xfe not JSON")
    (folder / "train.rank8.started").write_text("[" * 5000)
    details = [str(one) for one in memtrack.open(folder).ranks_report.details]
    assert "train.rank1.memtrack cannot be read and is left out." in details
    assert "zzz.memtrack is of rank 0, as train.rank0.memtrack is, and is left out." in details
    assert "No recording of: ranks 1, 2" in details


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["open", "{empty}"], "There is no recording of a rank in the folder {empty}."),
        (["open", "{folder}", "--rank", "2"], "There is no recording of rank 2. Known: 0, 1, 3."),
        (
            ["open", "{folder}/train.rank0.memtrack", "--rank", "0"],
            "--rank is for a folder of several ranks.",
        ),
        (
            ["export", "{folder}/train.rank0.memtrack", "x.csv", "--rank", "0"],
            "--rank is for a folder of several ranks.",
        ),
        (["export", "{folder}", "x.csv", "--rank", "2"], "There is no recording of rank 2."),
        (["diff", "{folder}", "{folder}/train.rank0.memtrack"], "Say which one: --rank N"),
        (["diff", "{folder}", "--steps"], "Say which one: --rank N"),
        (["diff", "{folder}", "{folder}", "--rank", "2"], "There is no recording of rank 2."),
        (["diff", "last", "--steps", "--rank", "1"], "--rank is for a folder of several ranks."),
        (
            ["check", "{folder}", "--max-peak", "1GiB"],
            "The run cannot be judged: ranks without a recording: 2.",
        ),
        (["summary", "{folder}"], "These are the recordings of several ranks."),
        (["advise", "{folder}"], "These are the recordings of several ranks."),
    ],
)
def test_wrong_use_of_a_folder_is_one_line(folder, tmp_path_factory, capsys, arguments, words):
    places = {"folder": folder, "empty": tmp_path_factory.mktemp("empty")}
    assert main([word.format(**places) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert words.format(**places) in error and error.count("\n") == 1
