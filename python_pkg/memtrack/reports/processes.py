"""The processes on a device as their reader is shown them: rows of texts, plain text and HTML.

Each row says who it is, what is known of it, whether it may be ended, and the command to do so; the
command is for the reader to run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from memtrack.devices import commandlines
from memtrack.devices.ending import Ending, may_end
from memtrack.devices.leftovers import CHILD, HIDDEN, OTHER, SELF, DeviceProcess
from memtrack.devices.system import IDLE, ORPHAN, STOPPED, ZOMBIE
from memtrack.i18n import ENGLISH, Text, text
from memtrack.reports.cells import plain, shortened
from memtrack.reports.html import CELL, FIRST_CELL, TABLE
from memtrack.reports.words import joined, literal
from memtrack.units import format_bytes, format_duration

LONGEST_NAME = 100
"""Characters of a command line that are shown; its beginning is what tells one from another."""
_DAY_S = 86_400
_NS = 10**9

TITLES = (text("memory"), text("process"), text("known of it"), text("may it be ended?"))


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One process: `memory` on the device, `name`, `facts` in one line, and how it may be ended."""

    process: DeviceProcess
    memory: Text
    name: Text
    facts: Text
    ending: Ending


def process_rows(processes: Sequence[DeviceProcess]) -> Sequence[ProcessRow]:
    """Return a row for each process, in the order given."""
    return [
        ProcessRow(one, _memory(one), process_name(one), joined(_facts(one)), may_end(one))
        for one in processes
    ]


def process_name(process: DeviceProcess) -> Text:
    """Return who a process is, in a few words: its notebook, its kernel, its command line."""
    if process.relation == SELF:
        return text("this process")
    if process.relation == CHILD and process.role == commandlines.WORKER:
        return text("a worker of this process")
    if process.state == HIDDEN:
        return text("a process not visible from here")
    if process.notebook:
        return text("notebook {notebook}", notebook=_short(process.notebook))
    if process.kernel:
        return text("Jupyter kernel {kernel}", kernel=_short(process.kernel))
    return literal(_short(process.command)) if process.command else text("unknown")


def process_lines(processes: Sequence[DeviceProcess]) -> Sequence[Text]:
    """Return the processes as lines of plain text, two or three each."""
    lines: list[Text] = []
    for row in process_rows(processes):
        lines.append(text("{bytes} · {name} · {facts}", **_values(row)))
        lines.append(Text("    {why}", {"why": row.ending.why}))
        if row.ending.command:
            lines.append(Text("    $ {command}", {"command": row.ending.command}))
    return lines or [text("No process is on this device.")]


def processes_html(processes: Sequence[DeviceProcess], language: str = ENGLISH) -> str:
    """Return the processes as one HTML table: no script, nothing unescaped."""
    if not processes:
        return f"<p>{_words(text('No process is on this device.'), language)}</p>"
    first, *others = TITLES
    heads = f'<th scope="col" style="{FIRST_CELL}">{_words(first, language)}</th>' + "".join(
        f'<th scope="col" style="{FIRST_CELL}">{_words(title, language)}</th>' for title in others
    )
    rows = "".join(_html_row(row, language) for row in process_rows(processes))
    return (
        f'<table lang="{escape(language.replace("_", "-"))}" style="{TABLE}">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _html_row(row: ProcessRow, language: str) -> str:
    command = plain(row.ending.command)
    ending = _words(row.ending.why, language) + (
        f"<br><code>{escape(command)}</code>" if command else ""
    )
    whole = escape(plain(row.process.command), quote=True)
    return (
        f'<tr><td style="{CELL}">{_words(row.memory, language)}</td>'
        f'<th scope="row" style="{FIRST_CELL}" title="{whole}">{_words(row.name, language)}</th>'
        f'<td style="{FIRST_CELL}">{_words(row.facts, language)}</td>'
        f'<td style="{FIRST_CELL}">{ending}</td></tr>'
    )


def _memory(process: DeviceProcess) -> Text:
    if process.bytes is None:
        return text("not told")
    return literal(format_bytes(process.bytes))


def _facts(process: DeviceProcess) -> list[Text]:
    facts = [text("pid {pid}", pid=process.pid)]
    if process.user and not process.is_own_users:
        facts.append(text("of {user}", user=process.user))
    if process.folder and process.relation == OTHER and not process.notebook:
        facts.append(text("in {folder}", folder=_short(_from_home(process.folder))))
    if process.age_s is not None:
        facts.append(text("started {age} ago", age=_age(process.age_s)))
    if process.rank:
        facts.append(text("rank {rank}", rank=process.rank))
    if process.notebook and process.kernel:
        facts.append(text("kernel {kernel}", kernel=_short(process.kernel)))
    if process.state == ZOMBIE:
        facts.append(text("ended, but not yet cleared away"))
    elif process.state == STOPPED:
        facts.append(text("stopped"))
    elif process.left == ORPHAN:
        facts.append(text("left behind"))
    elif process.left == IDLE:
        facts.append(text("idle for long"))
    elif process.is_busy:
        facts.append(text("working"))
    return facts


def _from_home(folder: str) -> str:
    home = os.path.expanduser("~")
    inside = home != "/" and (folder == home or folder.startswith(home + os.sep))
    return f"~{folder[len(home) :]}" if inside else folder


def _age(seconds: float) -> str | Text:
    if seconds < 2 * _DAY_S:
        return format_duration(max(1, round(seconds)) * _NS)
    return text("{days} days", days=int(seconds // _DAY_S))


def _short(name: str) -> str:
    return shortened(plain(name), LONGEST_NAME)


def _values(row: ProcessRow) -> dict[str, Text]:
    return {"bytes": row.memory, "name": row.name, "facts": row.facts}


def _words(sentence: Text, language: str) -> str:
    return escape(plain(sentence.render(language)))
