"""Arguments to a command, and its failure to one line on stderr and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress

from memtrack._version import __version__
from memtrack.cli import run_script
from memtrack.cli.parser import Parser
from memtrack.errors import MemtrackError, UsageError
from memtrack.i18n import Text, preferred_language, text

FINE, WRONG, INTERRUPTED = 0, 2, 130
NOTEBOOK_ONLY = ("free", "mark", "off", "save", "status", "track", "who")
"""Magics that people try on the command line too; they ask a running kernel."""

_SEVERAL = {"history": "words", "summary": "moments"}
"""Commands that take any number of words: argparse leaves those over that stand behind an option."""

_Run = Callable[[argparse.Namespace, str], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    language = preferred_language()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["run"]:
        # Nothing of the program's is caught, and nothing is loaded that it does not need.
        return run_script.main(given[1:], language)
    for stream in (sys.stdout, sys.stderr):
        _spell_what_it_can(stream)
    if sys.stdout is None:  # the shell has closed it: only the exit code is wanted
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            return _guarded(given, language)
    return _guarded(given, language)


def _guarded(given: list[str], language: str) -> int:
    """Run a command; every expected failure is one line."""
    try:
        try:
            return _run(given, language)
        finally:
            sys.stdout.flush()
    except MemtrackError as error:
        print(error.in_language(language), file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`: nothing more to say.
        _discard_output()
        return FINE
    except OSError as error:
        print(_problem(error).render(language), file=sys.stderr)
        _discard_output()
        return WRONG


def _spell_what_it_can(stream: object) -> None:
    """Let a terminal that knows few characters show `?` for the others."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Keep what is still in the buffer from failing once more when Python exits."""
    with suppress(OSError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _problem(error: OSError) -> Text:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return text("There is no file {path}.", path=error.filename)
    problem = error.strerror or type(error).__name__
    if error.filename is not None:
        return text("{path} cannot be read ({problem}).", path=error.filename, problem=problem)
    return text("The output cannot be written ({problem}).", problem=problem)


def _run(arguments: list[str], language: str) -> int:
    parser, commands, parsers = _parser(language)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    word = next((one for one in arguments if not one.startswith("-")), None)
    if word in NOTEBOOK_ONLY:
        raise UsageError(
            text("{word} is for a notebook, whose kernel it asks.", word=word),
            text("In a cell: {usage}", usage=f"%memtrack {word}"),
        )
    if word is not None and word not in commands:
        raise UsageError.unknown_word(text("command"), word, commands)
    if not arguments:
        parser.print_help(sys.stderr)
        return WRONG
    options, rest = parser.parse_known_args(arguments)
    if options.command in _SEVERAL and not any(one.startswith("-") for one in rest):
        getattr(options, _SEVERAL[options.command]).extend(rest)
        rest = []
    parsers.get(options.command, parser).refuse_rest(rest)
    if options.command is None:
        parser.print_help(sys.stderr)
        return WRONG
    return commands[options.command](options, language)


def _parser(language: str) -> tuple[Parser, dict[str, _Run], Mapping[str, Parser]]:
    from memtrack.cli import (
        advise_file,
        check_run,
        diff_runs,
        explain_file,
        export_file,
        gpu_look,
        history_runs,
        open_file,
        plan_words,
        predict_build,
        summary_file,
    )

    purpose = text("Shows where the memory of a PyTorch run went: by layer, phase and cause.")
    parser = Parser(prog="memtrack", description=purpose.render(language))
    parser.add_argument("--version", action="version", version=f"memtrack {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    open_file.add_arguments(commands, language)
    summary_file.add_arguments(commands, language)
    explain_file.add_arguments(commands, language)
    export_file.add_arguments(commands, language)
    advise_file.add_arguments(commands, language)
    plan_words.add_arguments(commands, language)
    predict_build.add_arguments(commands, language)
    history_runs.add_arguments(commands, language)
    diff_runs.add_arguments(commands, language)
    check_run.add_arguments(commands, language)
    gpu_look.add_arguments(commands, language)
    run_script.add_arguments(commands, language)
    known: dict[str, _Run] = {
        "open": open_file.run,
        "summary": summary_file.run,
        "explain": explain_file.run,
        "export": export_file.run,
        "advise": advise_file.run,
        "plan": plan_words.run,
        "predict": predict_build.run,
        "history": history_runs.run,
        "diff": diff_runs.run,
        "check": check_run.run,
        "gpu": gpu_look.run,
    }
    known["run"] = lambda _, spoken: run_script.main([], spoken)
    return parser, known, commands.choices
