"""Full recordings beside a history: written whole, kept by number and by size, the oldest go first.

How many is what `limit` has set in this process, else what MEMTRACK_HISTORY_FILES and
MEMTRACK_HISTORY_SIZE say, such as 200 and 20GiB; without either 50 and 2 GiB.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.recording import RecordingData, save_recording
from memtrack.runs.safety import file_below
from memtrack.sizes import parse_size
from memtrack.units import GIB

FOLDER = "recordings"
FILES_VARIABLE, SIZE_VARIABLE = "MEMTRACK_HISTORY_FILES", "MEMTRACK_HISTORY_SIZE"
MOST_DIGITS, MOST_SHOWN = 9, 60


@dataclass(frozen=True, slots=True)
class Limits:
    """How many full recordings are kept, and how many bytes of them; pinned, named and baselines stay.

    With 0 files none is written at all.
    """

    files: int = 50
    bytes: int = 2 * GIB


NO_LIMITS = Limits(files=1 << 62, bytes=1 << 62)
_set: tuple[int | None, int | None] = (None, None)


def limit(files: int | None = None, size: int | str | None = None) -> None:
    """Keep so many full recordings, and so many bytes of them (`20GiB`), from now on in this process.

    None is what the environment says. Raises UsageError for what is no number or no size.
    """
    global _set
    if files is not None and (type(files) is not int or files < 0):
        raise _no_count(text("The number of recordings"), files)
    _set = (files, checked_size(size) if isinstance(size, str) else size)


def checked_size(word: str) -> int:
    """Return the bytes of recordings that `20GiB` stands for; UsageError for what is no size."""
    return _bytes_of(text("The size of recordings"), word)


def limits_now() -> Limits:
    """Return what `limit` and the environment say; raises UsageError where that is no number or size."""
    files, size = _set
    told = os.environ
    if files is None and told.get(FILES_VARIABLE):
        files = _count_of(FILES_VARIABLE, told[FILES_VARIABLE].strip())
    if size is None and told.get(SIZE_VARIABLE):
        size = _bytes_of(SIZE_VARIABLE, told[SIZE_VARIABLE])
    usual = Limits()
    return Limits(usual.files if files is None else files, usual.bytes if size is None else size)


def _count_of(what: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
        raise _no_count(what, word[:MOST_SHOWN])
    return int(word)


def _no_count(what: str | Text, given: object) -> UsageError:
    values = {"what": what, "given": repr(given)}
    return UsageError(text("{what} must be a whole number from 0, not {given}.", **values))


def _bytes_of(what: str | Text, word: str) -> int:
    try:
        return parse_size(word)
    except UsageError as error:
        values = {"what": what, "given": repr(word[:MOST_SHOWN])}
        sentence = text("{what} must be a size above 0 such as 20GiB, not {given}.", **values)
        raise UsageError(sentence) from error


def write_file(folder: Path, data: RecordingData) -> tuple[str, int]:
    """Write a recording below a history's folder; return its name there and its bytes.

    Raises OSError as the system gives it; nothing is left behind then.
    """
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    name = f"{FOLDER}/{data.facts.identifier}.memtrack"
    target = save_recording(data, folder / name)
    return name, target.stat().st_size


def too_many(
    connection: sqlite3.Connection, limits: Limits, newest: int
) -> Iterator[tuple[int, str]]:
    """Yield the runs whose files are over the limits, with their files; never that of run `newest`."""
    rows = connection.execute(
        "SELECT id, file, file_bytes FROM runs WHERE file != '' AND pinned = 0 AND baseline = 0"
        " AND name IS NULL ORDER BY id DESC"
    ).fetchall()
    count = total = 0
    for run, file, size in rows:
        count, total = count + 1, total + size
        if run != newest and (count > limits.files or total > limits.bytes):
            yield run, file


def remove_file(folder: Path, name: str) -> None:
    """Remove a recording's file; one that is gone already, or is none of ours, is no failure."""
    path = file_below(folder, FOLDER, name)
    if path is not None:
        with suppress(OSError):
            path.unlink(missing_ok=True)
