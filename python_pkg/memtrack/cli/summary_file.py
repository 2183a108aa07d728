"""`memtrack summary FILE [MOMENT [MOMENT]]`: what `torch.cuda.memory_summary` said at a moment."""

from __future__ import annotations

import argparse
from typing import Any

from memtrack.cli.onerank import add_recording, opened
from memtrack.i18n import text
from memtrack.reports.summary import summarise


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("the allocator's statistics at a moment, or at two").render(language)
    parser = commands.add_parser("summary", help=purpose, description=purpose)
    add_recording(parser, language)
    moments = text(
        "start, end, peak, step N, step N forward (or backward, optimizer), or the label of a mark;"
        " none: the last there is"
    )
    parser.add_argument(
        "moments", metavar="MOMENT", nargs="*", default=[], help=moments.render(language)
    )


def run(options: argparse.Namespace, language: str) -> int:
    """Print the table."""
    print(summarise(opened(options.file, options.rank).data, options.moments, language).text)
    return 0
