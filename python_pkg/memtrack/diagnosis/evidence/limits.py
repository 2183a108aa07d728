"""Rules on who else has the memory: a limit of this process, other processes, other libraries."""

from __future__ import annotations

from memtrack.analysis.reserved import DEFAULT_POOL
from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text, text
from memtrack.units import GIB, MIB, format_bytes, format_percent

CLEARLY = 64 * MIB
"""What a device may keep back although it counts as free."""
MOST_PROCESSES = 3
LEAST_OUTSIDE = 2 * GIB
"""A context and its libraries take up to about one."""


def limit(now: Situation) -> Cause | None:
    """The device had room; what refused is `set_per_process_memory_fraction`."""
    cause = "per_process_fraction_limit"
    free, needed = now.device_free, now.needed
    if free is None or not needed or free < needed:
        return None
    allowed = now.limit
    if allowed is None:
        if free < needed + CLEARLY or (now.total is not None and needed > now.total):
            return None
        line = text(
            "The device had {free} free and yet refused {needed}: this process may not have more",
            free=format_bytes(free),
            needed=format_bytes(needed),
        )
        return Cause(cause, 0.5, title(cause), (line,))
    held = now.reserved or 0
    if held + needed <= allowed:
        return None
    lines = (
        text(
            "This process may hold {limit} (set_per_process_memory_fraction); the device has"
            " {free} free",
            limit=format_bytes(allowed),
            free=format_bytes(free),
        ),
        text(
            "{held} held and {needed} asked for are {over} more than that",
            held=format_bytes(held),
            needed=format_bytes(needed),
            over=format_bytes(held + needed - allowed),
        ),
    )
    return Cause(cause, _of_limit(now, allowed), title(cause), lines)


def _of_limit(now: Situation, allowed: int) -> float:
    """Return how sure it is: a request above the limit, a limit half used, or one filled by tensors."""
    if now.needed > allowed:
        return 0.95
    return 0.7 if now.allocated < allowed // 2 else 0.5


def others(now: Situation) -> Cause | None:
    """Without other processes the request would have been served."""
    held, free, total = now.others, now.device_free, now.total
    if not held or free is None or not now.needed or free >= now.needed:
        return None
    if free + held < now.needed or (total and held < total // 20):
        return None
    share = held / total if total else 0.0
    confidence = 0.95 if share >= 0.5 else 0.8 if share >= 0.25 else 0.5
    left = now.facts.processes and all(
        one.leftover for one in now.facts.processes if 2 * one.bytes >= held
    )
    cause = "zombie_or_leftover_process" if left else "other_process_or_framework"
    return Cause(cause, confidence, title(cause), _lines_of_others(now, held))


def _lines_of_others(now: Situation, held: int) -> list[Text]:
    total = now.total
    lines = [
        text(
            "Other processes hold {held} of this device ({percent} of {total})",
            held=format_bytes(held),
            percent=format_percent(held, total),
            total=format_bytes(total),
        )
        if total
        else text("Other processes hold {held} of this device", held=format_bytes(held))
    ]
    largest = sorted(now.facts.processes, key=lambda one: -one.bytes)[:MOST_PROCESSES]
    for one in largest:
        if one.bytes > 0:
            size = format_bytes(one.bytes)
            lines.append(
                text(
                    "Process {pid} ({command}): {bytes}",
                    pid=one.pid,
                    command=one.command,
                    bytes=size,
                )
                if one.command
                else text("Process {pid}: {bytes}", pid=one.pid, bytes=size)
            )
    lines.append(
        text(
            "PyTorch's allocator in this process held {held}; {needed} more would have fitted"
            " without the others",
            held=format_bytes(now.reserved or 0),
            needed=format_bytes(now.needed),
        )
    )
    return lines


def unaccounted(now: Situation) -> Cause | None:
    """Much of the device is neither the allocator's nor free, and the driver does not say whose it is."""
    total, free = now.total, now.device_free
    if total is None or free is None or now.facts.process is not None or now.others:
        return None
    rest = total - free - max(now.reserved or 0, now.allocated)
    if not now.needed or free >= now.needed or free + rest < now.needed or rest < total // 4:
        return None
    cause = "other_process_or_framework"
    line = text(
        "{rest} ({percent}) of the device is neither free nor PyTorch's: other processes have it, or"
        " this one outside PyTorch's allocator",
        rest=format_bytes(rest),
        percent=format_percent(rest, total),
    )
    return Cause(cause, 0.55 if rest >= total // 2 else 0.4, title(cause), (line,))


def outside(now: Situation) -> Cause | None:
    """Much of what this process holds is unknown to its allocator."""
    beside, total = now.beside, now.total
    if beside is None or beside < max(LEAST_OUTSIDE, (total or 0) // 10):
        return None
    if now.device_free is None or now.device_free + beside < now.needed:
        return None
    line = text(
        "This process holds {beside} on the device outside PyTorch's allocator ({reserved}): context,"
        " NCCL, CUDA graphs or another framework",
        beside=format_bytes(beside),
        reserved=format_bytes(now.reserved or 0),
    )
    confidence = 0.75 if total and beside >= total // 4 else 0.5
    return Cause("memory_outside_allocator", confidence, title("memory_outside_allocator"), (line,))


def private_pools(now: Situation) -> Cause | None:
    """Pools of CUDA graphs hold free memory that nothing else may use."""
    if now.pools is None or not now.needed:
        return None
    private = [pool for pool in now.pools.pools if pool.pool != DEFAULT_POOL]
    held, free = sum(pool.reserved for pool in private), now.pools.private
    if not held or max(held, free) < now.pools.reserved // 10 or held < now.needed:
        return None
    lines = (
        text(
            "Private pools, as CUDA graphs have them, hold {held} of the {reserved} reserved",
            held=format_bytes(held),
            reserved=format_bytes(now.pools.reserved),
        ),
        text(
            "{free} of that is free and cannot serve anything outside its pool",
            free=format_bytes(free),
        ),
    )
    likely = free >= now.needed or 2 * held >= now.pools.reserved
    cause = "cuda_graph_memory"
    return Cause(cause, 0.7 if likely else 0.4, title(cause), lines)
