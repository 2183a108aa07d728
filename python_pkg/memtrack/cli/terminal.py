"""The terminal that the answer goes to."""

from __future__ import annotations

import json
import shutil
from typing import Any


def columns() -> int:
    """Return how wide the terminal is, within what we lay out for."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, 60), 120)


def print_json(told: Any) -> None:
    """Print plain JSON as every command with `--json` does: indented, in the characters it has."""
    print(json.dumps(told, ensure_ascii=False, indent=2))
