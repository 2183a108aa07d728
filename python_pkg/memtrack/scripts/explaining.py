"""An explanation on stderr under the traceback of a memory error. Whatever fails here is one line."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from memtrack.errors import in_one_line
from memtrack.i18n import preferred_language, text

if TYPE_CHECKING:
    from memtrack.api import Recording

_LEFT_ALONE = (SystemExit, KeyboardInterrupt, SyntaxError, GeneratorExit)

_explained: set[int] = set()


def explain_on_stderr(
    error: BaseException, recording: Recording | None = None, language: str = ""
) -> None:
    """Write what is known of a memory error to stderr; nothing for any other. Never raises."""
    language = language or preferred_language()
    try:
        if not may_be_of_memory(error):
            return
        explanation = _explanation(error, recording, language)
        if explanation:
            _explained.add(id(error))
            _write(f"\n{explanation}\n\n")
    except Exception as ours:  # noqa: BLE001 - our failure must not hide the user's
        problem = in_one_line(ours)
        sentence = text("memtrack could not explain this error ({problem}).", problem=problem)
        _write(sentence.render(language) + "\n")


def was_explained(error: BaseException) -> bool:
    """Tell, once, whether this error that is being handled has been explained already."""
    found = id(error) in _explained
    _explained.clear()
    return found


def may_be_of_memory(error: BaseException) -> bool:
    """Tell whether looking closer is worth it; only names and messages are read."""
    # Ahead of any import: after one, Python no longer ends by the signal of an interrupt.
    if issubclass(type(error), _LEFT_ALONE):
        return False
    from memtrack.diagnosis.raised import may_be_about_memory

    return may_be_about_memory(error)


def _explanation(error: BaseException, recording: Recording | None, language: str) -> str:
    from memtrack.explaining import explain
    from memtrack.reports.diagnosistext import render_diagnosis

    diagnosis = explain(error, recording)
    if diagnosis.kind == "none":
        return ""
    return render_diagnosis(diagnosis, language, _columns())


def _columns() -> int:
    with suppress(ValueError):
        return min(max(int(os.environ.get("COLUMNS", "")), 60), 120)
    try:
        return min(max(os.get_terminal_size(sys.stderr.fileno()).columns, 60), 120)
    except (OSError, ValueError, AttributeError):
        return 80


def _write(words: str) -> None:
    with suppress(Exception):
        try:
            sys.stderr.write(words)
        except UnicodeEncodeError:
            encoding = sys.stderr.encoding or "ascii"
            sys.stderr.write(words.encode(encoding, "replace").decode(encoding))
        sys.stderr.flush()
