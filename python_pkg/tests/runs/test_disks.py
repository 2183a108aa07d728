"""Disks that are really full or really read-only, on small file systems of our own: the truth is told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs tmpfs")

BEGIN = """
import json, os, subprocess, sys
sys.path[:0] = [sys.argv[2]]
from pathlib import Path
from kept_runs import many, recording
from memtrack.errors import MemtrackError
from memtrack.runs import History

folder = Path(sys.argv[1])
kept, ballast = folder / "kept", folder / "ballast"
problems = set()

def attempt(action):
    try:
        with History(kept) as history:
            return action(history)
    except MemtrackError as error:
        problems.add(str(error))

def fill(left):
    disk = os.statvfs(folder)
    ballast.write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - left)))

def tell(**found):
    with History(kept) as history:
        runs, gone = history.runs(), history.runs(deleted=True)
        rows = history._database._connection.execute("PRAGMA integrity_check")
        integrity = [tuple(row) for row in rows]
    files = [f"recordings/{path.name}" for path in (kept / "recordings").glob("*")]
    found |= {"orphans": sorted(set(files) - {run.file for run in (*runs, *gone)})}
    found |= {"runs": len(runs), "deleted": len(gone), "integrity": integrity}
    print(json.dumps({**found, "problems": sorted(problems)}))
"""
FILLED = """
ballast.write_bytes(bytes(200_000))
told = []
with History(kept) as history:
    for number in range(300):
        try:
            told.append(history.add(recording(f"{number:032x}")).identifier)
        except MemtrackError as error:
            problems.add(str(error))
            if ballast.exists() and number % 7 == 0:
                ballast.unlink()  # the user makes room
    found = [run.identifier for run in history.runs()]
tell(told=told, found=found)
"""
FULL = """
action, left = sys.argv[3], int(sys.argv[4])
if action != "create":
    with History(kept) as history:
        many(history, 4, file=False)
fill(left)
done = 0
for number in range(40):
    if action == "save":
        done += bool(attempt(lambda history: history.note(history.run(1), "x" * 9000)))
    elif action == "delete":
        attempt(lambda history: [history.delete(run) for run in history.runs(limit=1)])
    else:
        done += bool(attempt(lambda history: history.add(recording(f"{100 + number:032x}"))))
seen = None
if action != "create":
    with History(kept, create=False) as history:  # what is there can be read all the while
        seen = len(history.runs()) + len(history.runs(deleted=True))
ballast.unlink()
tell(done=done, seen=seen)
"""
READ_ONLY = """
def remount(how):
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)

(folder / "new").mkdir()
with History(kept) as history:
    many(history, 3)
    if sys.argv[3] != "closed":
        subprocess.run(["cp", "-r", str(kept), str(folder / "copy")], check=True)
if sys.argv[3] != "closed":
    if sys.argv[3] == "power cut":
        (folder / "copy" / "history.db-shm").unlink()
    (folder / "copy").rename(kept.rename(folder / "closed").with_name("kept"))
remount("ro")
attempt(lambda history: history.delete(history.run(1)))
kept, before = folder / "new" / "kept", kept
attempt(lambda history: history.add(recording()))
kept = before
with History(kept, create=False) as history:
    seen, data = len(history.runs()), history.data(history.run(1)).facts.label
remount("rw")
with History(kept) as history:
    history.delete(history.run(1))
    history.add(recording())
tell(seen=seen, label=data)
"""


def on_a_small_disk(folder, size, program, *words):
    """Run a program on a file system of `size`; skips where this machine lets nobody make one."""
    mount = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    tests = str(Path(__file__).parents[1])
    inside = [sys.executable, "-c", BEGIN + program, str(folder), tests, *words]
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(folder), *inside]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if "Operation not permitted" in done.stderr or "unshare failed" in done.stderr:
        pytest.skip("this machine lets nobody mount a file system")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["integrity"] == [["ok"]] and found["orphans"] == []
    return found


@pytest.mark.parametrize("size", ["500k", "700k", "900k"])
def test_a_disk_that_is_really_full_loses_nothing(tmp_path, size):
    found = on_a_small_disk(tmp_path, size, FILLED)
    assert set(found["told"]) == set(found["found"]) and len(found["told"]) > 3
    assert found["problems"]
    assert all("the disk is full" in one for one in found["problems"]), found["problems"]


@pytest.mark.parametrize("left", [0, 4096, 20_000, 60_000, 150_000])
@pytest.mark.parametrize("action", ["create", "add", "save", "delete"])
def test_a_disk_that_is_full_beforehand_is_told_as_such(tmp_path, action, left):
    """Also of a new history: it is not that it could only be read."""
    found = on_a_small_disk(tmp_path, "1000k", FULL, action, str(left))
    before = 0 if action == "create" else 4
    added = 0 if action in ("save", "delete") else found["done"]
    assert found["runs"] + found["deleted"] == before + added
    assert found["seen"] in (None, before + added)
    assert all("the disk is full" in one for one in found["problems"]), found["problems"]
    if left == 0:
        assert found["problems"] and not found["done"] and not found["deleted"]


@pytest.mark.parametrize("end", ["closed", "killed", "power cut"])
def test_a_disk_that_can_only_be_read_for_a_while(tmp_path, end):
    """What is there is shown, also what lies in a journal; once it can be written it goes on."""
    found = on_a_small_disk(tmp_path, "2000k", READ_ONLY, end)
    assert (found["runs"], found["deleted"], found["label"]) == (3, 1, "net")
    delete, new = found["problems"]
    assert "can only be read here" in delete
    assert "new/kept" in new and "Read-only file system" in new
    assert found["seen"] == 3
