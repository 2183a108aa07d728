"""Whether the run would have fitted with expandable segments, by the simulated allocator."""

from __future__ import annotations

from dataclasses import replace

from memtrack.allocator.replay import recorded_settings, replay
from memtrack.diagnosis.evidence.situation import Expandable, Situation
from memtrack.errors import MemtrackError

MOST_EVENTS = 60_000
"""A quarter of a second; an explanation is wanted at once."""


def with_whatif(now: Situation) -> Situation:
    """Return the situation with what expandable segments would have changed in it."""
    return replace(now, expandable=if_expandable(now)) if now.is_fragmented else now


def if_expandable(now: Situation) -> Expandable | None:
    """Return what expandable segments would have changed, None where it cannot be told.

    That is so where they were on, where the run is too long, or where its start is not known.
    """
    settings = recorded_settings(now.data)
    if now.pools is None or settings.expandable_segments or now.data.cuts > MOST_EVENTS:
        return None
    size, most = now.requested, _room(now)
    told = size is not None and most is not None and now.cut >= now.data.cuts - 1
    try:
        run = replay(
            now.data,
            now.device,
            replace(settings, expandable_segments=True),
            capacity=most if told else None,
            then=size if told else None,
        )
    except (MemtrackError, ValueError):
        return None
    if not run.complete:
        return None
    if 0 <= run.failed < now.cut:  # for want of room: an earlier request
        return Expandable(now.reserved or 0, fits=False)
    return Expandable(int(run.reserved[now.cut]), run.failed < 0 if told else None)


def _room(now: Situation) -> int | None:
    """Return the bytes that the allocator could have held: its limit, or what the device had free."""
    if now.limit is not None:
        return now.limit
    if now.reserved is None or now.device_free is None:
        return None
    return now.reserved + now.device_free
