"""What the run would have held with expandable segments, by the simulated allocator."""

from __future__ import annotations

from dataclasses import replace

from memtrack.allocator.replay import recorded_settings, replay
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.errors import MemtrackError

MOST_EVENTS = 60_000
"""A quarter of a second; an explanation is wanted at once."""


def reserved_if_expandable(now: Situation) -> int | None:
    """Return the bytes reserved at the failure with expandable segments, None where it cannot be told.

    That is so where they were on, where the run is too long, or where its start is not known.
    """
    settings = recorded_settings(now.data)
    if now.pools is None or settings.expandable_segments or now.data.cuts > MOST_EVENTS:
        return None
    try:
        run = replay(now.data, now.device, replace(settings, expandable_segments=True))
    except (MemtrackError, ValueError):
        return None
    if not run.complete or 0 <= run.failed < now.cut:
        return None
    return int(run.reserved[now.cut])
