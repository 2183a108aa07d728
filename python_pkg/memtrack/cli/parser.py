"""Arguments as argparse reads them, its refusals in our words: one line, in the reader's language."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn

from memtrack.errors import UsageError
from memtrack.i18n import Text, preferred_language, text

_REQUIRED = re.compile(r"the following arguments are required: (?P<names>.*)")
_NO_VALUE = re.compile(r"argument (?P<name>\S+): expected (?:one|at least one) argument")
_NO_NUMBER = re.compile(r"argument (?P<name>\S+): invalid int value: '(?P<value>.*)'", re.DOTALL)
_NO_CHOICE = re.compile(
    r"argument (?P<name>\S+): invalid choice: '(?P<value>.*)' \(choose from (?P<known>.*)\)",
    re.DOTALL,
)


class Parser(argparse.ArgumentParser):
    """Raises our own error, so that every wrong use ends as one line; no option is abbreviated."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **options})
        language = preferred_language()
        self._positionals.title = text("arguments").render(language)
        self._optionals.title = text("options").render(language)
        for action in self._actions:
            if action.dest == "help":
                action.help = text("show this help").render(language)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong."""
        raise UsageError(_in_our_words(message) or f"{self.prog}: {message}.")

    def refuse_rest(self, rest: list[str]) -> None:
        """Raise UsageError for words that nothing takes."""
        if not rest:
            return
        word = next((one for one in rest if one.startswith("-") and one != "-"), None)
        if word is None:
            raise UsageError(text("'{word}' is one word too many.", word=rest[0]))
        name = word.partition("=")[0]
        known = [one for one in self._option_string_actions if one.startswith("--")]
        raise UsageError.unknown_word(text("option"), name, known)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write without swallowing a failure, as argparse does."""
        if message and file is not None:
            file.write(message)


def _in_our_words(message: str) -> Text | None:
    """Return what a message of argparse says; None where we have no words for it."""
    if found := _REQUIRED.fullmatch(message):
        return text("Something is missing: {usage}", usage=found["names"])
    if found := _NO_VALUE.fullmatch(message):
        return text("{option} needs a value after it.", option=found["name"])
    if found := _NO_NUMBER.fullmatch(message):
        return text(
            "{option} takes a whole number, not '{value}'.",
            option=found["name"],
            value=found["value"],
        )
    if found := _NO_CHOICE.fullmatch(message):
        return text(
            "{option} is one of {known}, not '{value}'.",
            option=found["name"],
            known=found["known"].replace("'", ""),
            value=found["value"],
        )
    return None
