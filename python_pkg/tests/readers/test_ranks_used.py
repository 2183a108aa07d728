"""Folders of ranks at the doors for one run: exported, compared and checked, a rank or all of them."""

import json
import shutil

import pytest
from make_ranks_fixture import members, rank

import memtrack
from memtrack.cli.main import main
from memtrack.comparing import compare_ranks
from memtrack.rankfacts import RankFacts
from memtrack.recording import save_recording
from memtrack.recording.ranks import with_rank
from memtrack.reports.rankdiffs import RankDiffs

MIB = 1 << 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """`before.ranks` of ranks 0, 1 and 3, `after` (no telling name) where rank 3 has twice the batch."""
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("before.ranks", "after"):
        (tmp_path / name).mkdir()
        for facts, file, load in members():
            save_recording(with_rank(load(), facts), tmp_path / name / file)
    facts = RankFacts(3, 4, 3, "node", 1003)
    save_recording(with_rank(rank(3, 2), facts), tmp_path / "after" / "train.rank3.memtrack")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capsys, *words):
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_each_rank_is_exported_to_a_file_of_its_own(folder, capsys):
    code, out, err = asked(capsys, "export", "after", "out.json")
    files = [f"out.rank{number}.json" for number in (0, 1, 3)]
    assert (code, err, out) == (0, "", "".join(f"Wrote {file}.\n" for file in files))
    ranks = memtrack.open("after")
    for number, file in zip((0, 1, 3), files, strict=True):
        told = json.loads((folder / file).read_text())
        assert told["devices"][0]["peak"]["bytes"] == ranks[number].peak.bytes
    code, out, _ = asked(capsys, "export", "after", "one.csv", "--rank", "3")
    assert (code, out) == (0, "Wrote one.csv.\n")


def test_where_one_file_is_there_none_is_written(folder, capsys):
    (folder / "out.rank3.csv").write_text("mine")
    code, out, err = asked(capsys, "export", "after", "out.csv")
    assert (code, out) == (2, "")
    assert "There is a file out.rank3.csv already." in err
    assert not (folder / "out.rank0.csv").exists()
    assert asked(capsys, "export", "after", "out.csv", "--force")[0] == 0
    assert (folder / "out.rank3.csv").read_text() != "mine"


def test_an_export_into_the_folder_itself_destroys_no_rank(folder, capsys):
    before = {file: file.read_bytes() for file in (folder / "after").iterdir()}
    code, _, err = asked(capsys, "export", "after", "after/train.memtrack", "--force")
    assert code == 2 and "opened from" in err
    assert before == {file: file.read_bytes() for file in (folder / "after").iterdir()}


def test_two_folders_are_compared_rank_by_rank(folder, capsys):
    code, out, err = asked(capsys, "diff", "before.ranks", "after")
    assert (code, err) == (0, "")
    first, *_ = out.splitlines()
    assert first.startswith("Rank 3: ")
    rows = [line.split() for line in out.splitlines() if line.split()[:1] in (["0"], ["1"], ["3"])]
    assert [row[0] for row in rows] == ["0", "1", "3"]
    assert "+400 MiB" in out
    told = json.loads(asked(capsys, "diff", "before.ranks", "after", "--json")[1])
    assert (told["schema"], told["only_before"], told["only_after"]) == (
        "memtrack.rankdiff/1",
        [],
        [],
    )
    changes = {one["rank"]: one["peak"]["after"] - one["peak"]["before"] for one in told["ranks"]}
    assert changes == {0: 0, 1: 0, 3: 400 * MIB}


def test_ranks_that_one_run_alone_has_are_named(folder, capsys):
    (folder / "before.ranks" / "train.rank0.memtrack").unlink()
    (folder / "after" / "train.rank1.memtrack").unlink()
    out = asked(capsys, "diff", "before.ranks", "after")[1]
    assert "Only in the run before: 1" in out and "Only in the run after: 0" in out
    (folder / "after" / "train.rank3.memtrack").unlink()
    code, out, err = asked(capsys, "diff", "before.ranks", "after")
    assert (code, out, err) == (2, "", "The two runs have no rank in common.\n")


def test_one_rank_is_compared_summed_and_checked_as_one_run(folder, capsys):
    one = asked(capsys, "diff", "before.ranks", "after", "--rank", "3")
    files = [f"{name}/train.rank3.memtrack" for name in ("before.ranks", "after")]
    assert one == asked(capsys, "diff", *files)
    found = memtrack.compare("before.ranks", "after", rank=3)
    assert found.peak_change == 400 * MIB
    assert memtrack.compare(memtrack.open("before.ranks")[3], "after", rank=3).peak_change == (
        400 * MIB
    )
    assert asked(capsys, "diff", "after", "--steps", "--rank", "3")[0] == 0
    assert asked(capsys, "check", "after", "--rank", "3", "--max-peak", "464MiB")[0] == 1
    assert asked(capsys, "check", "after", "--rank", "3", "--max-peak", "1GiB")[0] == 0
    assert asked(capsys, "check", "after", "--rank", "1", "--baseline", "before.ranks")[0] == 0
    assert asked(capsys, "advise", "after", "--rank", "3")[0] == 0


def test_in_python_and_notebooks_too(folder):
    found = compare_ranks(memtrack.open("before.ranks"), folder / "after")
    assert isinstance(found, RankDiffs)
    assert "<table" in found._repr_mimebundle_()["text/html"]
    assert "Rank 3" in repr(found)
    assert compare_ranks("before.ranks", "after/train.rank3.memtrack") is None
    both = memtrack.compare("before.ranks", memtrack.open("after"))
    assert [(rank, diff.peak_change) for rank, diff in both.diffs] == [
        (0, 0),
        (1, 0),
        (3, 400 * MIB),
    ]
    with pytest.raises(memtrack.UsageError, match=r"several ranks.*rank=N"):
        memtrack.compare("before.ranks", "after/train.rank3.memtrack")


@pytest.fixture
def whole(folder):
    """The same two folders where every rank of the four is there and has ended."""
    for name, number in (("before.ranks", 2), ("after", 2), ("before.ranks", 3)):
        facts = RankFacts(number, 4, number, "node", 1000 + number)
        target = folder / name / f"train.rank{number}.memtrack"
        save_recording(with_rank(rank(number, 1), facts), target)
    return folder


def test_every_rank_is_checked_against_its_own_baseline(whole, capsys):
    code, out, err = asked(capsys, "check", "after", "--baseline", "before.ranks")
    assert (code, err) == (1, "")
    assert out.startswith("Rank 3: Grown: peak 864 MiB")
    verdicts = [line.split()[-1] for line in out.splitlines() if line.strip()[:1].isdigit()]
    assert verdicts == ["fine", "fine", "fine", "exceeded"]
    told = json.loads(asked(capsys, "check", "after", "--baseline", "before.ranks", "--json")[1])
    assert (told["schema"], told["ok"], told["failed"]) == ("memtrack.rankcheck/1", False, [3])
    assert [one["baseline_peak"] // MIB for one in told["ranks"]] == [464, 1264, 464, 464]
    assert [one["peak"] // MIB for one in told["ranks"]] == [464, 1264, 464, 864]
    assert (
        asked(capsys, "check", "after", "--baseline", "before.ranks", "--max-increase", "1GiB")[0]
        == 0
    )


def test_ranks_are_checked_against_one_limit_or_one_run(whole, capsys):
    code, out, _ = asked(capsys, "check", "after", "--max-peak", "1GiB")
    assert code == 1 and out.startswith("Rank 1: Too much: peak 1.23 GiB")
    code, out, _ = asked(capsys, "check", "after", "--max-peak", "2GiB")
    assert code == 0 and out.startswith("Rank 1: Fine: ")
    one = ("--baseline", "before.ranks/train.rank1.memtrack")
    assert asked(capsys, "check", "after", *one)[0] == 0


def test_a_run_that_lacks_a_rank_cannot_be_judged(folder, capsys):
    code, out, err = asked(capsys, "check", "after", "--max-peak", "1TiB")
    assert (code, out) == (2, "")
    assert err.startswith("The run cannot be judged: ranks without a recording: 2.")


def test_a_copy_is_the_same_on_every_rank(folder, capsys):
    shutil.copytree(folder / "after", folder / "copy.ranks")
    out = asked(capsys, "diff", "after", "copy.ranks")[1]
    assert out.count("±0 B") >= 3
