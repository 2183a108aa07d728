"""Full recordings beside a history: written whole, kept by number and by size, the oldest go first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtrack.recording import RecordingData, save_recording
from memtrack.runs.safety import file_below
from memtrack.units import GIB

FOLDER = "recordings"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many full recordings are kept, and how many bytes of them; pinned, named and baselines stay."""

    files: int = 50
    bytes: int = 2 * GIB


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
