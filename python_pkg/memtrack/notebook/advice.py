"""`%memtrack advise`: its words to what is advised on, and a line of progress while it is weighed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.notebook.grammar import split_words, unquote
from memtrack.notebook.output import takes_updates
from memtrack.sizes import parse_size

ADVISE_OPTIONS = ("--budget", "--gpus")
_QUIET_S = 1.5
"""What is done sooner shows no progress."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """On what advice is wanted: an expression ("": the latest recording), a budget in bytes, GPUs."""

    subject: str = ""
    budget: int | None = None
    gpus: int = 8


def parse_advise(argument: str) -> Wanted:
    """Return what the words after `%memtrack advise` ask for; raise UsageError in one sentence."""
    values: dict[str, str] = {}
    subjects: list[str] = []
    rest = iter(split_words(argument))
    for word in rest:
        if not word.startswith("-"):
            subjects.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in ADVISE_OPTIONS:
            raise UsageError.unknown_word(text("option"), name, ADVISE_OPTIONS)
        values[name] = unquote(value if equals else next(rest, ""))
        if not values[name] or values[name].startswith("--"):
            usage = f"{name} {'SIZE' if name == '--budget' else 'N'}"
            raise UsageError(text("Something is missing: {usage}", usage=usage))
    if len(subjects) > 1:
        raise UsageError(text("'{word}' is one word too many.", word=subjects[1]))
    gpus = values.get("--gpus", "8")
    if not (gpus.isascii() and gpus.isdigit()):
        raise UsageError(text("--gpus takes a whole number, not '{value}'.", value=gpus))
    budget = parse_size(values["--budget"]) if "--budget" in values else None
    return Wanted("".join(subjects), budget, int(gpus))


def progress_line(shell: Any, language: str) -> Callable[[int, int], None]:
    """Return what shows how far the weighing is in one line, once it takes longer; gone at the end."""
    began = time.monotonic()
    display_id = uuid.uuid4().hex
    shown = False

    def tell(done: int, count: int) -> None:
        nonlocal shown
        late = time.monotonic() - began > _QUIET_S
        if not takes_updates(shell) or not (shown or (late and done < count)):
            return
        line = text("Weighing remedies: {done} of {count}", done=done, count=count)
        sentence = "" if done >= count else line.render(language)
        transient = {"display_id": display_id}
        shell.display_pub.publish({"text/plain": sentence}, {}, transient=transient, update=shown)
        shown = True

    return tell
