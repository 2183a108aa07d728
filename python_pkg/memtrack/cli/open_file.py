"""`memtrack open FILE`: the report of a recording as text, or its summary as JSON."""

from __future__ import annotations

import argparse
import json
import shutil
from typing import Any

from memtrack.api import Recording
from memtrack.api import open as open_recording
from memtrack.errors import UnavailableError
from memtrack.i18n import text
from memtrack.reports import Report, render_text
from memtrack.reports.payload import encode_report

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
    parser.add_argument(
        "file",
        metavar="FILE",
        help=text("a .memtrack file or a torch snapshot (.pickle, also .gz and .xz)").render(
            language
        ),
    )
    as_json = text("print what the report says as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))
    as_snapshot = text("write a torch snapshot for pytorch.org/memory_viz instead")
    parser.add_argument("--export-snapshot", metavar="OUT", help=as_snapshot.render(language))


def run(options: argparse.Namespace, language: str) -> int:
    """Print the report."""
    recording = open_recording(options.file)
    if options.export_snapshot is not None:
        return _export(recording, options.export_snapshot, language)
    report = recording.report()
    if options.json:
        print(json.dumps(summary(report), ensure_ascii=False, indent=2))
    else:
        print(render_text(report, width=_columns(), language=language))
    return 0


def _export(recording: Recording, target: str, language: str) -> int:
    try:
        path = recording.export_snapshot(target)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        sentence = text("{path} cannot be written ({problem}).", path=target, problem=problem)
        raise UnavailableError(sentence) from error
    print(text("Wrote {path}: open it at pytorch.org/memory_viz.", path=path).render(language))
    return 0


def summary(report: Report) -> dict[str, Any]:
    """Return the report's payload without its columns; a peak's layer is given by its path."""
    payload, _ = encode_report(report)
    shared = {key: payload[key] for key in _SHARED_KEYS}
    views = [{key: view[key] for key in _VIEW_KEYS} for view in payload["views"]]
    for view in views:
        row = view["peak"]["layer"]
        view["peak"] = {**view["peak"], "layer": report.layers.path[row] if row >= 0 else None}
    return {**shared, "views": views}


def _columns() -> int:
    return min(max(shutil.get_terminal_size((80, 24)).columns, 60), 120)
