"""`memtrack run [OPTIONS] SCRIPT [ARGUMENTS]`: a program as Python runs it, recorded and explained.

Imports little, so that the program starts at once; nothing of the program's is caught here.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from memtrack.cli.parser import Parser
from memtrack.errors import MemtrackError, UsageError
from memtrack.i18n import Text, text
from memtrack.scripts.program import Module, NoProgram, Program, script_or_folder
from memtrack.scripts.session import Session, state_of_exit
from memtrack.scripts.target import planned_target

FINE, WRONG = 0, 2
_WITH_VALUE = ("--out", "--steps")


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, for its help in `language`."""
    purpose = _PURPOSE.render(language)
    parser = commands.add_parser("run", help=purpose, description=purpose, usage=_USAGE)
    _add_options(parser, language)


def main(arguments: Sequence[str], language: str) -> int:
    """Run a program and return 0; what it raises, also SystemExit, comes out as Python expects it."""
    try:
        own, module, rest = split(arguments)
        options = _parsed(own, language)
        program = _program(module, rest)
        target = planned_target(options.out, program.name, os.environ) if options.record else None
    except MemtrackError as error:
        return _wrong(error, language)
    session = Session(program.name, target, options.steps, language)
    session.start()
    try:
        try:
            program.prepare()
        except NoProgram as error:
            _wrong(error, language)
            return error.code
        program.run()
    except SystemExit as left:
        session.end(state_of_exit(left.code))
        raise
    except BaseException as error:
        is_interrupt = isinstance(error, KeyboardInterrupt)
        session.end_behind_traceback("interrupted" if is_interrupt else "failed")
        raise
    session.end("complete")
    return FINE


def split(arguments: Sequence[str]) -> tuple[list[str], bool, list[str]]:
    """Return our own options, whether a module (`-m`) is to run, and it with its arguments.

    >>> split(["--steps", "3", "train.py", "--steps", "9"])
    (['--steps', '3'], False, ['train.py', '--steps', '9'])
    >>> split(["-m", "package.train", "-h"])
    ([], True, ['package.train', '-h'])
    """
    position = 0
    while position < len(arguments):
        word = arguments[position]
        own = list(arguments[:position])
        if word == "-m":
            return own, True, list(arguments[position + 1 :])
        if word.startswith("-m"):
            return own, True, [word[2:], *arguments[position + 1 :]]
        if word == "--":
            return own, False, list(arguments[position + 1 :])
        if not word.startswith("-"):
            return own, False, list(arguments[position:])
        position += 2 if word in _WITH_VALUE else 1
    return list(arguments), False, []


def _parsed(own: Sequence[str], language: str) -> argparse.Namespace:
    parser = Parser(
        prog="memtrack run",
        description=_PURPOSE.render(language),
        usage=_USAGE,
    )
    _add_options(parser, language)
    options, rest = parser.parse_known_args(own)
    parser.refuse_rest(rest)
    if options.steps is not None and options.steps < 1:
        raise UsageError(
            text("steps must be a whole number from 1, not {given}.", given=options.steps)
        )
    return options


def _add_options(parser: argparse.ArgumentParser, language: str) -> None:
    def told(sentence: Text) -> str:
        return sentence.render(language).replace("%", "%%")

    out = text("where the recording goes; else the script's name with .memtrack, numbered if taken")
    parser.add_argument("--out", metavar="FILE", help=told(out))
    steps = text("record so many training steps, not all")
    parser.add_argument("--steps", metavar="N", type=int, help=told(steps))
    off = text("record nothing, only explain memory errors")
    parser.add_argument("--no-record", dest="record", action="store_false", help=told(off))


def _program(is_module: bool, rest: Sequence[str]) -> Program:
    if not rest or not rest[0]:
        raise UsageError(
            text("memtrack run needs a program: a script, or -m and the name of a module.")
        )
    name, *arguments = rest
    return Module(name, arguments) if is_module else script_or_folder(name, arguments)


def _wrong(error: MemtrackError, language: str) -> int:
    print(error.in_language(language), file=sys.stderr)
    return WRONG


_USAGE = "memtrack run [--out FILE] [--steps N] [--no-record] (SCRIPT | -m MODULE) [ARGUMENT ...]"
_PURPOSE = text("run a program as Python does, record its models and explain memory errors")
