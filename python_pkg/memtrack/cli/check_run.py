"""`memtrack check RECORDING`: whether a run needs more memory than it may. For continuous integration.

Exit codes: 0 fine, 1 grown, 2 it cannot be judged.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from memtrack.cli.history_runs import add_folder
from memtrack.cli.onerank import add_rank
from memtrack.cli.terminal import columns, print_json
from memtrack.comparing import (
    BASELINE,
    Side,
    before_of,
    ranks_of,
    refuse_without_ranks,
    side_of,
)
from memtrack.errors import UnavailableError
from memtrack.i18n import text
from memtrack.reports.check import (
    DEFAULT_INCREASE,
    Check,
    Increase,
    checked,
    parse_increase,
    render_check,
)
from memtrack.reports.rankchecks import RankChecks, render_rank_checks
from memtrack.sizes import UNITS_HELP, parse_size

FINE, GROWN = 0, 1


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("check that a run needs no more memory than it may").render(language)
    codes = text("Exit codes: 0 fine, 1 grown, 2 it cannot be judged.").render(language)
    codes = f"{codes} {UNITS_HELP.render(language)}"
    parser = commands.add_parser("check", help=purpose, description=purpose, epilog=codes)
    run_help = text(
        "a file, a folder of ranks, or a kept run: its number, its name, last or baseline"
    )
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
    bounds = _Bounds(
        parse_increase(options.max_increase or DEFAULT_INCREASE),
        None if options.max_peak is None else parse_size(options.max_peak),
    )
    refuse_without_ranks(options.rank, options.recording, options.baseline)
    ranks = ranks_of(options.recording) if options.rank is None else None
    if ranks is not None:
        verdicts = _each(ranks, options, bounds)
        return _told(verdicts, options, render_rank_checks(verdicts, language, columns()))
    after = side_of(options.recording, options.folder, options.rank)
    verdict = bounds.verdict(after, _before(options.baseline, after, options))
    return _told(verdict, options, render_check(verdict, language, columns()))


def _each(ranks: Any, options: argparse.Namespace, bounds: _Bounds) -> RankChecks:
    """Judge every rank by the same one of a baseline that is a folder, else all by the same run."""
    there = set(ranks)
    missing = [str(rank) for rank in range(ranks.world_size) if rank not in there]
    if missing:
        raise UnavailableError(
            text(
                "The run cannot be judged: ranks without a recording: {ranks}.",
                ranks=", ".join(missing),
            ),
            text("One of the others is judged with --rank N."),
        )
    known = ranks_of(options.baseline) if options.baseline else None
    found = []
    for rank in ranks:
        after = side_of(ranks[rank], options.folder)
        baseline = options.baseline if known is None else known[rank]
        found.append((rank, bounds.verdict(after, _before(baseline, after, options))))
    return RankChecks(found)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What was asked for: how much a peak may grow, and the most bytes it may have."""

    increase: Increase
    most: int | None

    def verdict(self, after: Side, before: Side | None) -> Check:
        view = None if before is None else before.view
        return checked(after.view, view, self.increase, self.most, _called(before))


def _before(baseline: Any, after: Side, options: argparse.Namespace) -> Side | None:
    """Return the baseline; none where a limit alone was asked for."""
    if options.max_peak and not options.baseline and not options.max_increase:
        return None
    return before_of(baseline or BASELINE, after, options.folder, options.rank)


def _told(found: Check | RankChecks, options: argparse.Namespace, words: str) -> int:
    if options.json:
        print_json(found.to_json())
    else:
        print(words)
    return FINE if found.ok else GROWN


def _called(before: Side | None) -> str:
    if before is None:
        return ""
    return before.name or (f"#{before.run}" if before.run else before.view.label)
