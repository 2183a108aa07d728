"""`memtrack diff [A [B]]`: what changed from one run to another, or from step to step of one."""

from __future__ import annotations

import argparse
from typing import Any

from memtrack.cli.history_runs import add_folder
from memtrack.cli.onerank import add_rank
from memtrack.cli.terminal import columns, print_json
from memtrack.comparing import BASELINE, LAST, compare, recording_of, refuse_without_ranks
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.reports.comparisonforms import render_comparison
from memtrack.reports.rankdiffs import RankDiffs, render_rank_diffs
from memtrack.reports.steps import render_steps, steps_of


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("say what changed from run A to run B").render(language)
    parser = commands.add_parser("diff", help=purpose, description=purpose)
    run_help = text(
        "a file, a folder of ranks, or a kept run: its number, its name, last or baseline"
    )
    parser.add_argument("a", metavar="A", nargs="?", help=run_help.render(language))
    other = text("the run to compare it with; last by default, and A the baseline")
    parser.add_argument("b", metavar="B", nargs="?", default=LAST, help=other.render(language))
    steps = text("compare the steps of A with each other instead: what grows")
    parser.add_argument("--steps", action="store_true", help=steps.render(language))
    add_rank(parser, language)
    add_folder(parser, language)
    as_json = text("print what changed as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the comparison."""
    refuse_without_ranks(options.rank, options.a, options.b)
    if options.steps:
        return _steps(options, language)
    found = compare(options.a or BASELINE, options.b, folder=options.folder, rank=options.rank)
    if isinstance(found, RankDiffs):
        return _told(found, options, render_rank_diffs(found, language, columns()))
    return _told(found, options, render_comparison(found, language, columns()))


def _steps(options: argparse.Namespace, language: str) -> int:
    if options.b != LAST:
        raise UsageError(text("--steps takes one run, not two."))
    recording = recording_of(options.a or LAST, options.folder, options.rank)
    found = steps_of(recording.data, language)
    return _told(found, options, render_steps(found, language, columns()))


def _told(found: Any, options: argparse.Namespace, words: str) -> int:
    if options.json:
        print_json(found.to_json())
    else:
        print(words)
    return 0
