"""Recordings as `.memtrack` files: a zip of `meta.json` and one `.npy` a column.

Written beside the target under a temporary name, flushed to the disk and renamed, so that a kill at
any moment leaves either the file that was there or the new one. Members that this version does
not know are ignored; a newer major version is refused.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from memtrack.errors import NewerFormat, UnreadableFile
from memtrack.i18n import text
from memtrack.recording.categories import Category, PhaseKind
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
        archive.writestr("meta.json", json.dumps(_meta(data), indent=1))
        for name, column in _members(data):
            archive.writestr(f"{name}.npy", _npy(column))
    return target


def load_recording(path: str | os.PathLike[str]) -> RecordingData:
    """Read a `.memtrack` file.

    Raises UnreadableFile (NewerFormat for a newer major version) in one sentence, FileNotFoundError
    and other OSError as the system gives them.
    """
    source = Path(path)
    with source.open("rb") as file:
        try:
            data = _read(file, source)
            data.self_check()
        except UnreadableFile:
            raise
        except Exception as error:
            raise _unreadable(source, error) from error
    return data


def _read(file: BinaryIO, source: Path) -> RecordingData:
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        known = json.loads(archive.read("meta.json")) if "meta.json" in names else None
        meta = _readable_meta(known, source)
        columns = {
            name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
            for name in _member_names()
            if f"{name}.npy" in names
        }
    return _assemble(meta, columns)


def _unreadable(source: Path, error: Exception) -> UnreadableFile:
    problem = (str(error).splitlines() or [type(error).__name__])[0]
    sentence = text(
        "{path} is not a readable memtrack recording ({problem}).", path=source, problem=problem
    )
    return UnreadableFile(sentence, text("It may be cut short; save or copy it again."))


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


def _readable_meta(meta: Any, source: Path) -> Mapping[str, Any]:
    if not isinstance(meta, dict) or meta.get("schema") != SCHEMA:
        sentence = text("{path} is a zip file but not a memtrack recording.", path=source)
        raise UnreadableFile(sentence)
    major = int(meta["version"][0])
    if major > VERSION[0]:
        sentence = text(
            "{path} was written in format {major}; this memtrack reads {known}.",
            path=source,
            major=major,
            known=VERSION[0],
        )
        raise NewerFormat(sentence, text("Update memtrack to open it."))
    return meta


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
        for begin, end in itertools.pairwise(offsets)
    )
    tables = {}
    for name, specs in TABLES.items():
        present = {
            column: columns[f"{name}/{column}"] for column in specs if f"{name}/{column}" in columns
        }
        tables[name] = Table(name, _known_codes(name, present))
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


def _known_codes(table: str, columns: dict[str, Array]) -> dict[str, Array]:
    """Replace the codes that a newer minor version added by the one for anything else."""
    known = {"allocations": ("category", Category.UNKNOWN), "phases": ("kind", PhaseKind.OTHER)}
    if table in known and known[table][0] in columns:
        column, rest = known[table]
        codes = columns[column]
        columns[column] = np.where(codes < len(type(rest)), codes, np.uint8(rest))
    return columns


def _npy(column: Array) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(column), allow_pickle=False)
    return buffer.getvalue()


@contextlib.contextmanager
def _written_whole(target: Path) -> Iterator[Any]:
    target = Path(os.path.realpath(target))  # a link goes on pointing to the file
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        with temporary.open("xb") as file:
            if target.exists():
                shutil.copymode(target, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
