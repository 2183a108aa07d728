"""Which file is what, told from its first bytes, and who reads it.

A reader is added as a row of `READERS`. Names of files are never trusted: a recording that was
renamed opens, and something else called `.memtrack` is refused in one sentence.
"""

from __future__ import annotations

import difflib
import lzma
import os
import stat
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memtrack.errors import UnreadableFile
from memtrack.i18n import Text, text
from memtrack.readers.torch_snapshot import read_snapshot
from memtrack.readers.unpickle import opener_of
from memtrack.recording import RecordingData, load_recording

HEAD_BYTES = 64
_ZIP = b"PK\x03\x04"
_PICKLE_PROTOCOLS = range(2, 6)


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: `matches` sees the first bytes of the file, unpacked, `read` takes its path.

    `read` raises a MemtrackError in one sentence for a file that it cannot make a recording of.
    """

    name: str
    matches: Callable[[bytes], bool]
    read: Callable[[Path], RecordingData]


def open_recording(path: str | os.PathLike[str]) -> RecordingData:
    """Read a file as whatever it is.

    Raises UnreadableFile in one line for one that is missing, damaged or of no known format.
    """
    source = _expanded(path)
    head = _head(source)
    for reader in READERS:
        if reader.matches(head):
            return reader.read(source)
    if not head:
        raise UnreadableFile(text("{path} is empty.", path=source))
    raise UnreadableFile(
        text("{path} is not a file that memtrack knows.", path=source),
        text("It opens recordings (.memtrack) and snapshots of torch's allocator (.pickle)."),
    )


def _expanded(path: str | os.PathLike[str]) -> Path:
    source = Path(path)
    try:
        return source.expanduser()
    except RuntimeError:  # there is no such user: the name is meant as it stands
        return source


def _is_snapshot(head: bytes) -> bool:
    return len(head) > 1 and head[0] == 0x80 and head[1] in _PICKLE_PROTOCOLS


READERS = (
    Reader("memtrack recording", lambda head: head.startswith(_ZIP), load_recording),
    Reader("torch snapshot", _is_snapshot, read_snapshot),
)


def _head(source: Path) -> bytes:
    """Return the first bytes of a file, of a compressed one those inside."""
    try:
        # A pipe or a device would keep the reader waiting.
        if not stat.S_ISREG(source.stat().st_mode):
            raise UnreadableFile(text("{path} is not a regular file.", path=source))
        with source.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except ValueError as error:  # a name that no file can have
        raise UnreadableFile(text("There is no file {path}.", path=repr(str(source)))) from error
    except FileNotFoundError:  # which says no more than this does
        raise UnreadableFile(
            text("There is no file {path}.", path=source), _closest(source)
        ) from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        sentence = text("{path} cannot be read ({problem}).", path=source, problem=problem)
        raise UnreadableFile(sentence) from error
    return _unpacked_head(source, head)


def _unpacked_head(source: Path, head: bytes) -> bytes:
    opener = opener_of(head)
    if opener is None:
        return head
    try:
        with opener(source) as file:
            return bytes(file.read(HEAD_BYTES))
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return head


def _closest(missing: Path) -> Text | str:
    try:
        # Hidden folders, such as `.memtrack` with the history, are not what anybody has mistyped.
        names = [name for name in os.listdir(missing.parent) if not name.startswith(".")]
    except OSError:
        return ""
    close = difflib.get_close_matches(missing.name, names, n=1)
    return text("Did you mean '{word}'?", word=str(missing.with_name(close[0]))) if close else ""
