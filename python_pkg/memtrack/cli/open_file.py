"""`memtrack open FILE`: the report of a recording as text, or its summary as JSON."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from memtrack.api import Recording
from memtrack.cli.onerank import add_recording, opened
from memtrack.cli.terminal import columns, print_json
from memtrack.errors import UsageError
from memtrack.exports.torch_snapshot import SUFFIX
from memtrack.exports.write import spare_source, told_in_one_line
from memtrack.i18n import text
from memtrack.ranks import open_ranks
from memtrack.reports import Report, render_text
from memtrack.reports.payload import encode_report
from memtrack.reports.ranks import RanksReport
from memtrack.reports.rankspayload import ranks_json
from memtrack.reports.rankstable import render_ranks

_SHARED_KEYS = (
    "schema",
    "identifier",
    "state",
    "evidence",
    "label",
    "started",
    "versions",
    "steps",
    "step_ns",
    "notices",
)
_VIEW_KEYS = ("device", "headline", "details", "peak", "ledger")


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("show the report of a recording").render(language)
    parser = commands.add_parser("open", help=purpose, description=purpose)
    add_recording(parser, language)
    as_json = text("print what the report says as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))
    as_snapshot = text("write a torch snapshot for pytorch.org/memory_viz instead")
    parser.add_argument("--export-snapshot", metavar="OUT", help=as_snapshot.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the report."""
    folder = Path(os.path.expanduser(options.file))
    if options.file and folder.is_dir() and options.rank is None:
        return _show_ranks(open_ranks(folder).ranks_report, options.json, language)
    recording = opened(options.file, options.rank)
    if options.export_snapshot is not None:
        return _export(recording, options.export_snapshot, language)
    report = recording.report()
    if options.json:
        print_json(summary(report))
    else:
        print(render_text(report, width=columns(), language=language))
    return 0


def _show_ranks(report: RanksReport, as_json: bool, language: str) -> int:
    if as_json:
        print_json(ranks_json(report))
    else:
        print(render_ranks(report, language, columns()))
    return 0


def _export(recording: Recording, target: str, language: str) -> int:
    named = Path(target) if Path(target).suffix else Path(f"{target}{SUFFIX}")
    spare_source(recording.source, target, SUFFIX)
    if named.is_file():
        raise UsageError(
            text("There is a file {path} already.", path=named),
            text("{usage} writes over it.", usage="memtrack export FILE OUT.pickle --force"),
        )
    with told_in_one_line(target):
        path = recording.export_snapshot(target)
    print(text("Wrote {path}: open it at pytorch.org/memory_viz.", path=path).render(language))
    return 0


def summary(report: Report) -> dict[str, Any]:
    """Return the report's payload without its columns; a peak's layer by its path, its step from 1."""
    payload, _ = encode_report(report)
    shared = {key: payload[key] for key in _SHARED_KEYS}
    views = [{key: view[key] for key in _VIEW_KEYS} for view in payload["views"]]
    for view in views:
        peak = view["peak"]
        layer = report.layers.path[peak["layer"]] if peak["layer"] >= 0 else None
        view["peak"] = {**peak, "step": peak["step"] + 1, "layer": layer}
    return {**shared, "views": views}
