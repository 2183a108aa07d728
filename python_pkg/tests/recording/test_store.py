"""A saved recording is the recording, and no accident on the way leaves half of one."""

import errno
import io
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
import zipfile

import make_report_fixture
import numpy as np
import pytest
from checks import assert_same_recording
from hypothesis import given, settings
from large_recording import large_recording
from random_recordings import recordings

from memtrack.errors import NewerFormat, UnreadableFile
from memtrack.recording import Category, load_recording, save_recording
from memtrack.recording import store as store_module


@pytest.fixture(scope="module")
def data():
    return make_report_fixture.TinyRun().run()


@settings(max_examples=30, deadline=None)
@given(recordings())
def test_load_gives_back_every_column(tmp_path_factory, data):
    path = save_recording(data, tmp_path_factory.mktemp("store") / "run.memtrack")
    assert_same_recording(load_recording(path), data)


def test_the_ending_is_added(data, tmp_path):
    assert save_recording(data, tmp_path / "run.v2") == tmp_path / "run.v2.memtrack"
    assert save_recording(data, tmp_path / "run.memtrack") == tmp_path / "run.memtrack"


def test_unknown_members_are_ignored(data, tmp_path):
    path = save_recording(data, tmp_path / "run")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("from/the/future.npy", b"whatever")
    assert_same_recording(load_recording(path), data)


def rewritten(path, change):
    """Write the file again with what `change` makes of its members (name → bytes)."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def with_meta(**values):
    def change(members):
        members["meta.json"] = json.dumps(json.loads(members["meta.json"]) | values).encode()

    return change


def test_a_column_that_an_older_version_lacks_gets_its_default(data, tmp_path):
    path = rewritten(save_recording(data, tmp_path / "run"), lambda m: m.pop("layers/tied.npy"))
    assert not load_recording(path).layers["tied"].any()


def test_a_newer_minor_version_is_read(data, tmp_path):
    path = rewritten(save_recording(data, tmp_path / "run"), with_meta(version=[1, 99]))
    assert_same_recording(load_recording(path), data)


def test_a_newer_major_version_is_refused(data, tmp_path):
    path = rewritten(save_recording(data, tmp_path / "run"), with_meta(version=[2, 0]))
    with pytest.raises(NewerFormat, match=r"format 2; this memtrack reads 1\. Update memtrack"):
        load_recording(path)


def test_codes_of_a_newer_minor_version_become_something_else(data, tmp_path):
    def change(members):
        codes = np.full(len(data.allocations), 77, dtype="u1")
        members["allocations/category.npy"] = store_module._npy(codes)

    path = rewritten(save_recording(data, tmp_path / "run"), change)
    assert (load_recording(path).allocations["category"] == Category.UNKNOWN).all()


def one_line(error):
    return "\n" not in str(error) and len(str(error)) < 300


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_refused_in_one_line_or_read_whole(data, tmp_path, seed):
    path = save_recording(data, tmp_path / "run")
    content = bytearray(path.read_bytes())
    rng = random.Random(seed)
    if seed % 2:
        content = content[: rng.randrange(len(content))]
    else:
        for _ in range(5):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    try:
        read, error = load_recording(path), None
    except UnreadableFile as refused:
        read, error = None, refused
    if error is None:  # the damage hit what nobody reads, such as a date in the zip's index
        assert_same_recording(read, data)
    else:
        assert one_line(error)
        assert str(path) in str(error)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"readme.txt": b"hello"}, "is a zip file but not a memtrack recording"),
        ({"meta.json": b"[]"}, "is a zip file but not a memtrack recording"),
        ({"meta.json": b'{"schema": "other"}'}, "is a zip file but not a memtrack recording"),
        ({"meta.json": b"{"}, "is not a readable memtrack recording"),
        ({"meta.json": b'{"schema": "memtrack.recording"}'}, "is not a readable memtrack"),
    ],
)
def test_a_foreign_zip_is_refused_in_one_line(tmp_path, members, message):
    path = tmp_path / "other.memtrack"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(UnreadableFile, match=message) as caught:
        load_recording(path)
    assert one_line(caught.value)


def test_references_out_of_range_are_refused(data, tmp_path):
    def change(members):
        wrong = np.full(len(data.calls), data.cuts + 1, dtype="<i8")
        members["calls/end.npy"] = store_module._npy(wrong)

    path = rewritten(save_recording(data, tmp_path / "run"), change)
    with pytest.raises(UnreadableFile, match=r"calls\.end points past the end"):
        load_recording(path)


def test_a_full_disk_leaves_the_file_that_was_there(data, tmp_path, monkeypatch):
    path = save_recording(data, tmp_path / "run")
    before = path.read_bytes()
    written = []

    def full(column):
        written.append(column)
        if len(written) > 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return store_npy(column)

    store_npy = store_module._npy
    monkeypatch.setattr(store_module, "_npy", full)
    with pytest.raises(OSError, match="No space left"):
        save_recording(data, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.memtrack"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_write_that_fails_leaves_no_litter(data, tmp_path, monkeypatch):
    def open_full(path, mode):
        return io.FileIO("/dev/full", "w")

    monkeypatch.setattr(store_module.Path, "open", open_full)
    with pytest.raises(OSError, match="No space left"):
        save_recording(data, tmp_path / "run")
    assert os.listdir(tmp_path) == []


def test_a_new_file_has_the_permissions_of_other_new_files(data, tmp_path):
    (tmp_path / "other").touch()
    path = save_recording(data, tmp_path / "run")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_permissions_and_links_are_kept(data, tmp_path):
    real = save_recording(data, tmp_path / "real")
    real.chmod(0o640)
    link = tmp_path / "link.memtrack"
    link.symlink_to(real)
    save_recording(data, link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_names_that_utf8_cannot_hold_become_names_that_it_can(tmp_path, data):
    odd = type(data)(data.facts, [*data.strings, "a\udcffb", "峰值"], data.tables)
    assert load_recording(save_recording(odd, tmp_path / "run")).strings[-2:] == ("a?b", "峰值")


def test_such_names_in_older_files_do_too(tmp_path, data):
    path = save_recording(data, tmp_path / "run")
    odd = "a\udcff"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(members["meta.json"])
    meta |= {"label": odd, "extra": {odd: [odd, {"deep": odd}]}}
    members["meta.json"] = json.dumps(meta).encode()
    blob = np.load(io.BytesIO(members["strings/bytes.npy"])).tobytes()
    offsets = np.load(io.BytesIO(members["strings/offsets.npy"]))
    encoded = odd.encode("utf-8", "surrogatepass")
    columns = {
        "strings/bytes": np.frombuffer(blob + encoded, dtype="u1"),
        "strings/offsets": np.append(offsets, offsets[-1] + len(encoded)),
    }
    for name, column in columns.items():
        written = io.BytesIO()
        np.save(written, column)
        members[f"{name}.npy"] = written.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    found = load_recording(path)
    assert len(found.strings) == len(data.strings) + 1
    assert found.strings[-1] == "a?"
    assert found.facts.label == "a?"
    assert found.facts.extra == {"a?": ["a?", {"deep": "a?"}]}


SAVE_FOR_EVER = """
import itertools, sys
from large_recording import large_recording
from memtrack.recording import save_recording
data = large_recording(steps=3, blocks=20, leaves=20)
for _ in itertools.count():
    save_recording(data, sys.argv[1])
    print("saved", flush=True)
"""


def test_a_kill_leaves_the_whole_file(tmp_path):
    path = tmp_path / "run.memtrack"
    tests = os.path.dirname(make_report_fixture.__file__)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    expected = large_recording(steps=3, blocks=20, leaves=20)
    rng = random.Random(0)
    for _ in range(6):
        command = [sys.executable, "-c", SAVE_FOR_EVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout.readline() == b"saved\n"
            time.sleep(rng.random() / 10)
            process.send_signal(signal.SIGKILL)
        assert_same_recording(load_recording(path), expected)


def member(name, values):
    def change(members):
        members[name] = store_module._npy(np.asarray(values))

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (member("events/bytes.npy", np.zeros((4, 2), "i8")), r"events\.bytes has 2 dimensions"),
        (member("events/bytes.npy", [1.5]), r"events\.bytes is not of whole numbers"),
        (member("phases/kind.npy", ["x"]), r"phases\.kind is not of whole numbers"),
        (member("layers/parent.npy", [2**40]), r"layers\.parent holds numbers that do not fit"),
        (member("strings/offsets.npy", [0, 10**9]), r"strings\.offsets do not lie in"),
        (with_meta(label=3), r"label of meta\.json is of the wrong type"),
        (with_meta(extra=[1]), r"extra of meta\.json is of the wrong type"),
        (with_meta(notices=[{"id": "full", "values": {"a": [1]}}]), r"notices of meta\.json"),
        (with_meta(versions={"torch": None}), r"versions of meta\.json"),
    ],
)
def test_columns_and_facts_of_the_wrong_type_are_refused(data, tmp_path, change, problem):
    path = rewritten(save_recording(data, tmp_path / "run"), change)
    with pytest.raises(UnreadableFile, match=problem) as caught:
        load_recording(path)
    assert one_line(caught.value)


def test_sizes_beyond_all_memory_are_refused(data, tmp_path):
    def change(members):
        for table in ("events", "allocations"):
            rows = len(data.tables[table])
            members[f"{table}/bytes.npy"] = store_module._npy(np.full(rows, 2**62, "<i8"))

    path = rewritten(save_recording(data, tmp_path / "run"), change)
    with pytest.raises(UnreadableFile, match="is beyond all memory"):
        load_recording(path)


def test_a_file_that_would_unpack_to_more_than_memory_holds_is_refused(data, tmp_path, monkeypatch):
    path = save_recording(data, tmp_path / "run")
    monkeypatch.setattr(store_module, "MOST_BYTES", 1000)
    with pytest.raises(UnreadableFile, match="it would unpack to"):
        load_recording(path)


def test_states_of_a_newer_minor_version_become_known_ones(data, tmp_path):
    change = with_meta(state="paused", evidence="guessed")
    facts = load_recording(rewritten(save_recording(data, tmp_path / "run"), change)).facts
    assert (facts.state, facts.evidence) == ("complete", "opened")
