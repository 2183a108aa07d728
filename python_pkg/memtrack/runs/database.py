"""The SQLite file of a history: opened, brought to this version, and its failures in one sentence.

WAL lets kernels read while one writes. `synchronous=FULL` flushes the journal at each commit, so that a
run that was added survives a power cut.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memtrack.errors import NewerFormat, UnavailableError, UnreadableFile
from memtrack.i18n import text
from memtrack.runs.forks import CONNECTIONS

VERSION = 1
WAIT_S = 10.0
"""Seconds that a writer waits for another one."""
_APPLICATION = 0x6D656D74
"""`memt`: tells our file from other SQLite files."""

_CREATE = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identifier TEXT NOT NULL UNIQUE,
    created REAL NOT NULL,          -- seconds since 1970
    label TEXT NOT NULL,
    name TEXT UNIQUE,               -- what the user calls it
    state TEXT NOT NULL,
    evidence TEXT NOT NULL,
    notebook TEXT NOT NULL,
    cell INTEGER,
    device TEXT NOT NULL,
    peak INTEGER NOT NULL,          -- bytes
    reserved INTEGER,               -- bytes
    step_ns INTEGER,
    steps INTEGER NOT NULL,
    structure TEXT NOT NULL,        -- hash of the module tree
    parameters INTEGER NOT NULL,    -- elements
    commit_id TEXT NOT NULL,
    dirty INTEGER NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    pinned INTEGER NOT NULL DEFAULT 0,
    baseline INTEGER NOT NULL DEFAULT 0,
    deleted REAL,                   -- seconds since 1970, NULL: not deleted
    spark BLOB NOT NULL,            -- float32, allocated over the run as shares of the peak
    file TEXT NOT NULL DEFAULT '',  -- name of the full recording beside the database
    file_bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE views (run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, view BLOB NOT NULL);
CREATE TABLE tags (
    run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
) WITHOUT ROWID;
CREATE INDEX runs_label ON runs (label, id);
CREATE INDEX runs_baseline ON runs (baseline) WHERE baseline = 1;
CREATE INDEX runs_deleted ON runs (deleted) WHERE deleted IS NOT NULL;
"""


class Database:
    """One connection to a history. Each call of `writing` or `reading` is one transaction."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the file at `path`; with `create` make it, and its folder, where it is missing.

        Raises UnavailableError where the folder cannot be written or read, UnreadableFile for what is
        no history and NewerFormat for one of a newer memtrack.
        """
        self.path = path
        self.writable = True
        self._refused: sqlite3.OperationalError | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._is_open = False
        if not CONNECTIONS.is_usable:
            raise UnavailableError(
                text("The history {path} was in use when this process was forked.", path=path),
                text("Use it from the process that was there before."),
            )
        CONNECTIONS.opened()
        try:
            with self._in_words():
                if create:
                    path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = self._opened(create)
                self._is_open = True
                self._prepare()
        except BaseException:
            if self._is_open:
                self._connection.close()
            self._forget_copy()
            CONNECTIONS.closed()
            raise

    def close(self) -> None:
        """Close the connection; the journal is folded into the file by the last one."""
        if not self._is_open:
            return
        self._is_open = False
        with suppress(sqlite3.Error):
            self._connection.close()
        self._forget_copy()
        CONNECTIONS.closed()

    def _forget_copy(self) -> None:
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.cleanup()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run statements as one transaction that is kept whole or not at all."""
        if self._refused is not None and _is_full(self._refused):
            raise self._told(self._refused)
        if not self.writable:
            raise self._only_read()
        with self._in_words():
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Run statements that change nothing."""
        with self._in_words():
            yield self._connection

    def _opened(self, create: bool) -> sqlite3.Connection:
        patience = time.monotonic() + WAIT_S
        while True:
            try:
                return self._connected("rwc" if create else "rw")
            except sqlite3.OperationalError as error:
                if not self.path.is_file():
                    raise
                if not _is_busy(error):
                    self._refused = error
                    break
                # To begin a journal SQLite does not wait for others who are about to, as it does later.
                if time.monotonic() > patience:
                    raise
            time.sleep(0.02)
        self.writable = False
        try:
            return self._connected("ro")
        except sqlite3.OperationalError:
            # A folder that cannot be written, and no journal in it: none is needed to read.
            if not self._journal.is_file() or not self._journal.stat().st_size:
                return self._connected("ro&immutable=1")
            return self._copied()

    def _connected(self, mode: str, path: Path | None = None) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{(path or self.path).absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=WAIT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if mode.startswith("ro"):
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            else:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                connection.execute("PRAGMA synchronous = FULL")
                # Taking the lock shows whether the file may be written, which opening it does not.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def _journal(self) -> Path:
        return self.path.with_name(f"{self.path.name}-wal")

    def _copied(self) -> sqlite3.Connection:
        """Open a copy: a process was killed, and its last runs lie in a journal that cannot be folded in."""
        self._copy = tempfile.TemporaryDirectory(prefix="memtrack-")
        for one in (self.path, self._journal):
            shutil.copyfile(one, Path(self._copy.name) / one.name)
        return self._connected("rw", Path(self._copy.name) / self.path.name)

    def _prepare(self) -> None:
        """Make the tables of a new file; refuse what is another's or newer."""
        version = self._number("user_version")
        application = self._number("application_id")
        if version > VERSION and application == _APPLICATION:
            raise NewerFormat(
                text("The history {path} was written by a newer memtrack.", path=self.path),
                text("Update memtrack, or set MEMTRACK_HISTORY to another folder."),
            )
        if version and application == _APPLICATION:
            return
        if self._is_empty():
            if self._refused is not None:
                raise self._refused
            self._create()
            return
        raise UnreadableFile(
            text("{path} is a database, but not a history of memtrack.", path=self.path),
            text("Move it away, or set MEMTRACK_HISTORY to another folder."),
        )

    def _create(self) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self._is_empty():  # another kernel may have been first
                for statement in _CREATE.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _is_empty(self) -> bool:
        query = "SELECT count(*) FROM sqlite_master"
        return int(self._connection.execute(query).fetchone()[0]) == 0

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn the failures of SQLite and the system into sentences that say what to do."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._told(error) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise UnavailableError(
                text("The history {path} cannot be used: {reason}.", path=self.path, reason=reason),
                text("Set MEMTRACK_HISTORY to another folder."),
            ) from error

    def _only_read(self) -> UnavailableError:
        return UnavailableError(
            text("The history {path} can only be read here.", path=self.path),
            text("Set MEMTRACK_HISTORY to a folder that can be written."),
        )

    def _told(self, error: sqlite3.DatabaseError) -> UnreadableFile | UnavailableError:
        reason = str(error)
        if "malformed" in reason or "not a database" in reason:
            return UnreadableFile(
                text("The history {path} is damaged: {reason}.", path=self.path, reason=reason),
                text("Move it away; the recordings beside it can still be opened."),
            )
        if _is_full(error):
            return UnavailableError(
                text("The history {path} cannot be written: the disk is full.", path=self.path),
                text("Nothing of it was lost; the recording itself can still be saved elsewhere."),
            )
        if "readonly" in reason and self._is_open:
            return self._only_read()
        if _is_busy(error):
            return UnavailableError(
                text("The history {path} is busy: another kernel writes to it.", path=self.path),
                text("Try again in a moment."),
            )
        return UnavailableError(
            text("The history {path} cannot be used: {reason}.", path=self.path, reason=reason),
            text("Set MEMTRACK_HISTORY to another folder."),
        )


def _is_full(error: sqlite3.DatabaseError) -> bool:
    return any(words in str(error) for words in ("disk is full", "disk I/O"))


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return any(word in str(error) for word in ("locked", "busy"))
