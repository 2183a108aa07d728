"""Where the last request failed that the allocator could not serve, and what the device had free.

A trace tells both in its `oom` entry, which the columns of events have no place for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtrack.readers.bulk import MixedTrace
from memtrack.readers.stacks import FrameReader
from memtrack.readers.trace import whole


def last_failure(
    entries: Sequence[Mapping[str, Any]] | MixedTrace, frames: FrameReader
) -> dict[str, int] | None:
    """Return of the last failed request of a trace its `stack` (-1: no Python code) and `device_free`.

    `device_free` is in bytes, -1 where the trace does not tell. None where no request failed.
    """
    found = entries.others if isinstance(entries, MixedTrace) else entries
    for entry in reversed(found):
        if isinstance(entry, dict) and entry.get("action") == "oom":
            told = whole(entry["device_free"]) if "device_free" in entry else -1
            return {"stack": frames.stack(entry.get("frames")), "device_free": told}
    return None
