"""No export destroys the file it comes from, by whatever name, link or spelling that is called."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

import memtrack
from memtrack.cli.main import main
from memtrack.errors import UsageError

FIXTURES = Path(__file__).parent.parent / "fixtures"
RECORDING = FIXTURES / "report" / "recording.memtrack"
SNAPSHOT = FIXTURES / "snapshots" / "gpt2_tail.pickle.gz"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    shutil.copy(RECORDING, tmp_path / "run.memtrack")
    (tmp_path / "run.pickle").write_bytes(gzip.decompress(SNAPSHOT.read_bytes()))
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spellings(source, folder, ending):
    """Return names of one file: links, links to links, other spellings."""
    (folder / f"link{ending}").symlink_to(source)
    (folder / f"far{ending}").symlink_to(folder / f"link{ending}")
    (folder / f"relative{ending}").symlink_to(source.name)
    os.link(source, folder / f"hard{ending}")
    (folder / "there").symlink_to(folder, target_is_directory=True)
    names = [f"link{ending}", f"far{ending}", f"relative{ending}", f"hard{ending}"]
    names += [f"sub/../link{ending}", f"./far{ending}", f"there/relative{ending}"]
    if source.suffix == ending:
        names += [source.name, f"sub/../{source.name}", str(source), f"there/{source.name}"]
    return names


@pytest.mark.parametrize("source", ["run.memtrack", "run.pickle"])
@pytest.mark.parametrize("ending", [".csv", ".json", ".html", ".pickle", ".memtrack"])
def test_the_source_survives_an_export_to_any_of_its_names(folder, source, ending, capsys):
    before = (folder / source).read_bytes()
    for name in spellings(folder / source, folder, ending):
        assert main(["export", source, name, "--force"]) == 2, name
        told = capsys.readouterr().err
        assert told == (
            f"{name} is the file that this recording was opened from. Write to another one.\n"
        )
        assert (folder / source).read_bytes() == before


@pytest.mark.parametrize("opened_as", ["run.pickle", "link.pickle", "there/run.pickle"])
def test_a_snapshot_is_not_written_over_itself(folder, opened_as, capsys):
    source = folder / "run.pickle"
    before = source.read_bytes()
    names = spellings(source, folder, ".pickle")
    for name in [*names, "run", "there/link"]:
        assert main(["open", opened_as, "--export-snapshot", name]) == 2
        with pytest.raises(UsageError, match="opened from"):
            memtrack.open(opened_as).export_snapshot(name)
    assert source.read_bytes() == before


def test_a_recording_may_be_saved_where_it_is_since_nothing_is_lost(folder):
    recording = memtrack.open("run.memtrack")
    recording.save("run.memtrack")
    assert memtrack.open("run.memtrack").peak == recording.peak
    (folder / "snap.memtrack").symlink_to(folder / "run.pickle")
    before = (folder / "run.pickle").read_bytes()
    for name in ("snap", "snap.memtrack"):
        with pytest.raises(UsageError, match="opened from"):
            memtrack.open("run.pickle").save(name)
    assert (folder / "run.pickle").read_bytes() == before


def test_other_files_are_still_written(folder, capsys):
    assert main(["export", "run.memtrack", "out.csv"]) == 0
    assert main(["export", "run.memtrack", "out.csv", "--force"]) == 0
    (folder / "link.csv").symlink_to("out.csv")
    assert main(["export", "run.pickle", "link.csv", "--force"]) == 0
    assert (folder / "link.csv").is_symlink()
