"""`memtrack gpu`: what is on the GPUs of this computer and whose it is, as text or JSON, once or again and again.

Exit codes: 0 there are devices, 2 there are none, and why.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from memtrack.devices.alldevices import AllDevices
from memtrack.devices.readings import DeviceSource
from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.reports.gpulook import gpus_json, look_at
from memtrack.reports.gpupage import GpusPage
from memtrack.words import in_utf8

FINE, NONE = 0, 2
LEAST_S, MOST_S = 0.1, 86_400.0
_CLEARED = "\x1b[H\x1b[2J"
"""What makes a terminal empty, with the cursor at its top."""


def add_arguments(commands: Any, language: str) -> None:
    """Add the command to the subparsers of `memtrack`, with its help in `language`."""
    purpose = text("what is on the GPUs here, and whose it is").render(language)
    parser = commands.add_parser("gpu", help=purpose, description=purpose)
    watch = text("look again every N seconds until Ctrl-C; with --json a line each time")
    parser.add_argument("--watch", metavar="N", help=watch.render(language))
    as_json = text("print the devices as one JSON object")
    parser.add_argument("--json", action="store_true", help=as_json.render(language))


def run(options: argparse.Namespace, language: str, source: DeviceSource | None = None) -> int:
    """Print what the driver tells now; with --watch until the reader has seen enough."""
    pause_s = None if options.watch is None else _seconds(options.watch)
    looked_at = source or AllDevices()
    try:
        while True:
            page = look_at(looked_at, language)
            print(_shown(page, options.json, pause_s is not None))
            if pause_s is None:
                return FINE if page.look.devices else NONE
            sys.stdout.flush()
            time.sleep(pause_s)
    except KeyboardInterrupt:
        if pause_s is None:
            raise
        return FINE
    finally:
        looked_at.close()


def _shown(page: GpusPage, as_json: bool, again: bool) -> str:
    if as_json:
        # Command lines may be any bytes; a reader of JSON takes UTF-8 alone.
        told = json.dumps(gpus_json(page), ensure_ascii=False, indent=None if again else 2)
        return in_utf8(told)
    before = _CLEARED if again and sys.stdout.isatty() else ""
    return f"{before}{page.text}" + ("\n" if again else "")


def _seconds(words: str) -> float:
    try:
        seconds = float(words)
    except ValueError:
        seconds = -1.0
    if not LEAST_S <= seconds <= MOST_S:
        raise UsageError(
            text(
                "--watch takes seconds from {least} on, not '{value}'.", least=LEAST_S, value=words
            )
        )
    return seconds
