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
from memtrack.recording.categories import Category, PhaseKind, ReadingKind
from memtrack.recording.data import EVIDENCE, STATES, Facts, Notice, RecordingData
from memtrack.recording.tables import TABLES, Array, Table, whole_numbers
from memtrack.units import format_bytes
from memtrack.words import all_in_utf8, in_utf8

SCHEMA = "memtrack.recording"
VERSION = (1, 1)
SUFFIX = ".memtrack"

MOST_BYTES = 4 << 30
"""What the members of a file may unpack to together."""
MOST_META_BYTES = 16 << 20
LONGEST_PROBLEM = 200


def save_recording(data: RecordingData, path: str | os.PathLike[str]) -> Path:
    """Write `data` to `path` and return the path written; `.memtrack` is added when missing.

    Raises OSError as the system gives it (no space, no permission); the target is then unchanged.
    """
    target = Path(path)
    if target.suffix != SUFFIX:
        target = target.with_name(target.name + SUFFIX)
    with (
        written_whole(target) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        _write(archive, "meta.json", json.dumps(_meta(data), indent=1))
        for name, column in _members(data):
            _write(archive, f"{name}.npy", _npy(column))
    return target


def _write(archive: zipfile.ZipFile, name: str, content: str | bytes) -> None:
    # Without a time: that of a clock that was never set, before 1980, zip cannot write.
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 3)


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
        names = _bounded_members(archive)
        known = json.loads(archive.read("meta.json")) if "meta.json" in names else None
        meta = _readable_meta(all_in_utf8(known), source)
        columns = {
            name: np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
            for name in _member_names()
            if f"{name}.npy" in names
        }
    return _assemble(meta, columns)


def _unreadable(source: Path, error: Exception) -> UnreadableFile:
    problem = (str(error).splitlines() or [type(error).__name__])[0]
    if len(problem) > LONGEST_PROBLEM:
        problem = problem[: LONGEST_PROBLEM - 1] + "…"
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
    major = int(_of_type(meta["version"][0], int, "version"))
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
    encoded = [string.encode("utf-8", "replace") for string in data.strings]
    lengths = np.array([0, *map(len, encoded)], dtype="<i8")
    yield "strings/bytes", np.frombuffer(b"".join(encoded), dtype="u1")
    yield "strings/offsets", np.cumsum(lengths)
    for table in TABLES:
        for column, values in data.tables[table].columns.items():
            yield f"{table}/{column}", values


def _bounded_members(archive: zipfile.ZipFile) -> set[str]:
    """Return the names in the file; ValueError where it would unpack to more than memory should hold."""
    wanted = {"meta.json", *(f"{name}.npy" for name in _member_names())}
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if sizes.get("meta.json", 0) > MOST_META_BYTES:
        raise ValueError(f"meta.json would unpack to {format_bytes(sizes['meta.json'])}")
    total = sum(size for name, size in sizes.items() if name in wanted)
    if total > MOST_BYTES:
        raise ValueError(f"it would unpack to {format_bytes(total)}")
    return set(sizes)


def _assemble(meta: Mapping[str, Any], columns: Mapping[str, Array]) -> RecordingData:
    tables = {}
    for name, specs in TABLES.items():
        present = {
            column: whole_numbers(columns[f"{name}/{column}"], f"{name}.{column}")
            for column in specs
            if f"{name}/{column}" in columns
        }
        present = _known_codes(name, present)
        for column, values in present.items():
            _check_fits(values, np.dtype(specs[column].dtype), f"{name}.{column}")
        tables[name] = Table(name, present)
    return RecordingData(_facts(meta), _strings(columns), tables)


def _strings(columns: Mapping[str, Array]) -> tuple[str, ...]:
    blob = whole_numbers(columns["strings/bytes"], "strings.bytes")
    offsets = whole_numbers(columns["strings/offsets"], "strings.offsets")
    _check_fits(blob, np.dtype("u1"), "strings.bytes")
    _check_fits(offsets, np.dtype("i8"), "strings.offsets")
    ends = offsets.astype("<i8").tolist()
    if not ends or ends[0] != 0 or ends[-1] != len(blob) or sorted(ends) != ends:
        raise ValueError("strings.offsets do not lie in strings.bytes")
    encoded = blob.astype("u1", copy=False).tobytes()
    return tuple(
        in_utf8(encoded[begin:end].decode("utf-8", "surrogatepass"))
        for begin, end in itertools.pairwise(ends)
    )


def _check_fits(values: Array, dtype: np.dtype[Any], where: str) -> None:
    """Raise ValueError when a number would become another one in `dtype`."""
    if values.dtype == dtype or not len(values):
        return
    limits = np.iinfo(dtype)
    if int(values.min()) < limits.min or int(values.max()) > limits.max:
        raise ValueError(f"{where} holds numbers that do not fit")


def _facts(meta: Mapping[str, Any]) -> Facts:
    found = {
        name: _of_type(meta.get(name, default), str, name) for name, default in _TEXT_FACTS.items()
    }
    # Words of a newer minor version become the one that claims the least.
    found["state"] = found["state"] if found["state"] in STATES else "complete"
    found["evidence"] = found["evidence"] if found["evidence"] in EVIDENCE else "opened"
    versions = _of_type(meta.get("versions", {}), dict, "versions")
    for version in versions.values():
        _of_type(version, str, "versions")
    notices = _of_type(meta.get("notices", []), list, "notices")
    return Facts(
        **found,
        versions=versions,
        notices=tuple(map(_notice, notices)),
        extra=_of_type(meta.get("extra", {}), dict, "extra"),
    )


_TEXT_FACTS = {
    "label": "model",
    "state": "complete",
    "evidence": "measured",
    "source": "storages",
    "started": "",
    "identifier": "",
}


def _notice(notice: Any) -> Notice:
    _of_type(notice, dict, "notices")
    values = _of_type(notice.get("values", {}), dict, "notices")
    for value in values.values():
        _of_type(value, (str, int), "notices")
    return Notice(_of_type(notice.get("id"), str, "notices"), values)


def _of_type(value: Any, kind: type | tuple[type, ...], where: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where} of meta.json is of the wrong type")
    return value


def _known_codes(table: str, columns: dict[str, Array]) -> dict[str, Array]:
    """Replace the codes that a newer minor version added by the one for anything else."""
    known = {
        "allocations": ("category", Category.UNKNOWN),
        "phases": ("kind", PhaseKind.OTHER),
        "readings": ("kind", ReadingKind.PHASE),
    }
    if table in known and known[table][0] in columns:
        column, rest = known[table]
        codes = columns[column]
        columns[column] = np.where((codes >= 0) & (codes < len(type(rest))), codes, np.uint8(rest))
    return columns


def _npy(column: Array) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(column), allow_pickle=False)
    return buffer.getvalue()


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[Any]:
    """Open a file beside `target` for writing; it takes the target's place when the block succeeds."""
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
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == str(temporary):
            error.filename = str(target)  # the name that the reader knows
        raise
