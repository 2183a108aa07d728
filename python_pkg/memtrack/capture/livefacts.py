"""What a live process can tell of a device when a failure is explained, as plain numbers.

In: a CUDA device, and what was noted at the failure where it was. Nothing here initialises CUDA,
allocates on a device or changes a counter, and whatever is refused is left out: after a corrupted
context every question to it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch

from memtrack.capture.failure import CaughtFailure
from memtrack.capture.ownmemory import identity
from memtrack.capture.statistics import flat, read_statistics
from memtrack.devices import UNKNOWN, Driver, DriverError, nvidia_driver, own_bytes, own_pids
from memtrack.devices.leftovers import HIDDEN, SELF, DeviceProcess, processes_on
from memtrack.devices.nvml import GpuProcess
from memtrack.diagnosis.diagnosis import Place
from memtrack.diagnosis.evidence.facts import HeldFact, LiveFacts, ProcessFact

_REFUSALS = (RuntimeError, AssertionError, AttributeError, KeyError, TypeError, ValueError)
_RESERVED, _ALLOCATED = "reserved_bytes.all.current", "allocated_bytes.all.current"
NOTHING = LiveFacts()


def live_facts(
    index: int,
    caught: CaughtFailure | None = None,
    held: Sequence[HeldFact] = (),
    place: Place | None = None,
    driver: Driver | None = None,
) -> LiveFacts:
    """Return what is known of CUDA device `index` and of this process there; bytes.

    `caught` is what was noted at the failure: without it figures are those of now. `held` are the
    references that the caller knows, `place` where the run was, if not `caught`'s. `driver` is
    NVIDIA's unless another is given.
    """
    if not torch.cuda.is_initialized():
        return replace(NOTHING, held=held, place=place or Place())
    free, total = _of_device(index)
    statistics = _statistics(index) if caught is None else caught.statistics
    facts = LiveFacts(
        total=total,
        free=free if caught is None else caught.free,
        limit=_limit(index, total) if caught is None else caught.allowed,
        segment=None if caught is None else caught.segment,
        reserved=statistics.get(_RESERVED),
        allocated=statistics.get(_ALLOCATED),
        stats=statistics,
        held=held,
        place=place or Place(),
    )
    return _with_processes(facts, index, driver or nvidia_driver())


def _of_device(index: int) -> tuple[int | None, int | None]:
    with suppress(*_REFUSALS):
        free, total = torch.cuda.mem_get_info(index)
        return int(free), int(total)
    return None, None


def _statistics(index: int) -> dict[str, int]:
    with suppress(*_REFUSALS):
        return flat(read_statistics(torch.device("cuda", index)))
    return {}


def _limit(index: int, total: int | None) -> int | None:
    """Return what this process may have of a device; None where torch (before 2.7) does not tell."""
    fraction: Any = getattr(torch.cuda, "get_per_process_memory_fraction", None)
    if fraction is None or total is None:
        return None
    with suppress(*_REFUSALS):
        return int(total * fraction(index))
    return None


def _with_processes(facts: LiveFacts, index: int, driver: Driver | None) -> LiveFacts:
    if driver is None:
        return facts
    try:
        uuid, bus_id = identity(torch.device("cuda", index))
        found = processes_on(driver, uuid, bus_id)
    except (DriverError, *_REFUSALS):
        return facts
    used = UNKNOWN if facts.total is None or facts.free is None else facts.total - facts.free
    ours, others = _told_apart(found, facts.reserved or 0, used)
    return replace(
        facts,
        process=ours if ours >= 0 else None,
        processes=[
            ProcessFact(one.pid, _bytes(one), one.command, bool(one.left)) for one in others
        ],
    )


def _told_apart(
    found: Sequence[DeviceProcess], reserved: int, used: int
) -> tuple[int, list[DeviceProcess]]:
    """Return the bytes of this process (UNKNOWN if not told) and the processes that are not this one.

    Inside a container the driver may list this process by its number outside: then one that cannot be
    seen from here and holds at least what is reserved can be this one, and is not called another.
    """
    listed = [GpuProcess(one.pid, _bytes(one)) for one in found]
    ours = own_bytes(listed, own_pids(), reserved, used)
    others = [one for one in found if one.relation != SELF]
    if len(others) < len(found):
        return ours, others
    maybe = [one for one in others if one.state == HIDDEN and _bytes(one) >= reserved]
    if len(maybe) == 1:
        ours = _bytes(maybe[0])
    return ours, [one for one in others if one not in maybe]


def _bytes(process: DeviceProcess) -> int:
    return UNKNOWN if process.bytes is None else process.bytes
