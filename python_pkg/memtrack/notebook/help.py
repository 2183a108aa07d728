"""The help of `%memtrack`, made from the table of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from memtrack.i18n import ENGLISH, Text, text
from memtrack.notebook.words import EXAMPLES, OPTIONS, SUB_COMMANDS
from memtrack.sizes import UNITS_HELP

_Rows: TypeAlias = Sequence[tuple[str, Text]]

_INTRODUCTION = text("Show where the memory of a PyTorch model goes: by layer, phase and cause.")
_MODEL = text("MODEL and OPT are names or expressions of this notebook.")
_MOMENT = text(
    "MOMENT is start, end, peak, step N, step N forward (or backward, optimizer),\n"
    "or the label of a mark; several words in quotes."
)
_RUN = text(
    "A, B and RUN are a run's number or name, last or baseline; A and B also a file,\n"
    "a recording or a prediction. WORD is open, name, baseline, tag, note, pin,\n"
    "unpin, delete, restore. `history deleted` lists what can be restored;\n"
    "`history off` keeps no runs, `history on` does again."
)
_BUILD = text(
    "BUILD is a function, not a call: it makes model, optimizer and batch, and\n"
    "returns a function for one step. Its OPTIONs are --steps N, --largest-batch."
)
_WIDEST_LEFT = 30
_EXPLAINED = (
    ("%memtrack", text("show the latest report")),
    ("%memtrack MODEL [OPTIONS]", text("record the coming steps of MODEL")),
    ("%%memtrack [MODEL] [OPTIONS]", text("record this cell, of any model if none is named")),
)


def help_text(language: str = ENGLISH) -> str:
    """Return the complete help in `language`, at most 80 columns wide in English."""
    commands = [
        (f"%memtrack {command.name} {command.argument}".rstrip(), command.help)
        for command in SUB_COMMANDS.values()
    ]
    options = [(f"{option.name} {option.value}", option.help) for option in OPTIONS.values()]
    parts = [
        _INTRODUCTION.render(language),
        _rows(_EXPLAINED, language),
        _MODEL.render(language),
        _section(text("Options"), options, language),
        _section(text("Sub-commands"), commands, language),
        _MOMENT.render(language),
        _RUN.render(language),
        _BUILD.render(language),
        UNITS_HELP.render(language),
        _section(text("Examples"), [], language) + _examples(language),
    ]
    return "\n\n".join(parts) + "\n"


def _section(title: Text, rows: _Rows, language: str) -> str:
    return f"{title.render(language)}:\n{_rows(rows, language)}"


def _examples(language: str) -> str:
    return "\n".join(f"  {code}\n      {what.render(language)}" for code, what in EXAMPLES)


def _rows(rows: _Rows, language: str) -> str:
    """Return the rows in two columns; what is too wide for the first has a line of its own."""
    widths = [len(left) for left, _ in rows if len(left) <= _WIDEST_LEFT]
    width = max(widths, default=0)
    return "\n".join(
        f"  {left:<{width}}"
        + ("  " if len(left) <= width else "\n" + " " * (width + 4))
        + right.render(language)
        for left, right in rows
    )
