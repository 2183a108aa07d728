"""Recordings as `.memtrack` files: a zip of `meta.json` and one `.npy` a column.

Written beside the target under a temporary name, flushed to the disk and renamed, so that a kill at
any moment leaves either the file that was there or the new one. Members that this version does
not know are ignored; a newer major version is refused.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memtrack.errors import NewerFormat, UnreadableFile
from memtrack.recording.data import Facts, Notice, RecordingData
from memtrack.recording.tables import TABLES, Array, Table

SCHEMA = "memtrack.recording"
VERSION = (1, 0)
SUFFIX = ".memtrack"


def save_recording(data: RecordingData, path: str | os.PathLike[str]) -> Path:
    """Write `data` to `path` and return the path written; `.memtrack` is added when missing.

    Raises OSError as the system gives it (no space, no permission); the target is then unchanged.
    """
    target = Path(path)
    if target.suffix != SUFFIX:
        target = target.with_name(target.name + SUFFIX)
    with (
        _written_whole(target) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
    ):
        archive.writestr("meta.json", json.dumps(_meta(data), ensure_ascii=False, indent=1))
        for name, column in _members(data):
            archive.writestr(f"{name}.npy", _npy(column))
    return target


def load_recording(path: str | os.PathLike[str]) -> RecordingData:
    """Read a `.memtrack` file.

    Raises UnreadableFile (NewerFormat for a newer major version) in one sentence, FileNotFoundError
    and other OSError as the system gives them.
    """
    source = Path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            meta = json.loads(archive.read("meta.json"))
            _assert_readable(meta, source)
            names = set(archive.namelist())
            columns = {
                name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
                for name in _member_names()
                if f"{name}.npy" in names
            }
        data = _assemble(meta, columns)
        data.self_check()
    except UnreadableFile:
        raise
    except OSError:
        raise
    except Exception as error:
        hint = "It may be cut short; save or copy it again."
        raise UnreadableFile(
            f"{source} is not a readable memtrack recording ({error}).", hint
        ) from error
    return data


def _meta(data: RecordingData) -> dict[str, Any]:
    facts = data.facts
    return {
        "schema": SCHEMA,
        "version": list(VERSION),
        "label": facts.label,
        "state": facts.state,
        "evidence": facts.evidence,
        "source": facts.source,
        "started": facts.started,
        "identifier": facts.identifier,
        "versions": dict(facts.versions),
        "notices": [{"id": notice.id, "values": dict(notice.values)} for notice in facts.notices],
        "extra": dict(facts.extra),
    }


def _assert_readable(meta: Any, source: Path) -> None:
    if not isinstance(meta, dict) or meta.get("schema") != SCHEMA:
        raise UnreadableFile(f"{source} is a zip file but not a memtrack recording.")
    major = int(meta["version"][0])
    if major > VERSION[0]:
        hint = "Update memtrack to open it."
        raise NewerFormat(
            f"{source} was written in format {major}; this memtrack reads {VERSION[0]}.", hint
        )


def _member_names() -> list[str]:
    names = [f"{table}/{column}" for table, columns in TABLES.items() for column in columns]
    return ["strings/bytes", "strings/offsets", *names]


def _members(data: RecordingData) -> Iterator[tuple[str, Array]]:
    encoded = [string.encode("utf-8", "surrogatepass") for string in data.strings]
    lengths = np.array([0, *map(len, encoded)], dtype="<i8")
    yield "strings/bytes", np.frombuffer(b"".join(encoded), dtype="u1")
    yield "strings/offsets", np.cumsum(lengths)
    for table in TABLES:
        for column, values in data.tables[table].columns.items():
            yield f"{table}/{column}", values


def _assemble(meta: Mapping[str, Any], columns: Mapping[str, Array]) -> RecordingData:
    blob, offsets = columns["strings/bytes"].tobytes(), columns["strings/offsets"].tolist()
    strings = tuple(
        blob[begin:end].decode("utf-8", "surrogatepass")
        for begin, end in zip(offsets, offsets[1:], strict=False)
    )
    tables = {}
    for name, specs in TABLES.items():
        present = {
            column: columns[f"{name}/{column}"] for column in specs if f"{name}/{column}" in columns
        }
        tables[name] = Table(name, present)
    notices = tuple(Notice(notice["id"], notice["values"]) for notice in meta.get("notices", ()))
    facts = Facts(
        label=str(meta.get("label", "model")),
        state=str(meta.get("state", "complete")),
        evidence=str(meta.get("evidence", "measured")),
        source=str(meta.get("source", "storages")),
        started=str(meta.get("started", "")),
        identifier=str(meta.get("identifier", "")),
        versions=dict(meta.get("versions", {})),
        notices=notices,
        extra=dict(meta.get("extra", {})),
    )
    return RecordingData(facts, strings, tables)


def _npy(column: Array) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(column), allow_pickle=False)
    return buffer.getvalue()


@contextlib.contextmanager
def _written_whole(target: Path) -> Iterator[Any]:
    handle, temporary = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".part", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
