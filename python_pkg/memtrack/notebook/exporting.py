"""The words after `%memtrack export`."""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.notebook.grammar import split_words, unquote

EXPORT_OPTIONS = ("--table", "--force")
_USAGE = "%memtrack export FILE [--table NAME] [--force]"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file, the one table that goes into it ("" for the usual) and whether one there may go."""

    path: str
    table: str = ""
    force: bool = False


def parse_export(line: str) -> Wanted:
    """Return what is wanted; UsageError in one sentence.

    >>> parse_export("run.csv --table events")
    Wanted(path='run.csv', table='events', force=False)
    """
    paths: list[str] = []
    table, force = "", False
    words = iter(split_words(line))
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--force":
            force = True
        elif name == "--table":
            table = unquote(value if equals else next(words, ""))
            if not table:
                raise UsageError(text("Something is missing: {usage}", usage=_USAGE))
        elif word.startswith("-"):
            raise UsageError.unknown_word(text("option"), name, EXPORT_OPTIONS)
        else:
            paths.append(unquote(word))
    if not paths:
        raise UsageError(text("Something is missing: {usage}", usage=_USAGE))
    if len(paths) > 1:
        hint = text("In quotes: {usage}", usage=f'%memtrack export "{" ".join(paths)}"')
        raise UsageError(text("'{word}' is one word too many.", word=paths[1]), hint)
    return Wanted(paths[0], table, force)
