"""A device refused memory, and the message has figures: what they make likely.

A text cannot tell a real peak from a leak: both end with a full device. So what only the amount of
allocated memory speaks for stays a possibility, and the hint that PyTorch prints is never counted.
"""

from __future__ import annotations

from memtrack.diagnosis.reading import Failure
from memtrack.diagnosis.textcauses.figures import CONTEXT, Figures
from memtrack.diagnosis.textcauses.scores import Scores
from memtrack.diagnosis.textcauses.sizes import weigh_size
from memtrack.i18n import text
from memtrack.units import GIB, MIB, format_bytes, format_percent

_OTHER_FORMS = 2 * MIB
"""Requests up to it are served from segments of 2 MiB: idle memory of large ones cannot serve them."""
MANY_RANKS = 3
"""So many contexts alone are ranks; one or two may be anything that has a window or a notebook."""
LITTLE = 0.2
"""Of a device in tensors: below it, with the rest not this process's, its peak is not the matter."""


def weigh_device(failure: Failure, scores: Scores) -> None:
    """Weigh what the figures of a device's message say."""
    said = Figures(failure)
    limited = _limit(said, scores)
    weigh_size(failure, said, scores)
    if not limited:
        _others(said, scores)
        _unaccounted(said, scores)
        _free_and_refused(failure, said, scores)
    _nothing_told(said, scores)
    _idle(said, scores)
    _beside(said, scores)
    _full(said, scores, limited=limited)


def weigh_told(failure: Failure, scores: Scores) -> None:
    """Weigh figures that a story tells: what the device has in use against what PyTorch has."""
    used = failure.numbers.get("device_used")
    own = failure.numbers.get("reserved", failure.numbers.get("allocated"))
    if used is None or own is None or used - own < max(2 * GIB, used // 2):
        return
    line = text(
        "{used} of the device is in use, and PyTorch has {own} of it.",
        used=format_bytes(used),
        own=format_bytes(own),
    )
    scores.add("memory_outside_allocator", 0.45, line)
    scores.add("other_process_or_framework", 0.4, line)
    scores.add("cuda_graph_memory", 0.25)


def limit_by_share(failure: Failure, scores: Scores) -> None:
    """Lower the real peak where tensors have little of a device that is full of what is not ours."""
    said = Figures(failure)
    if None in (said.total, said.free, said.allocated, said.requested) or said.allowed is not None:
        return
    total, free, allocated = said.total or 0, said.free or 0, said.allocated or 0
    known = [size for size in (said.process, said.reserved) if size is not None]
    rest = total - free - max([allocated, *known])
    fits = free < (said.requested or 0) <= free + rest
    if total and allocated < LITTLE * total and rest >= total // 2 and fits:
        scores.limit("capacity", allocated / total)


def _limit(said: Figures, scores: Scores) -> bool:
    """Tell whether a limit of this process refused."""
    if said.allowed is None:
        return False
    reserved = said.reserved or 0
    request = said.requested or 0
    fits = said.free is None or said.free >= request
    if said.total is not None and said.allowed >= said.total * 0.995:
        return False
    if not said.is_limited:
        scores.add("per_process_fraction_limit", 0.4)
        return False
    line = text(
        "This process may have {allowed}; it holds {reserved} and asked for {requested} more.",
        allowed=format_bytes(said.allowed),
        reserved=format_bytes(reserved),
        requested=format_bytes(request),
    )
    free = (
        text("The device itself has {free} free.", free=format_bytes(said.free))
        if said.free is not None and fits
        else None
    )
    scores.add("per_process_fraction_limit", 0.9 if fits else 0.6, line, free)
    return True


def _others(said: Figures, scores: Scores) -> None:
    if not said.others or said.requested is None or said.free is None:
        return
    held, total = said.others_bytes, said.total or 0
    enough = held + said.free >= said.requested
    small = [one for one in said.others if one.bytes <= CONTEXT]
    if len(small) >= 2 and len(small) == len(said.others):
        scores.add(
            "rank_device_mapping",
            (0.65 if len(small) >= MANY_RANKS else 0.5) if enough else 0.4,
            text(
                "{count} other processes hold {each} each on this device: about one CUDA context,"
                " as ranks have that also touched it.",
                count=len(small),
                each=format_bytes(small[0].bytes),
            ),
        )
        return
    line = text(
        "Other processes hold {held} of {total} ({share}).",
        held=format_bytes(held),
        total=format_bytes(total),
        share=format_percent(held, total),
    )
    if enough and total and held >= total // 4:
        fits = text("Without them the request would have fitted.")
        scores.add("other_process_or_framework", 0.6 + 0.3 * min(held / total, 1.0), line, fits)
        scores.add("zombie_or_leftover_process", 0.3, line)
    else:
        scores.add("other_process_or_framework", 0.4 if enough else 0.25, line)


def _unaccounted(said: Figures, scores: Scores) -> None:
    """Weigh what is neither free nor PyTorch's and of which nobody is told to hold it."""
    if said.outside is None or not said.total or said.free is None:
        return
    if said.outside < max(said.requested or 0, said.total // 10):
        return
    if said.is_refused_though_free or (said.requested is None and said.free > said.total // 50):
        return
    share = said.outside / said.total
    line = text(
        "{outside} of {total} ({share}) is neither free nor reserved by PyTorch here.",
        outside=format_bytes(said.outside),
        total=format_bytes(said.total),
        share=format_percent(said.outside, said.total),
    )
    large = share >= 0.5 and said.outside >= 2 * GIB
    scores.add(
        "other_process_or_framework", 0.5 + 0.35 * share if large else 0.15 + share * 0.7, line
    )
    scores.add("zombie_or_leftover_process", 0.3 if large else 0.15)
    scores.add("memory_outside_allocator", 0.2 if large else 0.4, line)


def _nothing_told(said: Figures, scores: Scores) -> None:
    """Weigh a refusal to a process that holds little, where nothing is told of the rest."""
    if said.free is not None or said.allowed is not None or not said.total:
        return
    if said.reserved is None or said.requested is None:
        return
    if said.reserved + said.requested > said.total // 2:
        return
    line = text(
        "PyTorch holds {reserved} of {total}, and the message does not say how much was free.",
        reserved=format_bytes(said.reserved),
        total=format_bytes(said.total),
    )
    scores.add("other_process_or_framework", 0.4, line)
    scores.add("platform_allocation_limit", 0.35, line)


def _free_and_refused(failure: Failure, said: Figures, scores: Scores) -> None:
    if said.free is None or said.requested is None or not said.is_refused_though_free:
        return
    line = text(
        "{free} is free on the device and {requested} was refused: a limit other than the bytes of"
        " the device decided.",
        free=format_bytes(said.free),
        requested=format_bytes(said.requested),
    )
    scores.add("unknown", 0.45, line)
    scores.add("platform_allocation_limit", 0.35, line)
    scores.add("allocator_bug_or_option", 0.2)
    if failure.kind == "cuda_oom":
        scores.add(
            "pinned_or_wsl_host_limit",
            0.25,
            text("On Windows and WSL the computer's memory and its page file set such limits."),
        )
    if said.requested > 0.9 * (said.total or said.requested):
        scores.add("capacity", 0.4, line)


def _idle(said: Figures, scores: Scores) -> None:
    """Weigh what the allocator holds in no tensor: fragmentation is possible only where it is enough."""
    if said.idle is None or said.requested is None or said.budget is None:
        return
    refused = said.allowed is not None or not said.is_refused_though_free
    if said.idle < said.requested:
        scores.limit("fragmentation", 0.1)
        return
    if not refused or said.requested <= _OTHER_FORMS:
        scores.add("fragmentation", 0.15)
        return
    share = said.idle / max(said.budget, 1)
    line = text(
        "{idle} is reserved and in no tensor, {times} times the request of {requested}.",
        idle=format_bytes(said.idle),
        times=f"{said.idle / max(said.requested, 1):.1f}",
        requested=format_bytes(said.requested),
    )
    confidence = 0.3 if share < 0.08 else 0.55 if share < 0.3 else 0.7
    dominated = said.outside is not None and said.outside > 2 * said.idle
    scores.add("fragmentation", 0.25 if dominated else confidence, line)


def _beside(said: Figures, scores: Scores) -> None:
    beside = said.beside_allocator
    pools = said.failure.numbers.get("private_pools", 0)
    line = None
    if beside is not None and beside >= 2 * GIB:
        line = text(
            "This process holds {beside} outside PyTorch's allocator: CUDA graphs, NCCL, workspaces"
            " or other libraries.",
            beside=format_bytes(beside),
        )
        scores.add("memory_outside_allocator", 0.4, line)
    if pools:
        told = text(
            "Private pools of CUDA graphs hold {pools} that nothing else can use.",
            pools=format_bytes(pools),
        )
        scores.add("cuda_graph_memory", 0.5 if line is not None else 0.3, told, line)


def _full(said: Figures, scores: Scores, *, limited: bool) -> None:
    """Weigh the real peak and its twins: a leak and old references fill a device just the same."""
    if said.allocated is None and said.total is not None:
        scores.add("capacity", 0.4)
        scores.add("other_process_or_framework", 0.3)
    if said.allocated is None or not said.budget:
        return
    idle = said.idle or 0
    could_fit = said.requested is None or said.requested <= (said.total or said.requested)
    if not could_fit:
        return
    share = said.allocated / said.budget
    line = text(
        "{allocated} of {budget} ({share}) is in tensors.",
        allocated=format_bytes(said.allocated),
        budget=format_bytes(said.budget),
        share=format_percent(said.allocated, said.budget),
    )
    full = share >= 0.6 and (said.requested is None or idle < said.requested or share >= 0.85)
    base = 0.55 if full else 0.35 if share >= 0.3 else 0.12
    if said.is_refused_though_free:
        base = min(base, 0.3)
    scores.add("capacity", min(base, 0.4) if limited else base, line)
    if share >= 0.6:
        twin = text(
            "A leak ends with the same figures: see whether memory grows from step to step."
        )
        scores.add("exception_traceback_or_stale_reference", 0.22, twin)
        scores.add("graph_retention", 0.2, twin)
