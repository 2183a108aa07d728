"""`memtrack advise FILE`: what would help in a recorded run, as text or JSON."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from memtrack.advising import advise
from memtrack.cli.onerank import add_recording, opened
from memtrack.cli.terminal import columns, print_json
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.reports.advicetext import render_advice
from memtrack.sizes import UNITS_HELP, parse_size


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("what would help in a recorded run, and how much").render(language)
    units = UNITS_HELP.render(language)
    parser = commands.add_parser("advise", help=purpose, description=purpose, epilog=units)
    add_recording(parser, language)
    budget = text("the memory to fit into, such as 24GiB")
    parser.add_argument("--budget", metavar="SIZE", help=budget.render(language))
    gpus = text("the number of GPUs that sharding is weighed for (default: 8)")
    parser.add_argument("--gpus", metavar="N", default="8", help=gpus.render(language))
    as_json = text("print the advice as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the advice."""
    if not options.gpus.isascii() or not options.gpus.isdigit():
        raise UsageError(text("--gpus takes a whole number, not '{value}'.", value=options.gpus))
    budget = None if options.budget is None else parse_size(options.budget)
    recording = opened(options.file, options.rank)
    found = advise(recording, budget, gpus=int(options.gpus))
    if options.json:
        print_json(found.to_json(language))
    else:
        sys.stdout.write(render_advice(found.advised, language, columns()) + "\n")
    return 0
