"""Which process may be ended, why or why not, and the command for it: shown, never run by us."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memtrack.devices import commandlines
from memtrack.devices.leftovers import CHILD, HIDDEN, SELF, DeviceProcess
from memtrack.devices.system import IDLE, ORPHAN, STOPPED, ZOMBIE
from memtrack.i18n import Text, text

_WINDOWS = os.name == "nt"


@dataclass(frozen=True, slots=True)
class Ending:
    """Whether a process is the reader's to end, why, and the command they would run ("" for none)."""

    allowed: bool
    why: Text
    command: str = ""


def may_end(process: DeviceProcess, *, windows: bool = _WINDOWS) -> Ending:
    """Tell whether the reader may end a process and how; the command asks it to end (SIGTERM)."""
    refused = _refusal(process)
    if refused is not None:
        return Ending(False, refused)
    if process.role == commandlines.KERNEL and process.left != ORPHAN:
        return _kernel(process, windows)
    if process.role == commandlines.RANK and process.launcher is not None:
        why = text(
            "One of the processes that {launcher} has started: end that one, and it ends them all.",
            launcher=process.launcher,
        )
        return Ending(True, why, _command(process.launcher, windows))
    if process.state == STOPPED and not windows:
        why = text("Yours, and stopped (Ctrl+Z): it ends only once it is continued.")
        return Ending(True, why, f"kill -TERM {process.pid}; kill -CONT {process.pid}")
    return Ending(True, _why(process), _command(process.pid, windows))


def _refusal(process: DeviceProcess) -> Text | None:
    """Return why a process is not the reader's to end, None where it is."""
    if process.relation == SELF:
        return text(
            "This is where you are: give memory back with %memtrack free, or restart the kernel."
        )
    if process.state == HIDDEN:
        return text(
            "Not visible from here: it belongs to the host or to another container, or has just ended."
            " The same number here would be another process. On the host: ps -fp {pid}",
            pid=process.pid,
        )
    if process.state == ZOMBIE:
        if process.parent in (None, 1):
            return text("It has ended; its memory comes back when the system has cleared it away.")
        return text(
            "It has ended and cannot be ended again: it stays until its parent, process {parent},"
            " takes note or ends.",
            parent=process.parent,
        )
    if process.relation == CHILD:
        if process.role == commandlines.WORKER:
            return text(
                "A worker of this process: it ends with its DataLoader (del the loader and its"
                " iterator) or with this process."
            )
        return text("Started by this process: end it from here, as it was started.")
    if not process.is_own_users:
        if process.user:
            return text("It belongs to {user}: ask them.", user=process.user)
        return text("It is not known whose it is.")
    return None


def _kernel(process: DeviceProcess, windows: bool) -> Ending:
    """Return how a kernel is shut down: by its server, which would start a killed one anew."""
    if process.server_url:
        why = text(
            "A Jupyter kernel: in JupyterLab, Running Terminals and Kernels, Shut Down. From a"
            " terminal, with the server's token in JUPYTER_TOKEN (jupyter server list shows it):"
        )
        url = f"{process.server_url}api/kernels/{process.kernel}"
        header = "%JUPYTER_TOKEN%" if windows else "$JUPYTER_TOKEN"
        return Ending(True, why, f'curl -X DELETE -H "Authorization: token {header}" {url}')
    why = text(
        "A Jupyter kernel: shut it down where it was opened, in JupyterLab under Running Terminals"
        " and Kernels. Ended from outside, it may be started anew."
    )
    return Ending(True, why, _command(process.pid, windows))


def _why(process: DeviceProcess) -> Text:
    if process.left == ORPHAN:
        return text("Yours; nothing that started it is left, and it does nothing now.")
    if process.left == IDLE:
        return text("Yours; it has hardly done anything since it was started, and nothing now.")
    if process.is_busy:
        return text("Yours, and working now: what it has not saved is lost.")
    return text("Yours: what it has not saved is lost.")


def _command(pid: int, windows: bool) -> str:
    return f"taskkill /PID {pid}" if windows else f"kill -TERM {pid}"
