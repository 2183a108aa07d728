"""Kills, power cuts and full disks: every run that was added is there, and the file is sound."""

import os
import random
import shutil
import signal
import sqlite3
import sys
import time

import pytest
from kept_runs import many, recording

from memtrack.errors import UnavailableError
from memtrack.runs import History

ROUNDS = 200

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and killed")


def check(folder, told):
    """Assert that the file is sound and holds every run that a writer was told is added."""
    connection = sqlite3.connect(folder / "history.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    # At once: between two questions another process may delete a run or bring it back.
    kept = [row[0] for row in connection.execute("SELECT identifier FROM runs")]
    connection.close()
    assert len(set(kept)) == len(kept)
    missing = set(told) - set(kept)
    assert not missing, f"{len(missing)} runs that were added are gone"
    with History(folder) as history:
        for run in history.runs(limit=20):
            assert history.view(run).peak.bytes == run.peak


def write_until_killed(folder, prefix, pipe):
    """Add runs, telling each that was added; never returns."""
    with History(folder) as history:
        number = 0
        while True:
            identifier = f"{prefix}-{number:08d}"
            history.add(recording(identifier), file=number % 8 == 0)
            os.write(pipe, f"{identifier}\n".encode())
            number += 1


def change_until_killed(folder, prefix, pipe):
    """Delete, restore, tag and list runs, telling of nothing; never returns."""
    chance = random.Random(prefix)
    while True:
        with History(folder) as history:
            runs = history.runs(deleted=chance.random() < 0.5, limit=20)
            for run in runs[chance.randrange(3) :: 3]:
                if run.deleted:
                    assert not history.restore(run).deleted
                else:
                    history.tag(run, ["seen", prefix])
                    history.delete(run)


class Writer:
    """A process that does something with a history until it is killed."""

    def __init__(self, folder, prefix, action=write_until_killed):
        out, into = os.pipe()
        self.process, self._pipe = os.fork(), out
        if self.process == 0:
            try:
                os.close(out)
                action(folder, prefix, into)
            finally:
                os._exit(1)
        os.close(into)

    def killed(self):
        """Kill it now and return the runs that it has told of."""
        os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        assert os.WIFSIGNALED(status)
        with os.fdopen(self._pipe, "rb") as pipe:
            # After the last line end comes what a kill has cut.
            return pipe.read().decode().split("\n")[:-1]


def test_kills_at_any_moment_lose_nothing_that_was_added(tmp_path):
    """In each of `ROUNDS` one of three is killed, and another takes its place.

    Two write, the third deletes runs and brings them back.
    """
    chance = random.Random(7)
    History(tmp_path).close()
    told = []
    actions = [write_until_killed, write_until_killed, change_until_killed]
    writers = [Writer(tmp_path, f"first-{number}", one) for number, one in enumerate(actions)]
    for number in range(ROUNDS):
        time.sleep(chance.uniform(0.001, 0.1))
        place = chance.randrange(3)
        told += writers[place].killed()
        writers[place] = Writer(tmp_path, str(number), actions[place])
        if number % 50 == 0:
            check(tmp_path, told)
    for writer in writers:
        told += writer.killed()
    assert len(told) > ROUNDS // 4  # they wait for each other, and machines are busy
    check(tmp_path, told)


def test_a_journal_left_behind_is_folded_in(tmp_path):
    folder, copy = tmp_path / "live", tmp_path / "after"
    history = History(folder)
    many(history, 5, file=False)
    copy.mkdir()
    # As after a power cut: the file and the journal as they lie on the disk, no one closed them.
    for name in ("history.db", "history.db-wal"):
        assert (folder / name).is_file()
        shutil.copy(folder / name, copy / name)
    history.close()
    check(copy, [f"{n:032x}" for n in range(5)])


def test_a_journal_cut_short_keeps_the_runs_before_the_cut(tmp_path):
    folder = tmp_path / "live"
    history = History(folder)
    many(history, 5, file=False)
    journal = (folder / "history.db-wal").read_bytes()
    database = (folder / "history.db").read_bytes()
    history.close()
    found = []
    for part in range(0, len(journal), 4096 * 3):
        copy = tmp_path / f"cut{part}"
        copy.mkdir()
        (copy / "history.db").write_bytes(database)
        (copy / "history.db-wal").write_bytes(journal[:part])
        with History(copy) as cut:
            found.append(len(cut.runs()))
        check(copy, [])
    assert found == sorted(found) and found[0] == 0 and found[-1] in (4, 5)


def test_a_full_disk_is_told_and_loses_nothing(tmp_path, monkeypatch):
    from memtrack.runs.database import Database

    connected = Database._connected

    def small(self, mode):
        """As a disk with room for little more: SQLite answers 'database or disk is full'."""
        connection = connected(self, mode)
        connection.execute("PRAGMA max_page_count = 24")
        return connection

    monkeypatch.setattr(Database, "_connected", small)
    with History(tmp_path) as history:
        added = []
        with pytest.raises(UnavailableError, match="the disk is full"):
            added.extend(
                history.add(recording(f"{number:032x}"), file=False).identifier
                for number in range(1000)
            )
        assert len(added) >= 3
    monkeypatch.undo()
    check(tmp_path, added)
    with History(tmp_path) as history:
        history.add(recording("f" * 32))
    check(tmp_path, [*added, "f" * 32])
