"""Give device memory back without a restart: first what is no user's, a variable only if named.

In this order: exceptions and their frames, outputs that hold device memory, the variables named,
reference cycles, and, where it helps another, the allocator's cache.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from memtrack.capture import backends
from memtrack.capture.holders.build import holdings_on
from memtrack.capture.holders.exceptions import (
    as_text,
    forget_errors,
    kept_errors,
    last_error,
)
from memtrack.capture.holders.levels import level_of
from memtrack.capture.holders.outputs import forget_outputs, outputs_with_memory
from memtrack.capture.holders.search import LIMIT_S, search
from memtrack.capture.holders.sharing import Sharing
from memtrack.capture.holders.storages import Census, Found, storages_of
from memtrack.capture.holders.walk import Walk
from memtrack.diagnosis.holdings import Release, Step
from memtrack.diagnosis.usernames import namespace

ERRORS, OUTPUTS, VARIABLES, CYCLES = "errors", "outputs", "variables", "cycles"
"""Ids of steps."""
NO_DEBUG = "no_debug"
CACHE_RETURNED = "cache_returned"
CACHE_KEPT = "cache_kept"
CAPTURING = "capturing"
CUT_SHORT = "cut_short"
"""Ids of notes: what the reader has to know, as sentences in `reports/releasewords.py`."""
_WORTH_TELLING = 1 << 20


def release(
    shell: Any,
    device: torch.device,
    names: Sequence[str] = (),
    return_cache: bool = False,
    limit_s: float = LIMIT_S,
) -> Release:
    """Do as `release_all` on one device."""
    return release_all(shell, [device], names, return_cache, limit_s)[0]


def release_all(
    shell: Any,
    devices: Sequence[torch.device],
    names: Sequence[str] = (),
    return_cache: bool = False,
    limit_s: float = LIMIT_S,
) -> list[Release]:
    """Release what is safe and the variables `names`; say what went, and who holds the rest.

    `names` are variables that exist. The cache is given back if `return_cache`, or if the device has
    less free than the cache holds, so that somebody else may be waiting for it. `limit_s` bounds each of
    the two searches in seconds.
    """
    before, shown = [level_of(device) for device in devices], as_text(last_error(shell))
    meters, notes = _let_go(shell, devices, names, limit_s)
    forgot = any(step.id == ERRORS and step.count for step in meters[0].steps)
    notes += [NO_DEBUG] if forgot else []
    cache = [_empty_cache(device, return_cache) for device in devices]
    after = holdings_on(shell, devices, limit_s)
    return [
        Release(
            before=level,
            notes=[*notes, *cached],
            after=found,
            steps=[step for step in meter.steps if step.bytes or step.count],
            dropped=tuple(names),
            traceback=shown if forgot else "",
        )
        for level, cached, found, meter in zip(before, cache, after, meters, strict=True)
    ]


def _let_go(
    shell: Any, devices: Sequence[torch.device], names: Sequence[str], limit_s: float
) -> tuple[list[_Meter], list[str]]:
    """Take the steps that let go of Python's objects, each measured on every device."""
    with search(shell, devices, limit_s, everywhere=False) as walk:
        meters = [_Meter(device, walk) for device in devices]
        values = outputs_with_memory(walk, Sharing(walk))
        kept = kept_errors(shell, walk)
        notes = [CUT_SHORT] if walk.cut_short else []
    steps: list[tuple[str, Callable[[], int]]] = [
        (ERRORS, lambda: forget_errors(shell, kept)),
        (OUTPUTS, lambda: forget_outputs(shell, values)),
        (VARIABLES, lambda: _drop(shell, names)),
        (CYCLES, _collect),
    ]
    for name, take in steps:
        count = take()
        for meter in meters:
            meter.note(name, count)
    return meters, notes


class _Meter:
    """Measures on one device what each step has released."""

    def __init__(self, device: torch.device, walk: Walk) -> None:
        self._device = device
        self._census = Census(_storages(walk, device)) if _is_silent(device) else None
        self._alive = self._read()
        self.steps: list[Step] = []

    def note(self, name: str, count: int) -> None:
        """Note a step that was just taken, and the bytes that went with it."""
        before, self._alive = self._alive, self._read()
        self.steps.append(Step(name, max(0, before - self._alive), count))

    def _read(self) -> int:
        """Return what is allocated where the allocator tells it, else what storages are alive."""
        if self._census is not None:
            return self._census.alive_bytes()
        return level_of(self._device).allocated


def _is_silent(device: torch.device) -> bool:
    return level_of(device).allocated < 0


def _storages(walk: Walk, device: torch.device) -> Iterator[Found]:
    yield from (held.found for held in walk.held if held.found.device == device)
    for tensor in walk.unseen():
        yield from storages_of(tensor, [device])


def _drop(shell: Any, names: Sequence[str]) -> int:
    """Delete variables, and what IPython remembers of the same objects as outputs."""
    own = namespace(shell)
    forget_outputs(shell, [own[name] for name in names])
    for name in names:
        del own[name]
    return len(names)


def _collect() -> int:
    gc.collect()
    return 0


def _empty_cache(device: torch.device, asked: bool) -> list[str]:
    """Return the cache to the driver if that was asked for or somebody may be waiting for it."""
    level = level_of(device)
    if level.cached < _WORTH_TELLING and not (asked and level.cached > 0):
        return []
    if not asked and not 0 <= level.free < level.cached:
        return [CACHE_KEPT]
    if backends.is_capturing():
        return [CAPTURING]
    backend: Any = getattr(torch, device.type)
    backend.empty_cache()
    return [CACHE_RETURNED]
