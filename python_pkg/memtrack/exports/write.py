"""A recording to a file, in the format that the ending of its name asks for.

Every file is written beside its target and renamed: a full disk or a kill leaves no part of one.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from memtrack.errors import UnavailableError, UsageError
from memtrack.exports.json_file import json_of
from memtrack.exports.page import page_of
from memtrack.exports.table import Column
from memtrack.exports.tables import TABLE_NAMES, table_of
from memtrack.exports.torch_snapshot import write_snapshot
from memtrack.i18n import text
from memtrack.recording import RecordingData, save_recording
from memtrack.recording.store import written_whole
from memtrack.words import in_utf8

LINES_AT_ONCE = 10_000


def export(
    recording: Any, path: str | os.PathLike[str], *, table: str = "", force: bool = False
) -> Path:
    """Write a recording, or its data, in the format of the ending of `path` and return the path.

    `.csv` and `.parquet` hold one table, `layers` unless `table` names another; `.json` holds all but
    the events, or that table. `.html` is the interactive report, `.pickle` is for
    pytorch.org/memory_viz, `.memtrack` the recording itself. Raises UsageError for another ending and,
    unless `force`, for a file that is there; UnavailableError where it cannot be written, in one line.
    """
    data = recording if isinstance(recording, RecordingData) else getattr(recording, "data", None)
    if not isinstance(data, RecordingData):
        kind = type(recording).__name__
        raise UsageError(text("recording must be a recording, not {kind}.", kind=kind))
    spare_source(getattr(recording, "source", None), path)
    if not os.fspath(path):
        raise UsageError(text("The name of a file is missing: it is empty."))
    target = Path(path).expanduser()
    ending = target.suffix.lower()
    _check_name(target, ending)
    if table and table not in TABLE_NAMES:
        raise UsageError.unknown_word(text("table"), table, TABLE_NAMES)
    if table and ending not in OF_TABLES:
        endings = ", ".join(OF_TABLES)
        raise UsageError(text("A single table is written as {endings}.", endings=endings))
    with told_in_one_line(target):
        if target.is_dir():
            raise UsageError(text("{path} is a folder.", path=target))
        if not force:
            refuse_existing(target)
        _WRITERS[ending](data, target, table)
    return target


def _check_name(target: Path, ending: str) -> None:
    """Raise UsageError where the name of a file does not say what to write to it."""
    if "\0" in str(target):
        raise UsageError(text("No file can have the name {name}.", name=repr(str(target))))
    if ending in _WRITERS:
        return
    if target.is_dir():
        raise UsageError(text("{path} is a folder.", path=target))
    if ending:
        raise UsageError.unknown_word(text("format"), ending, _WRITERS)
    raise UsageError(
        text("The name '{name}' has no ending that says the format.", name=target.name),
        text("Known: {words}.", words=", ".join(_WRITERS)),
    )


def refuse_existing(target: Path) -> None:
    """Raise UsageError for a file that is there."""
    if target.exists():
        raise UsageError(
            text("There is a file {path} already.", path=target),
            text("--force (in Python: force=True) writes over it."),
        )


def spare_source(source: Path | None, path: str | os.PathLike[str], ending: str = "") -> None:
    """Refuse to write over the file that a recording was opened from, by whatever name it is called."""
    target = os.path.expanduser(os.fspath(path))
    for one in (target, f"{target}{ending}"):
        with suppress(OSError, ValueError):
            if source is not None and os.path.samefile(one, source):
                raise UsageError(
                    text("{path} is the file that this recording was opened from.", path=path),
                    text("Write to another one."),
                )


@contextmanager
def told_in_one_line(target: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says of a file that cannot be written to one line: UnavailableError."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or type(error).__name__
        sentence = text("{path} cannot be written ({problem}).", path=target, problem=problem)
        raise UnavailableError(sentence) from error


def _csv(data: RecordingData, target: Path, table: str) -> None:
    found = table_of(data, table or "layers")
    with written_whole(target) as file, _as_text(file) as lines:
        writer = csv.writer(lines)
        writer.writerow(found.columns)
        for first in range(0, len(found), LINES_AT_ONCE):
            part = [_slice(one, first).cells() for one in found.columns.values()]
            writer.writerows(zip(*part, strict=True))


def _slice(column: Column, first: int) -> Column:
    part = slice(first, first + LINES_AT_ONCE)
    return Column(column.values[part], None if column.known is None else column.known[part])


def _json(data: RecordingData, target: Path, table: str) -> None:
    with written_whole(target) as file, _as_text(file) as lines:
        lines.writelines(json_of(data, table))


def _html(data: RecordingData, target: Path, _: str) -> None:
    page = page_of(data).encode("utf-8", "replace")
    with written_whole(target) as file:
        file.write(page)


def _parquet(data: RecordingData, target: Path, table: str) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        raise UnavailableError(
            text("Parquet needs pyarrow, which is not installed."),
            text("Install it: {command}", command="pip install pyarrow"),
        ) from missing
    found = table_of(data, table or "layers")
    columns = {name: _arrow(pyarrow, column) for name, column in found.columns.items()}
    with written_whole(target) as file:
        parquet.write_table(pyarrow.table(columns), file)


def _arrow(pyarrow: Any, column: Column) -> Any:
    if column.is_text:
        return pyarrow.array(
            list(map(in_utf8, column.values)), type=pyarrow.string()
        ).dictionary_encode()
    numbers = np.asarray(column.values).astype(np.int64)
    return pyarrow.array(numbers, mask=None if column.known is None else ~column.known)


def _snapshot(data: RecordingData, target: Path, _: str) -> None:
    write_snapshot(data, target)


def _recording(data: RecordingData, target: Path, _: str) -> None:
    save_recording(data, target)


@contextmanager
def _as_text(file: BinaryIO) -> Iterator[io.TextIOWrapper]:
    lines = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    try:
        yield lines
        lines.flush()
    finally:
        lines.detach()


OF_TABLES = (".csv", ".parquet", ".json")
_WRITERS: Mapping[str, Callable[[RecordingData, Path, str], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _json,
    ".html": _html,
    ".pickle": _snapshot,
    ".memtrack": _recording,
}
