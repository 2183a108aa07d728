"""The text after `%memtrack` to a request. Pure: nothing is evaluated and no shell is needed.

A word ends at white space outside brackets and quotes, so `models["a b"]` and `[gen, disc]` are
one word each.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TypeAlias

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.notebook.words import HELP_WORDS, OPTIONS, OTHER_WORDS, SUB_COMMANDS

CELL_MARK = "%%"
"""First word of the line that `%%memtrack` becomes: the request is for this cell alone."""


@dataclass(frozen=True, slots=True)
class Track:
    """Record `model` (an expression, "" for none): the coming steps, or this cell alone."""

    model: str
    optimizer: str = ""
    steps: int | None = None
    label: str = ""
    this_cell: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """Run a sub-command with its argument as written, its quotes left on where it is several words."""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class ShowLatest:
    """Show the latest report."""


Request: TypeAlias = Track | Command | ShowLatest


def parse_line(line: str) -> Request:
    """Return what the text after `%memtrack` asks for; raise UsageError in one sentence."""
    words = split_words(line)
    if not words:
        return ShowLatest()
    first = words[0]
    if first == CELL_MARK:
        return parse_cell(line.strip()[len(CELL_MARK) :])
    rest = line.strip()[len(first) :].strip()
    if first in HELP_WORDS:
        return Command("help")
    if first == "track":
        return _parse_tracked_by_name(words[1:])
    if first in SUB_COMMANDS:
        return _parse_command(first, rest)
    return _parse_track(words, this_cell=False)


def parse_cell(line: str) -> Track:
    """Return what the text after `%%memtrack` asks for; raise UsageError in one sentence."""
    words = split_words(line)
    if words and (words[0] in SUB_COMMANDS or words[0] in HELP_WORDS):
        sentence = text("%%memtrack records a cell; '{word}' is for a line.", word=words[0])
        raise UsageError(sentence, f"%memtrack {line.strip()}")
    return _parse_track(words, this_cell=True)


def _parse_command(name: str, rest: str) -> Command:
    command = SUB_COMMANDS[name]
    argument = command.argument
    if command.takes_words:
        return Command(name, rest)
    if rest and not argument:
        hint = text("A model of that name: %memtrack track {name}", name=name)
        raise UsageError(text("%memtrack {name} takes nothing after it.", name=name), hint)
    if argument and not rest:
        usage = f"%memtrack {name} {argument}"
        raise UsageError(text("Something is missing: {usage}", usage=usage))
    return Command(name, unquote(rest))


def _parse_tracked_by_name(words: list[str]) -> Track:
    if not words or words[0].startswith("--"):
        raise UsageError(text("Something is missing: {usage}", usage="%memtrack track MODEL"))
    return _parse_track(words, this_cell=False)


def _parse_track(words: list[str], *, this_cell: bool) -> Track:
    models: list[str] = []
    values: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            models.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in OPTIONS:
            raise UsageError.unknown_word(text("option"), name, OPTIONS)
        if name in values:
            raise UsageError(text("{option} is given twice.", option=name))
        values[name] = value if equals else next(rest, "")
        if not values[name] or values[name].startswith("--"):
            usage = f"{name} {OPTIONS[name].value}"
            raise UsageError(text("Something is missing: {usage}", usage=usage))
    _assert_one_model(models, this_cell)
    return Track(
        model="".join(models),
        optimizer=values.get("--optimizer", ""),
        steps=_parse_steps(values.get("--steps")),
        label=unquote(values.get("--label", "")),
        this_cell=this_cell,
    )


def _assert_one_model(models: list[str], this_cell: bool) -> None:
    if len(models) > 1:
        names = [name.strip(",") for name in models]
        hint = text("Several models: {usage}", usage=f"[{', '.join(names)}]")
        slip = _slip_of(models[0])
        if f"--{models[1].partition('=')[0]}" in OPTIONS:
            hint = text("Did you mean '{word}'?", word=f"--{models[1]}")
        elif slip and not this_cell:
            hint = text("Did you mean '{word}'?", word=f"%memtrack {slip}")
        raise UsageError(text("'{word}' is one word too many.", word=models[1]), hint)
    if not models and not this_cell:
        hint = text("%memtrack MODEL [--optimizer OPT] [--steps N] names it first.")
        raise UsageError(text("Which model?"), hint)


def _slip_of(word: str) -> str:
    """Return the sub-command that a word is but for a slip, "" for none: `opne`, not `predictor`.

    What other tools call a sub-command stands for it too.
    """
    if word in OTHER_WORDS:
        return OTHER_WORDS[word]
    close = difflib.get_close_matches(word, SUB_COMMANDS, n=1, cutoff=0.7)
    return close[0] if close and abs(len(close[0]) - len(word)) <= 1 else ""


def _parse_steps(value: str | None) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"\d+", value) or int(value) < 1:
        sentence = text("--steps takes a whole number from 1 up, not '{value}'.", value=value)
        raise UsageError(sentence)
    return int(value)


_OPENING = {"(": ")", "[": "]", "{": "}"}


def split_words(line: str) -> list[str]:
    """Split at white space outside brackets and quotes; the words keep their quotes."""
    words: list[str] = []
    begin = -1
    closing: list[str] = []
    quote = ""
    for at, char in enumerate(line):
        if char.isspace() and not closing and not quote:
            if begin >= 0:
                words.append(line[begin:at])
            begin = -1
            continue
        begin = at if begin < 0 else begin
        if quote:
            quote = "" if char == quote and line[at - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in _OPENING:
            closing.append(_OPENING[char])
        elif closing and char == closing[-1]:
            closing.pop()
    if begin >= 0:
        words.append(line[begin:])
    return words


def unquote(word: str) -> str:
    """Return `word` without the pair of quotes around it, if it has one."""
    if len(word) >= 2 and word[0] in "'\"" and word[-1] == word[0]:
        return word[1:-1]
    return word
