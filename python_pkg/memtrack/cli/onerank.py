"""FILE and `--rank N`: a recording, or one of those in a folder of several ranks."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from memtrack.api import Recording
from memtrack.api import open as open_recording
from memtrack.comparing import refuse_without_ranks
from memtrack.i18n import text
from memtrack.ranks import open_ranks


def add_recording(parser: argparse.ArgumentParser, language: str) -> None:
    """Add the file that is read, and the option that says which rank is meant."""
    file = text(
        "a .memtrack file, a torch snapshot (.pickle, also .gz and .xz), or a folder of ranks"
    )
    parser.add_argument("file", metavar="FILE", help=file.render(language))
    add_rank(parser, language)


def add_rank(parser: argparse.ArgumentParser, language: str) -> None:
    """Add the option that says which rank is meant."""
    rank = text("of a folder of several ranks this one")
    parser.add_argument("--rank", metavar="N", type=int, help=rank.render(language))


def opened(file: str, rank: int | None) -> Recording:
    """Open a file, or one rank of a folder; without a rank what the folder has: `memtrack.Ranks`."""
    if rank is None:
        return open_recording(file)
    refuse_without_ranks(rank, file)
    return open_ranks(Path(os.path.expanduser(file)))[rank]
