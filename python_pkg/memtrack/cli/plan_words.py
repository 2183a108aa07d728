"""`memtrack plan …`: memory from a few numbers, as text or JSON."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from memtrack.cli.terminal import columns, print_json
from memtrack.i18n import text
from memtrack.planners.request import parse_plan
from memtrack.planners.words import OPTIONS_OF, USAGE
from memtrack.planning import plan_of
from memtrack.reports.plantext import render_plan
from memtrack.sizes import UNITS_HELP


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("what training, generation or loading needs, without code").render(language)
    parser = commands.add_parser(
        "plan",
        help=purpose,
        description=purpose,
        usage="\n       ".join(f"memtrack {usage} [--json]" for usage in USAGE.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_epilog(language),
    )
    parser.add_argument("words", metavar="…", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(options: argparse.Namespace, language: str) -> int:
    """Print the plan."""
    words = [word for word in options.words if word != "--json"]
    plan = plan_of(parse_plan(words, lambda path: path), language)
    if len(words) < len(options.words):
        print_json(plan.to_json())
    else:
        sys.stdout.write(render_plan(plan, language, columns()) + "\n")
    return 0


def _epilog(language: str) -> str:
    """Return every option, kind by kind."""
    lines = []
    for kind, options in OPTIONS_OF.items():
        lines.append(f"memtrack {USAGE[kind].partition(' [')[0]}")
        for option in options.values():
            head = f"  {option.name} {option.value}".rstrip()
            told = option.help.render(language)
            # As argparse does: help on a line of its own where the head leaves it no room.
            lines += [f"{head:<28}{told}"] if len(head) < 27 else [head, f"{'':<28}{told}"]
        lines.append("")
    return "\n".join([*lines, UNITS_HELP.render(language)])
