"""Arguments to a command, and its failure to one line on stderr and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from memtrack._version import __version__
from memtrack.cli import open_file
from memtrack.errors import MemtrackError, UsageError
from memtrack.i18n import preferred_language, text

FINE, WRONG = 0, 2

LATER = ("explain", "predict", "history", "diff", "check")
"""Commands that are known but not there yet: each leaves this line when it comes."""

_Run = Callable[[argparse.Namespace, str], int]


class _Parser(argparse.ArgumentParser):
    """Raises our own error, so that every wrong use ends as one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    language = preferred_language()
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments), language)
    except MemtrackError as error:
        print(error.in_language(language), file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`: nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def _run(arguments: list[str], language: str) -> int:
    parser, commands = _parser()
    word = next((one for one in arguments if not one.startswith("-")), None)
    if word in LATER:
        command = f"memtrack {word}"
        raise UsageError(text("{command} is not available in this version yet.", command=command))
    if word is not None and word not in commands:
        raise UsageError.unknown_word(text("command"), word, commands)
    if not arguments:
        parser.print_help(sys.stderr)
        return WRONG
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return WRONG
    return commands[options.command](options, language)


def _parser() -> tuple[argparse.ArgumentParser, dict[str, _Run]]:
    parser = _Parser(
        prog="memtrack",
        description="Shows where the memory of a PyTorch run went: by layer, phase and cause.",
    )
    parser.add_argument("--version", action="version", version=f"memtrack {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    open_file.add_arguments(commands)
    return parser, {"open": open_file.run}
