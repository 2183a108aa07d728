"""`memtrack export FILE OUT`: a recording in the format of another tool."""

from __future__ import annotations

import argparse
from typing import Any

from memtrack.cli.onerank import add_recording, opened
from memtrack.exports.tables import TABLE_NAMES
from memtrack.i18n import text


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("write a recording as HTML, CSV, Parquet, JSON or a torch snapshot")
    told = purpose.render(language)
    parser = commands.add_parser("export", help=told, description=told)
    add_recording(parser, language)
    out = text(
        "the file to write: its ending (.html, .csv, .parquet, .json, .pickle) is the format"
    )
    parser.add_argument("out", metavar="OUT", help=out.render(language))
    table = text("the table to write: {names}", names=", ".join(TABLE_NAMES))
    parser.add_argument("--table", metavar="NAME", default="", help=table.render(language))
    force = text("write over a file that is there")
    parser.add_argument("--force", action="store_true", help=force.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Write the file, of a folder of ranks one each, and say where it is."""
    recording: Any = opened(options.file, options.rank)
    written = recording.export(options.out, table=options.table, force=options.force)
    for path in written if isinstance(written, list) else [written]:
        print(text("Wrote {path}.", path=path).render(language))
    return 0
