"""Completion after `%memtrack`: sub-commands, options and moments, from the table of words."""

from __future__ import annotations

from typing import Any

from memtrack.diagnosis.usernames import user_variables
from memtrack.notebook.advice import ADVISE_OPTIONS
from memtrack.notebook.giveback import FREE_OPTIONS
from memtrack.notebook.planner import complete_plan
from memtrack.notebook.runs import ACTIONS, DIFF_OPTIONS, SAVE_OPTIONS, WORDS
from memtrack.notebook.words import OPTIONS, SUB_COMMANDS

_OF_RUNS = {"save": SAVE_OPTIONS, "history": (), "diff": DIFF_OPTIONS}
_KEYS = ("%memtrack", "%%memtrack")


def complete(shell: Any, event: Any) -> list[str]:
    """Return what may come next; nothing where it is a name of the user's, which IPython knows."""
    before = event.line.split()
    starting_word = not event.line.endswith((" ", "\t"))
    done = before[1:-1] if starting_word and len(before) > 1 else before[1:]
    word = before[-1] if starting_word and len(before) > 1 else ""
    if done and done[0] == "plan" and before[0] == "%memtrack":
        return complete_plan(done[1:], word)
    if done and done[0] in _OF_RUNS and before[0] == "%memtrack":
        return _of_runs(shell, done, word)
    if word.startswith("-"):
        if done and done[0] == "free":
            return [option for option in FREE_OPTIONS if option not in done]
        if done and done[0] == "advise":
            return [option for option in ADVISE_OPTIONS if option not in done]
        return [option for option in OPTIONS if option not in done]
    if not done and not before[0].startswith("%%"):
        return [command for command in SUB_COMMANDS if command.startswith(word)]
    if done and done[0] == "summary" and before[0] == "%memtrack":
        return [moment for moment in _moments(shell) if moment.startswith(word)]
    if done and done[0] == "free" and before[0] == "%memtrack":
        return [
            name for name in user_variables(shell) if name.startswith(word) and name not in done
        ]
    return []


def _of_runs(shell: Any, done: list[str], word: str) -> list[str]:
    """Return what may follow `save`, `history` or `diff`."""
    if word.startswith("-"):
        return [option for option in _OF_RUNS[done[0]] if option not in done]
    magics = shell.magics_manager.registry.get("MemtrackMagics") if shell else None
    if done == ["history"]:
        return [one for one in WORDS if one.startswith(word)]
    takes_run = done[0] == "diff" or (len(done) == 2 and done[1] in ACTIONS)
    if not takes_run or magics is None:
        return []
    return [name for name in magics.run_names() if name.startswith(word)]


def _moments(shell: Any) -> list[str]:
    """Return the moments of the latest recording as they are typed: several words in quotes."""
    magics = shell.magics_manager.registry.get("MemtrackMagics")
    names = [] if magics is None else magics.moments()
    return [f'"{name}"' if " " in name else name for name in names]


def add_completion(shell: Any) -> None:
    """Offer words after `%memtrack` where the shell has completion hooks."""
    for key in _KEYS:
        shell.set_hook("complete_command", complete, str_key=key)


def remove_completion(shell: Any) -> None:
    """Take the hooks off again."""
    dispatcher = shell.strdispatchers.get("complete_command")
    for key in _KEYS:
        if dispatcher is not None:
            dispatcher.strs.pop(key, None)
