"""What others chose and we store: identifiers that name files, and names of files.

A recording may come from anybody, and so may a folder `.memtrack` in a checkout. Neither may make us
write or remove a file outside of the history.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from memtrack.recording import RecordingData

_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")


def identity_of(data: RecordingData) -> str:
    """Return the identifier of a recording, or one made of its content where it has none.

    The same recording always gets the same one.
    """
    own = data.facts.identifier
    if own:
        return plain_identifier(own)
    digest = hashlib.sha256(repr((data.facts.label, data.facts.started)).encode())
    for table in data.tables.values():
        for name, values in table.columns.items():
            digest.update(name.encode())
            digest.update(values.tobytes())
    return digest.hexdigest()[:32]


def plain_identifier(identifier: str) -> str:
    """Return an identifier that can be the name of a file, as it is where it can."""
    if not identifier or _PLAIN.fullmatch(identifier):
        return identifier
    return hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def file_below(folder: Path, room: str, name: str) -> Path | None:
    """Return the path of the file `room/…` below a folder; None for a name that leads elsewhere."""
    first, _, rest = name.partition("/")
    if first != room or not rest.strip(".") or set(rest) & set("/\\:\0"):
        return None
    return folder / room / rest
