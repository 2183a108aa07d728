"""Which notebook a Jupyter kernel serves, as far as files and its own environment tell.

No server is asked: nothing here opens a connection, and no token is read out of the files.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SESSION = "JPY_SESSION_NAME"
_PARENT = "JPY_PARENT_PID"


@dataclass(frozen=True, slots=True)
class Server:
    """A Jupyter server that has left its file: its process and the address it serves."""

    pid: int
    url: str


def notebook_of(environment: Mapping[str, str]) -> str:
    """Return the path of a kernel's notebook, "" where its server has not told the kernel."""
    return environment.get(_SESSION, "")


def server_pid(environment: Mapping[str, str]) -> int | None:
    """Return the process that has started a kernel, as the kernel was told; None if it was not."""
    with contextlib.suppress(ValueError):
        return int(environment.get(_PARENT, "")) or None
    return None


def servers_in(folder: Path) -> Mapping[int, Server]:
    """Return the servers that have written `jpserver-PID.json` into a runtime folder, by pid.

    A server that was killed leaves its file behind: whether it runs is for the caller to see.
    """
    found: dict[int, Server] = {}
    with contextlib.suppress(OSError):
        for path in sorted([*folder.glob("jpserver-*.json"), *folder.glob("nbserver-*.json")]):
            server = _read(path)
            if server is not None:
                found[server.pid] = server
    return found


def _read(path: Path) -> Server | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        url = str(content["url"])
        return Server(int(content["pid"]), url if url.endswith("/") else url + "/")
    except (OSError, ValueError, KeyError, TypeError):
        return None
