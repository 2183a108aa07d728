"""An error of the driver that PyTorch's allocator had no part in: what else it may have refused."""

from __future__ import annotations

from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.titles import title
from memtrack.i18n import text
from memtrack.units import GIB, format_bytes

ROOM = 2 * GIB
"""More than a context or a library's handle needs."""


def pinned(now: Situation) -> Cause | None:
    """The allocator refused nothing and the device has room: it was memory of the computer.

    Pinned memory is asked of the same driver, and refused in the same words.
    """
    stats = now.facts.stats
    if not stats or stats.get("num_ooms", 0) or now.needed:
        return None
    free = now.facts.free
    if free is not None and free < ROOM:
        return None
    lines = [
        text(
            "PyTorch's allocator has refused nothing on this device (num_ooms is 0): the driver refused"
            " something else, such as pinned memory of the computer"
        )
    ]
    if free is not None:
        lines.append(text("The device has {free} free", free=format_bytes(free)))
    cause = "pinned_or_wsl_host_limit"
    return Cause(cause, 0.5 if free is None else 0.65, title(cause), lines)
