"""What `%memtrack explain` is to explain: the name of an error or a text, or the text itself."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from memtrack.api import Recording
from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.notebook.grammar import unquote
from memtrack.notebook.targets import described, evaluate

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def error_or_text(argument: str, names: Mapping[str, Any]) -> BaseException | str:
    """Return the exception or text that `argument` names in `names`, else the text that it is.

    One word that is no name of the notebook is taken for a slip. Raises UsageError in one sentence.
    """
    words = unquote(argument)
    if words != argument or not _NAME.fullmatch(argument):
        return words
    if argument.partition(".")[0] not in names:
        sentence = text("There is no name '{name}' in this notebook.", name=argument)
        raise UsageError(sentence, _close(argument, names))
    value = evaluate(argument, names)
    if isinstance(value, BaseException | str):
        return value
    if type(value) in (list, tuple) and value and all(type(line) is str for line in value):
        return "\n".join(value)
    raise UsageError(
        text(
            "`{expression}` is {what}; %memtrack explain takes an exception or a text.",
            expression=argument,
            what=described(value),
        )
    )


def recording_named(expression: str, names: Mapping[str, Any]) -> Any:
    """Return the recording or prediction that an expression stands for; UsageError for anything else."""
    if expression.partition(".")[0].partition("[")[0] not in names:
        sentence = text("There is no name '{name}' in this notebook.", name=expression)
        raise UsageError(sentence)
    value = evaluate(expression, names)
    if isinstance(value, Recording):
        return value
    raise UsageError(
        text(
            "`{expression}` is {what}; %memtrack advise takes a recording or a prediction.",
            expression=expression,
            what=described(value),
        )
    )


def _close(word: str, names: Mapping[str, Any]) -> str | Text:
    known = [
        name
        for name, value in list(names.items())
        if not name.startswith("_") and isinstance(value, BaseException | str)
    ]
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return text("Did you mean '{word}'?", word=close[0]) if close else ""
