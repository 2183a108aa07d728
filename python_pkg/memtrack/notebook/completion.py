"""Completion after `%memtrack`: words, options and names of the notebook that fit there.

A matcher of IPython's completer, so that where we know what fits nothing else is offered: without
it `--` is completed as the sign of a number, and names are looked for only in Python code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from IPython.core.completer import SimpleCompletion

from memtrack.diagnosis.usernames import user_variables
from memtrack.exports.tables import TABLE_NAMES
from memtrack.notebook.advice import ADVISE_OPTIONS
from memtrack.notebook.exporting import EXPORT_OPTIONS
from memtrack.notebook.fitting import (
    builders,
    errors_and_texts,
    files,
    gpu_names,
    models,
    optimizers,
    recordings,
)
from memtrack.notebook.giveback import FREE_OPTIONS
from memtrack.notebook.grammar import split_words
from memtrack.notebook.planner import complete_plan
from memtrack.notebook.predict import PREDICT_OPTIONS
from memtrack.notebook.runs import ACTIONS, DIFF_OPTIONS, SAVE_OPTIONS, WORDS
from memtrack.notebook.words import OPTIONS, SUB_COMMANDS

_OPTIONS_OF: Mapping[str, Iterable[str]] = {
    "advise": ADVISE_OPTIONS,
    "diff": DIFF_OPTIONS,
    "export": EXPORT_OPTIONS,
    "free": FREE_OPTIONS,
    "predict": PREDICT_OPTIONS,
    "save": SAVE_OPTIONS,
    "track": OPTIONS,
}


class Matcher:
    """What IPython's completer of one shell asks; its attributes are those of IPython's protocol."""

    matcher_api_version = 2
    matcher_identifier = "memtrack"

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        # Read of every matcher, as if all were functions.
        self.__qualname__ = type(self).__qualname__

    def __call__(self, context: Any) -> dict[str, Any]:
        """Return what may come next, alone; nothing where we know nothing better than others."""
        word, found = complete(self._shell, context.text_until_cursor)
        completions = [SimpleCompletion(text=one, type="magic") for one in found]
        return {
            "completions": completions,
            "matched_fragment": word,
            "suppress": bool(completions),
            "ordered": True,
        }


def complete(shell: Any, line: str) -> tuple[str, list[str]]:
    """Return the word that is being typed at the end of `line`, and what it may become."""
    before = split_words(line)
    if not before or before[0] not in ("%memtrack", "%%memtrack"):
        return "", []
    is_open = not line[-1].isspace() and len(before) > 1
    word, done = (before[-1], before[1:-1]) if is_open else ("", before[1:])
    fitting = _after(shell, done, word, of_cell=before[0] == "%%memtrack")
    begins = (word, f'"{word}')
    return word, list(
        dict.fromkeys(one for one in fitting if one.startswith(begins) and one not in done)
    )


def _after(shell: Any, done: list[str], word: str, *, of_cell: bool) -> list[str]:
    """Return what fits after the words `done`, whatever the next begins with."""
    names = user_variables(shell)
    if not word.startswith("_"):
        names = {name: value for name, value in names.items() if not name.startswith("_")}
    command = done[0] if done and not of_cell and done[0] in SUB_COMMANDS else ""
    if command == "plan":
        return complete_plan(done[1:], word)
    value = _value(done, command, names)
    if value is not None:
        return value
    if word.startswith("-"):
        return list(_OPTIONS_OF.get(command, () if command else OPTIONS))
    if command:
        return _argument(shell, command, done[1:], word, names)
    if done:
        return list(OPTIONS)
    return [*models(names, word), *(() if of_cell else SUB_COMMANDS)]


def _value(done: list[str], command: str, names: Mapping[str, Any]) -> list[str] | None:
    """Return what fits after an option that wants a value, None where no such option is last."""
    last = done[-1] if done else ""
    if last == "--gpu" and command == "predict":
        return gpu_names()
    if last == "--table" and command == "export":
        return list(TABLE_NAMES)
    if last == "--optimizer" and command in ("", "track"):
        return optimizers(names)
    return [] if last in ("--steps", "--label", "--budget", "--gpus", "--rank") else None


def _argument(
    shell: Any, command: str, done: list[str], word: str, names: Mapping[str, Any]
) -> list[str]:
    """Return what fits after a sub-command and the words `done`, other than options."""
    magics = shell.magics_manager.registry.get("MemtrackMagics") if shell else None
    if command == "summary":
        moments = [] if magics is None else magics.moments()
        return [f'"{moment}"' if " " in moment else moment for moment in moments]
    if command == "free":
        return list(names)
    if command == "history" and not done:
        return list(WORDS)
    if command == "diff" or (command == "history" and len(done) == 1 and done[0] in ACTIONS):
        return [] if magics is None else magics.run_names()
    if command == "open" and not done:
        return files(word)
    of_names: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
        "advise": recordings,
        "explain": errors_and_texts,
        "predict": builders,
        "track": lambda known: models(known, word),
    }
    if command in of_names and not done:
        return of_names[command](names)
    return list(_OPTIONS_OF.get(command, ())) if done or command == "save" else []


def add_completion(shell: Any) -> None:
    """Offer words after `%memtrack` where the shell completes."""
    remove_completion(shell)
    completer = getattr(shell, "Completer", None)
    if completer is not None:
        completer.custom_matchers.append(Matcher(shell))


def remove_completion(shell: Any) -> None:
    """Take the matcher off again."""
    completer = getattr(shell, "Completer", None)
    if completer is not None:
        completer.custom_matchers[:] = [
            one
            for one in completer.custom_matchers
            if getattr(one, "matcher_identifier", "") != Matcher.matcher_identifier
        ]
