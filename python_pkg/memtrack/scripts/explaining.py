"""An explanation on stderr under the traceback of a memory error. Whatever fails here is one line."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from memtrack.i18n import preferred_language, text

if TYPE_CHECKING:
    from memtrack.api import Recording

_WORDS = re.compile(
    r"memory|alloc|cuda|hip\b|\bmps\b|xpu|npu|nccl|cublas|cudnn|cufft|device|driver|gpu|nvml"
    r"|triton|killed|shm|bus error|signal|resource",
    re.IGNORECASE,
)
"""What says nothing of this kind is not looked at: most errors cost nothing here."""
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
        problem = f"{type(ours).__name__}: {ours}".splitlines()[0]
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
    from memtrack.diagnosis.raised import chain

    for one in reversed(chain(error)):
        if issubclass(type(one), _LEFT_ALONE):
            return False
        if issubclass(type(one), MemoryError) or _WORDS.search(type(one).__name__):
            return True
        if _WORDS.search(_message(one)):
            return True
    return False


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - it is code of the user's
        return ""


def _explanation(error: BaseException, recording: Recording | None, language: str) -> str:
    from memtrack.api import explain
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
