"""`memtrack check RECORDING`: whether a run needs more memory than it may. For continuous integration.

Exit codes: 0 fine, 1 grown, 2 it cannot be judged.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from memtrack.cli.history_runs import add_folder
from memtrack.cli.onerank import add_rank
from memtrack.cli.terminal import columns
from memtrack.comparing import BASELINE, Side, before_of, refuse_without_ranks, side_of
from memtrack.i18n import text
from memtrack.reports.check import DEFAULT_INCREASE, checked, parse_increase, render_check
from memtrack.sizes import UNITS_HELP, parse_size

FINE, GROWN = 0, 1


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("check that a run needs no more memory than it may").render(language)
    codes = text("Exit codes: 0 fine, 1 grown, 2 it cannot be judged.").render(language)
    codes = f"{codes} {UNITS_HELP.render(language)}"
    parser = commands.add_parser("check", help=purpose, description=purpose, epilog=codes)
    run_help = text("a file, or a kept run: its number, its name, last or baseline")
    parser.add_argument("recording", metavar="RECORDING", help=run_help.render(language))
    before = text("the run it is checked against, likewise; that of its label by default")
    parser.add_argument("--baseline", metavar="NAME|FILE", help=before.render(language))
    more = text("how much the peak may grow, such as 5% or 200MiB; 5% by default")
    help_more = more.render(language).replace("%", "%%")
    parser.add_argument("--max-increase", metavar="SHARE|SIZE", help=help_more)
    most = text("how high the peak may be, such as 20GiB; alone, no baseline is needed")
    parser.add_argument("--max-peak", metavar="SIZE", help=most.render(language))
    add_rank(parser, language)
    add_folder(parser, language)
    as_json = text("print the verdict as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the verdict and return it as an exit code."""
    increase = parse_increase(options.max_increase or DEFAULT_INCREASE)
    most = None if options.max_peak is None else parse_size(options.max_peak)
    refuse_without_ranks(options.rank, options.recording, options.baseline)
    after = side_of(options.recording, options.folder, options.rank)
    before = _before(options, after)
    view = None if before is None else before.view
    verdict = checked(after.view, view, increase, most, _called(before))
    if options.json:
        print(json.dumps(verdict.to_json(), ensure_ascii=False, indent=2))
    else:
        print(render_check(verdict, language, columns()))
    return FINE if verdict.ok else GROWN


def _before(options: argparse.Namespace, after: Side) -> Side | None:
    """Return the baseline; none where a limit alone was asked for."""
    if options.max_peak and not options.baseline and not options.max_increase:
        return None
    return before_of(options.baseline or BASELINE, after, options.folder, options.rank)


def _called(before: Side | None) -> str:
    if before is None:
        return ""
    return before.name or (f"#{before.run}" if before.run else before.view.label)
