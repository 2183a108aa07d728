"""Where a recording was made: notebook and cell, or script; commit, and whether it was changed."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memtrack.folders import from_the_root, working_folder
from memtrack.recording import RecordingData
from memtrack.runs.git import checkout_of, is_dirty
from memtrack.words import all_in_utf8

KEY = "run"
_SESSION = "JPY_SESSION_NAME"
_VSCODE = "__vsc_ipynb_file__"


@dataclass(frozen=True, slots=True)
class Origin:
    """What a recording does not know of itself. `path` is of the notebook or script, "" for neither.

    `cell` is the number of the cell, None outside a notebook; `folder` is where the history goes.
    """

    path: str
    cell: int | None
    folder: Path


def origin_of(shell: Any = None) -> Origin:
    """Return where this process runs; `shell` is IPython's, None outside of it."""
    path = _notebook(shell) if shell is not None else _script()
    folder = Path(path).parent if path else working_folder()
    is_beside = shell is not None and path and folder.is_dir()
    beside = folder if is_beside else working_folder()
    return Origin(path, _cell(shell), beside)


def with_origin(data: RecordingData, origin: Origin) -> RecordingData:
    """Return a recording that knows where it was made; what it knows already stays."""
    place = Path(origin.path).parent if origin.path else origin.folder
    checkout = checkout_of(Path(from_the_root(place)))
    known: dict[str, Any] = {"path": origin.path, "cell": origin.cell}
    if checkout is not None:
        known |= {"commit": checkout.commit, "branch": checkout.branch}
        known["dirty"] = is_dirty(checkout.root)
    run = {name: all_in_utf8(value) for name, value in known.items() if value not in (None, "")}
    facts = data.facts
    before = facts.extra.get(KEY)
    run |= before if isinstance(before, dict) else {}
    return replace(data, facts=replace(facts, extra={**facts.extra, KEY: run}))


def _cell(shell: Any) -> int | None:
    """Return the number of the cell that runs.

    IPython's own counter is the number of the next one from IPython 9.9 on, of this one before.
    """
    inputs = getattr(getattr(shell, "history_manager", None), "input_hist_parsed", None)
    return len(inputs) - 1 if isinstance(inputs, list) and len(inputs) > 1 else None


def _notebook(shell: Any) -> str:
    """Return the notebook of a kernel, as Jupyter's server or VS Code tell it; "" where none does."""
    names = getattr(shell, "user_ns", {})
    told = names.get(_VSCODE) if isinstance(names, dict) else None
    return told if isinstance(told, str) else os.environ.get(_SESSION, "")


def _script() -> str:
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return from_the_root(file) if isinstance(file, str) else ""
