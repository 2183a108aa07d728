"""Every run kept in one place: added when it has ended, found again by number, name or baseline.

A run is added in one transaction; its full recording is a file beside the database, written before. So
a kill at any moment leaves every run that was added, and at worst a file without a run, which the next
one that is added takes away.
"""

from __future__ import annotations

import difflib
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from memtrack.comparison.view import RunView, view_of
from memtrack.errors import MemtrackError, UnavailableError, UsageError
from memtrack.folders import working_folder
from memtrack.i18n import text
from memtrack.recording import RecordingData, load_recording
from memtrack.runs.database import Database
from memtrack.runs.files import (
    FOLDER,
    Limits,
    limits_now,
    remove_file,
    too_many,
    write_file,
)
from memtrack.runs.packing import packed, unpacked
from memtrack.runs.run import Run, run_of, values_of
from memtrack.runs.safety import file_below, identity_of, plain_identifier
from memtrack.words import in_utf8

FILE = "history.db"
FOLDER_NAME = ".memtrack"
VARIABLE = "MEMTRACK_HISTORY"
OFF = ("off", "0", "no", "none", "false")
"""What the variable may say for no history at all."""
LAST, BASELINE = "last", "baseline"
MOST_DIGITS = 18
UNDO_S = 30 * 24 * 3600.0
"""Seconds for which a deleted run can be brought back."""
_ORPHAN_S = 24 * 3600.0
_BEGIN = text("It begins with the first recording that ends.")
_NAME = re.compile(r"[^\W\d][\w .+-]{0,79}")


def history_folder(beside: Path | None = None) -> Path:
    """Return where the history is: `MEMTRACK_HISTORY`, or `.memtrack` beside the notebook or script."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen and chosen.casefold() not in OFF:
        return Path(os.path.expanduser(chosen))
    return (beside or working_folder()) / FOLDER_NAME


class History:
    """The history in one folder. Close it, or use it as a context."""

    def __init__(self, folder: Path, *, create: bool = True, limits: Limits | None = None) -> None:
        """Open the history of a folder; with `create` make it. `limits` are `limits_now()` by default.

        Raises UnavailableError, UnreadableFile or NewerFormat as `Database` does, and UnavailableError
        where there is none and none is to be made.
        """
        self.folder = folder
        self._limits = limits
        if not create and not (folder / FILE).is_file():
            raise UnavailableError(
                text("There is no history in {folder} yet.", folder=folder), _BEGIN
            )
        self._database = Database(folder / FILE, create=create)
        if create:
            self._hide_from_git()

    def __enter__(self) -> History:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def add(self, data: RecordingData, *, file: bool = True) -> Run:
        """Add a recording that has ended and return its run; one that is there already stays as it is.

        One that was deleted is back. With `file` the whole recording is kept too, within the limits; where
        it cannot be written the run is added without. Raises UsageError for limits that are none.
        """
        limits = limits_now() if self._limits is None else self._limits
        data = replace(data, facts=replace(data.facts, identifier=identity_of(data)))
        view = view_of(data)
        values = values_of(view, time.time())
        name, size = "", 0
        if file and limits.files and self._database.writable:
            with suppress(OSError):
                name, size = write_file(self.folder, data)
        values |= {"file": name, "file_bytes": size}
        try:
            run, gone = self._insert(values, packed(view), limits)
        except MemtrackError:
            self._remove_unknown(name)
            raise
        for one in gone:
            remove_file(self.folder, one)
        self._remove_orphans()
        return self.run(run)

    @property
    def writable(self) -> bool:
        """Whether runs can be added and changed here."""
        return self._database.writable

    def runs(self, *, search: str = "", deleted: bool = False, limit: int = -1) -> Sequence[Run]:
        """Return the runs, newest first: those with every word of `search` in what is known by words.

        That is label, name, notebook, note, device, commit and tags.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM runs WHERE (deleted IS NOT NULL) = ? ORDER BY id DESC LIMIT ?",
                (int(deleted), limit if not search else -1),
            ).fetchall()
            tags = self._tags(connection)
        found = [run_of(row, tags.get(row["id"], ())) for row in rows]
        if search:
            wanted = search.casefold().split()
            found = [one for one in found if _has_all(wanted, one)]
        return found if limit < 0 else found[:limit]

    def run(self, which: int | str, *, deleted: bool = False) -> Run:
        """Return a run by number, name, `last`, `baseline` or the beginning of its identifier.

        With `deleted` it is one of those that were deleted. Raises UsageError for none, with the
        closest name.
        """
        with self._database.reading() as connection:
            row = self._row(connection, which, deleted)
            if row is None:
                raise self._unknown(connection, str(which))
            return self._run_of(connection, row)

    def view(self, run: Run) -> RunView:
        """Return what a run is compared by."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT view FROM views WHERE run = ?", (run.id,)).fetchone()
        if row is None:
            raise UnavailableError(text("Nothing but its row is kept of run {run}.", run=run.id))
        return unpacked(row["view"])

    def data(self, run: Run) -> RecordingData:
        """Return the full recording of a run; raises UnavailableError where it is not kept any more."""
        path = file_below(self.folder, FOLDER, run.file)
        if path is None or not path.is_file():
            raise UnavailableError(
                text("The full recording of run {run} is not kept any more.", run=run.id),
                text("Pin or name a run to keep its recording."),
            )
        return load_recording(path)

    def name(self, run: Run, name: str) -> Run:
        """Call a run `name`, "" for nothing; raises UsageError for a name that is taken or is none."""
        name = name.strip()
        if name and (not _NAME.fullmatch(name) or name.casefold() in (LAST, BASELINE)):
            raise UsageError(
                text("'{name}' cannot be the name of a run.", name=name),
                text(
                    "A name begins with a letter and has at most 80 letters, digits, spaces and ._+-"
                ),
            )
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE runs SET name = NULL WHERE name = ? AND deleted IS NOT NULL", (name,)
            )
            other = connection.execute(
                "SELECT id FROM runs WHERE name = ? AND id != ?", (name, run.id)
            ).fetchone()
            if name and other is not None:
                raise UsageError(
                    text("Run {run} is called '{name}' already.", run=other["id"], name=name),
                    text("Choose another name."),
                )
            connection.execute("UPDATE runs SET name = ? WHERE id = ?", (name or None, run.id))
        return self.run(run.id)

    def make_baseline(self, run: Run, on: bool = True) -> Run:
        """Make a run the one that others of the same label are compared with, or no more."""
        with self._database.writing() as connection:
            if on:
                connection.execute("UPDATE runs SET baseline = 0 WHERE label = ?", (run.label,))
            connection.execute("UPDATE runs SET baseline = ? WHERE id = ?", (int(on), run.id))
        return self.run(run.id)

    def baseline_for(self, label: str, besides: int = -1) -> Run | None:
        """Return what a run of a label is compared with: its baseline, else the newest of any label.

        Never the run with the number `besides`; None where there is no other baseline.
        """
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT * FROM runs WHERE baseline = 1 AND deleted IS NULL AND id != ?"
                " ORDER BY label = ? DESC, id DESC LIMIT 1",
                (besides, label),
            ).fetchone()
        return None if row is None else run_of(row, ())

    def recorded_as(self, identifier: str) -> Run | None:
        """Return the run of a recording by its identifier; None where it was not added, or deleted."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT * FROM runs WHERE identifier = ? AND deleted IS NULL",
                (plain_identifier(identifier),),
            ).fetchone()
            return None if row is None else self._run_of(connection, row)

    def pin(self, run: Run, pinned: bool = True) -> Run:
        """Keep a run's recording whatever the limits say, or no more."""
        return self._set(run, pinned=int(pinned))

    def note(self, run: Run, words: str) -> Run:
        """Write a note to a run, in place of the one it had."""
        return self._set(run, note=in_utf8(words[:10_000]))

    def tag(self, run: Run, tags: Iterable[str]) -> Run:
        """Give a run these tags and no others."""
        wanted = {in_utf8(one.strip()[:80]) for one in tags if one.strip()}
        with self._database.writing() as connection:
            connection.execute("DELETE FROM tags WHERE run = ?", (run.id,))
            connection.executemany(
                "INSERT INTO tags VALUES (?, ?)", [(run.id, one) for one in sorted(wanted)]
            )
        return self.run(run.id)

    def delete(self, run: Run) -> None:
        """Take a run out of the history; `restore` brings it back within 30 days."""
        self._set(run, deleted=time.time())

    def restore(self, run: Run) -> Run:
        """Bring a deleted run back."""
        return self._set(run, deleted=None)

    def _insert(
        self, values: Mapping[str, object], view: bytes, limits: Limits
    ) -> tuple[int, list[str]]:
        """Add a run in one transaction; return its number and the files that go for it."""
        columns = ", ".join(values)
        marks = ", ".join(f":{column}" for column in values)
        with self._database.writing() as connection:
            connection.execute(
                f"INSERT OR IGNORE INTO runs ({columns}) VALUES ({marks})",  # noqa: S608 - our own names
                values,
            )
            run = connection.execute(
                "SELECT id FROM runs WHERE identifier = :identifier", values
            ).fetchone()["id"]
            connection.execute("UPDATE runs SET deleted = NULL WHERE id = ?", (run,))
            connection.execute("INSERT OR IGNORE INTO views VALUES (?, ?)", (run, view))
            gone = self._over_limits(connection, limits, run) + self._past_undo(connection)
        return run, gone

    def _remove_unknown(self, name: str) -> None:
        """Remove a file whose run could not be added: on a full disk it would only take room."""
        with suppress(MemtrackError), self._database.reading() as connection:
            query = "SELECT count(*) FROM runs WHERE file = ?"
            if not connection.execute(query, (name,)).fetchone()[0]:
                remove_file(self.folder, name)

    def _set(self, run: Run, **values: Any) -> Run:
        ((column, value),) = values.items()
        with self._database.writing() as connection:
            connection.execute(
                f"UPDATE runs SET {column} = ? WHERE id = ?",  # noqa: S608 - our own name
                (value, run.id),
            )
            row = connection.execute("SELECT * FROM runs WHERE id = ?", (run.id,)).fetchone()
            return self._run_of(connection, row)

    def _row(self, connection: Any, which: int | str, deleted: bool) -> Any:
        alive = f"SELECT * FROM runs WHERE (deleted IS NULL) = {int(not deleted)} AND "  # noqa: S608
        word = in_utf8(str(which)).strip()
        if word.isdecimal() and len(word) <= MOST_DIGITS:
            return connection.execute(alive + "id = ?", (int(word),)).fetchone()
        if word in (LAST, BASELINE):
            place = "1" if word == LAST else "baseline = 1"
            query = f"{alive}{place} ORDER BY id DESC LIMIT 1"
            return connection.execute(query).fetchone()
        row = connection.execute(alive + "name = ?", (word,)).fetchone()
        if row is None and len(word) >= 6:
            pattern = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            query = alive + "identifier LIKE ? ESCAPE '\\' ORDER BY id DESC LIMIT 1"
            row = connection.execute(query, (pattern,)).fetchone()
        return row

    def _unknown(self, connection: Any, word: str) -> UsageError:
        if word == BASELINE:
            return UsageError(
                text("There is no baseline yet."),
                text(
                    "Name the run to compare with, or make one the baseline: %memtrack save --baseline,"
                    " or memtrack.history().make_baseline(RUN) in Python."
                ),
            )
        if word == LAST:
            return UsageError(text("There is no run in {folder} yet.", folder=self.folder), _BEGIN)
        query = "SELECT name FROM runs WHERE name IS NOT NULL AND deleted IS NULL"
        names = [row["name"] for row in connection.execute(query)]
        close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
        hint = (
            text("Did you mean '{word}'?", word=close[0])
            if close
            else text("A run is named by its number, its name, 'last' or 'baseline'.")
        )
        return UsageError(
            text("There is no run '{word}' in {folder}.", word=word, folder=self.folder), hint
        )

    def _run_of(self, connection: Any, row: Any) -> Run:
        return run_of(row, self._tags(connection, row["id"]).get(row["id"], ()))

    def _tags(self, connection: Any, run: int | None = None) -> dict[int, list[str]]:
        where, values = ("", ()) if run is None else (" WHERE run = ?", (run,))
        found: dict[int, list[str]] = {}
        for row in connection.execute(f"SELECT run, tag FROM tags{where} ORDER BY tag", values):  # noqa: S608
            found.setdefault(row["run"], []).append(row["tag"])
        return found

    def _over_limits(self, connection: Any, limits: Limits, newest: int) -> list[str]:
        gone = list(too_many(connection, limits, newest))
        connection.executemany(
            "UPDATE runs SET file = '', file_bytes = 0 WHERE id = ?", [(run,) for run, _ in gone]
        )
        return [name for _, name in gone]

    def _past_undo(self, connection: Any) -> list[str]:
        """Take away for good what was deleted long ago."""
        past = (time.time() - UNDO_S,)
        files = connection.execute("SELECT file FROM runs WHERE deleted < ?", past).fetchall()
        connection.execute("DELETE FROM runs WHERE deleted < ?", past)
        return [row["file"] for row in files]

    def _hide_from_git(self) -> None:
        """Keep our own folder out of the user's commits, unless they have said otherwise."""
        path = self.folder / ".gitignore"
        if self.folder.name == FOLDER_NAME and self.writable and not path.exists():
            with suppress(OSError):
                path.write_text("*\n", encoding="ascii")

    def _remove_orphans(self) -> None:
        """Remove files that no run knows: of runs whose process was killed before they were added.

        Only old ones: another kernel may be about to add the run of a new one.
        """
        with self._database.reading() as connection:
            known = {row["file"] for row in connection.execute("SELECT file FROM runs")}
        with suppress(OSError):
            for path in (self.folder / FOLDER).iterdir():
                old = path.stat().st_mtime < time.time() - _ORPHAN_S
                if old and f"{FOLDER}/{path.name}" not in known:
                    path.unlink(missing_ok=True)


def _has_all(wanted: Sequence[str], run: Run) -> bool:
    words = (run.label, run.name, run.notebook, run.note, run.device, run.commit, *run.tags)
    text_of_run = "\n".join(words).casefold()
    return all(word in text_of_run for word in wanted)
