"""Capacity: what is in use is needed, and with the request it is more than there is."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.creep import LEAST_STEPS
from memtrack.analysis.totals import alive
from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.peaklines import grew, made_of, phase_lines
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text, text
from memtrack.recording import Category
from memtrack.units import GIB, format_bytes, format_percent

FULL = 0.75
"""Of the room in use by tensors: beyond it, the room itself is the matter."""
NEARLY = 0.9
LITTLE = 0.2
"""Of a device in use by tensors: below it, with the rest not this process's, it is not the matter."""
USUAL_BESIDE = GIB
"""Bytes: a context and the libraries in it."""
UNSEEN = 0.55
"""How sure it can be where a leak is not excluded."""
MUCH = 0.3
"""Of what is in use: with so much older than the recording, what was left behind may be in it."""
TOO_MANY_TIMES = 4
"""The room: a request of more is no question of how much work there is."""


def room(now: Situation) -> int | None:
    """Return what the allocator could have held at most: a limit, or the device less all else."""
    if now.limit is not None:
        return now.limit
    if now.total is not None:
        known = [size for size in (now.beside, now.others) if size is not None]
        return max(now.total - sum(known), 0)
    return None


def capacity(now: Situation) -> Cause | None:
    """Tensors in use and the request together are more than the room."""
    if not now.needed:
        return None
    most = room(now)
    confidence = _how_sure(now, most)
    if confidence is None:
        return None
    confidence = min(confidence, 1 - _share_of_others(now), _most_of_little(now))
    lines = [*_sums(now, most), *_no_gaps(now), *phase_lines(now), *made_of(now), *grew(now)]
    if _past_is_unknown(now) and now.allocated:
        confidence = min(confidence, UNSEEN)
        lines.append(
            text("Whether some of it was kept from earlier steps is not known: there is no history")
        )
    return Cause("capacity", confidence, title("capacity"), lines)


def _share_of_others(now: Situation) -> float:
    """Return the share of the device that others, or what lies beside the allocator, should not have.

    0.0 where the request would not have been served without them.
    """
    if now.total is None or now.limit is not None:
        return 0.0
    taken = (now.others or 0) + max((now.beside or 0) - USUAL_BESIDE, 0)
    return min(taken / now.total, 1.0) if taken >= now.needed else 0.0


def _most_of_little(now: Situation) -> float:
    """Return how sure it can be where tensors have little of a device that is full of what is not ours."""
    if now.total is None or now.device_free is None or now.limit is not None:
        return 1.0
    free = now.device_free
    rest = now.total - free - max(now.facts.process or 0, now.reserved or 0, now.allocated)
    fits = free < now.needed <= free + rest
    is_little = now.allocated < LITTLE * now.total and 2 * rest >= now.total
    return now.allocated / now.total if is_little and fits else 1.0


def _past_is_unknown(now: Situation) -> bool:
    """Tell whether much of what is in use may have been left by steps that nobody saw."""
    if now.passes.count > LEAST_STEPS:
        return False
    table = now.data.allocations
    rows = alive(now.data, now.device, now.cut)
    unnamed = np.isin(table["category"][rows], (Category.UNKNOWN, Category.OTHER))
    older = int(table["bytes"][rows[(table["start"][rows] < 0) & unnamed]].sum())
    return not len(table) or older > MUCH * now.allocated


def _how_sure(now: Situation, most: int | None) -> float | None:
    short = now.served is not None and now.served.free < now.served.rounded
    if most is None:
        return _without_room(now, short)
    if now.needed > most:
        return 0.1 if now.needed > TOO_MANY_TIMES * most else 0.3
    if now.allocated + now.needed <= most and not short:
        # Perfectly ordered, it would have been the last request or nearly so.
        nearly = now.allocated >= NEARLY * most
        return 0.5 if nearly else 0.2 if now.allocated else None
    if now.allocated >= FULL * most:
        return 0.9 if short else 0.8
    return 0.65 if now.allocated >= most // 2 else 0.4


def _without_room(now: Situation, short: bool) -> float | None:
    """Return how sure it is where neither the device nor a limit is known, as in a snapshot by itself.

    With room on the device it was a limit that refused, and what is held is about all of it.
    Without, others may have the rest of the device.
    """
    if not now.allocated:
        return None
    limited = now.device_free is not None and now.device_free >= now.needed
    full = now.allocated >= FULL * ((now.reserved or now.allocated) + now.needed)
    return 0.7 if short and limited and full else 0.5 if short else 0.4


def _sums(now: Situation, most: int | None) -> list[Text]:
    if most is not None and now.needed > most:
        asked, size = format_bytes(now.needed), format_bytes(most)
        return [
            text("{asked} in one piece is more than the {room} there is", asked=asked, room=size)
        ]
    if most is None:
        return [
            text(
                "{used} was in use by tensors when {asked} more was asked for",
                used=format_bytes(now.allocated),
                asked=format_bytes(now.needed),
            )
        ]
    return [
        text(
            "{used} ({percent}) of the {room} that this process can have was in use by tensors when"
            " {asked} more was asked for",
            used=format_bytes(now.allocated),
            percent=format_percent(now.allocated, most),
            room=format_bytes(most),
            asked=format_bytes(now.needed),
        )
    ]


def _no_gaps(now: Situation) -> list[Text]:
    served = now.served
    if served is None or served.fits or served.is_fragmented:
        return []
    if not served.free:
        return [text("Not fragmentation: no block that could serve it is free")]
    return [
        text(
            "Not fragmentation: all free blocks that could serve it are {free} together",
            free=format_bytes(served.free),
        )
    ]
