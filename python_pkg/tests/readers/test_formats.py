"""Whatever is opened is read or refused in one line that tells what to do."""

import gzip
import lzma
import pickle
import zipfile

import make_report_fixture
import pytest
from checks import assert_same_recording

from memtrack.errors import UnreadableFile
from memtrack.readers import open_recording
from memtrack.recording import save_recording

SEGMENTS = {"segments": [{"address": 1 << 40, "total_size": 2 << 20, "blocks": []}]}
SNAPSHOT = pickle.dumps(SEGMENTS)


@pytest.fixture(scope="module")
def data():
    return make_report_fixture.TinyRun().run()


def test_a_recording_opens_whatever_its_name(data, tmp_path):
    path = save_recording(data, tmp_path / "run")
    renamed = path.rename(tmp_path / "run.zip")
    assert_same_recording(open_recording(renamed), data)


def test_home_is_expanded(data, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    save_recording(data, tmp_path / "run")
    assert open_recording("~/run.memtrack").facts.label == data.facts.label


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("snapshot.pickle", SNAPSHOT),
        ("snapshot.pickle.gz", gzip.compress(SNAPSHOT)),
        ("snapshot.pickle.xz", lzma.compress(SNAPSHOT)),
        ("renamed.memtrack", SNAPSHOT),
        ("old", pickle.dumps(SEGMENTS, protocol=2)),
    ],
)
def test_a_torch_snapshot_opens_by_its_content(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    read = open_recording(tmp_path / name)
    assert read.facts.evidence == "opened"
    assert read.segments["bytes"].tolist() == [2 << 20]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.memtrack", b"", "is empty."),
        ("notes.txt", b"hello", "is not a file that memtrack knows. It opens recordings"),
        ("cut.gz", gzip.compress(SNAPSHOT)[:5], "is not a file that memtrack knows."),
        ("cut.memtrack", b"PK\x03\x04rest", "is not a readable memtrack recording"),
        ("text.gz", gzip.compress(b"hello"), "is not a file that memtrack knows."),
    ],
)
def test_any_other_file_is_refused_in_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableFile, match=message) as caught:
        open_recording(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_foreign_zip_is_refused(tmp_path):
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(UnreadableFile, match="a zip file but not a memtrack recording"):
        open_recording(path)


def test_a_missing_file_is_told_with_the_closest_name(data, tmp_path):
    save_recording(data, tmp_path / "resnet")
    with pytest.raises(UnreadableFile) as caught:
        open_recording(tmp_path / "restnet.memtrack")
    expected = f"There is no file {tmp_path / 'restnet.memtrack'}. "
    assert str(caught.value) == f"{expected}Did you mean '{tmp_path / 'resnet.memtrack'}'?"
    with pytest.raises(UnreadableFile, match="There is no file") as missing:
        open_recording(tmp_path / "nowhere" / "run.memtrack")
    assert missing.value.__suppress_context__  # one traceback, not two


def test_a_folder_is_told(tmp_path):
    with pytest.raises(UnreadableFile, match="is not a regular file"):
        open_recording(tmp_path)
