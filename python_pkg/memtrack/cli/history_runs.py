"""`memtrack history [FILTER …]`: the runs that were kept, as text or JSON."""

from __future__ import annotations

import argparse
from typing import Any

from memtrack.cli.terminal import columns, print_json
from memtrack.comparing import history
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.reports.historyforms import render_history


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("list the runs that were kept, the newest first").render(language)
    parser = commands.add_parser("history", help=purpose, description=purpose)
    words = text("only runs with all of these words in name, label, notebook, note, commit or tags")
    parser.add_argument("words", metavar="FILTER", nargs="*", help=words.render(language))
    deleted = text("those that were deleted in the last 30 days")
    parser.add_argument("--deleted", action="store_true", help=deleted.render(language))
    most = text("how many are listed; 30 by default")
    parser.add_argument("--limit", metavar="N", type=int, default=30, help=most.render(language))
    add_folder(parser, language)
    as_json = text("print them as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def add_folder(parser: argparse.ArgumentParser, language: str) -> None:
    """Add the option that says where the history is."""
    where = text("the history's folder; by default MEMTRACK_HISTORY, or .memtrack here")
    parser.add_argument("--folder", metavar="FOLDER", help=where.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the runs."""
    if options.limit < 1:
        raise UsageError(
            text("--limit takes a whole number from 1 up, not '{value}'.", value=options.limit)
        )
    search = " ".join(options.words)
    found = history(search, deleted=options.deleted, folder=options.folder)
    if options.json:
        told = found.to_json()
        told["runs"] = told["runs"][: options.limit]
        print_json(told)
    else:
        print(render_history(found, language, columns(), options.limit))
    return 0
