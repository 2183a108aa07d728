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

KILLS = 200
WRITERS = 2

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are forked and killed")


def check(folder, told):
    """Assert that the file is sound and holds every run that a writer was told is added."""
    connection = sqlite3.connect(folder / "history.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    with History(folder) as history:
        runs = {run.identifier: run for run in history.runs()}
        missing = set(told) - set(runs)
        assert not missing, f"{len(missing)} runs that were added are gone"
        for run in list(runs.values())[:20]:
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


def test_kills_at_any_moment_lose_nothing_that_was_added(tmp_path):
    chance = random.Random(7)
    History(tmp_path).close()
    told = []
    for kill in range(KILLS // WRITERS):
        children = []
        for writer in range(WRITERS):
            out, into = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    os.close(out)
                    write_until_killed(tmp_path, f"{kill}-{writer}", into)
                finally:
                    os._exit(1)
            os.close(into)
            children.append((child, out))
        time.sleep(chance.uniform(0.002, 0.12))
        for child, _ in children:
            os.kill(child, signal.SIGKILL)
        for child, out in children:
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status)
            with os.fdopen(out, "rb") as pipe:
                lines = pipe.read().decode().split("\n")
            told += lines[:-1]  # after the last line end comes what a kill has cut
    assert len(told) > KILLS // 4
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
