"""Give device memory back without a restart: first what is no user's, a variable only if named.

In this order: exceptions and their frames, outputs that hold device memory, the variables named,
reference cycles, and, where it helps another, the allocator's cache.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import torch

from memtrack.capture import backends
from memtrack.capture.holders.build import holdings
from memtrack.capture.holders.exceptions import (
    Kept,
    as_text,
    forget_errors,
    kept_errors,
    last_error,
)
from memtrack.capture.holders.levels import level_of
from memtrack.capture.holders.outputs import forget_outputs, outputs_with_memory
from memtrack.capture.holders.roots import namespace
from memtrack.capture.holders.search import LIMIT_S, search
from memtrack.capture.holders.sharing import Sharing
from memtrack.capture.holders.storages import Census, Found, storages_of
from memtrack.diagnosis.holdings import Release, Step

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
    """Release what is safe and the variables `names`; say what went, and who holds the rest.

    `names` are variables that exist. The cache is given back if `return_cache`, or if the device has
    less free than the cache holds, so that somebody else may be waiting for it.
    """
    before, shown = level_of(device), as_text(last_error(shell))
    steps, notes = _let_go(shell, device, names, limit_s)
    notes += _empty_cache(device, return_cache)
    gone = next((step for step in steps if step.id == ERRORS and step.count), None)
    return Release(
        before=before,
        after=holdings(shell, device, limit_s),
        steps=[step for step in steps if step.bytes or step.count],
        dropped=tuple(names),
        traceback=shown if gone else "",
        notes=([NO_DEBUG] if gone else []) + notes,
    )


def _let_go(
    shell: Any, device: torch.device, names: Sequence[str], limit_s: float
) -> tuple[list[Step], list[str]]:
    """Take the steps that let go of Python's objects, each measured."""
    meter, kept, values, notes = _found(shell, device, limit_s)
    steps = [
        meter.step(ERRORS, lambda: forget_errors(shell, kept)),
        meter.step(OUTPUTS, lambda: forget_outputs(shell, values)),
    ]
    if names:
        steps.append(meter.step(VARIABLES, lambda: _drop(shell, names)))
    steps.append(meter.step(CYCLES, _collect))
    return steps, notes


def _found(
    shell: Any, device: torch.device, limit_s: float
) -> tuple[_Meter, Kept, list[Any], list[str]]:
    """Search once; return what is to be forgotten, held by these lists alone from now on."""
    with search(shell, device, limit_s) as walk:
        others = (found for one in walk.unseen() for found in storages_of(one, device))
        meter = _Meter(device, chain((held.found for held in walk.held), others))
        values = outputs_with_memory(walk, Sharing(walk))
        return meter, kept_errors(shell, walk), values, [CUT_SHORT] if walk.cut_short else []


class _Meter:
    """Measures each step by what is alive before and after it."""

    def __init__(self, device: torch.device, found: Iterable[Found]) -> None:
        self._device = device
        self._census = Census(found)

    def step(self, name: str, take: Callable[[], int]) -> Step:
        """Take a step. Where the allocator tells what is allocated that counts, else storages."""
        before = self._alive()
        count = take()
        return Step(name, max(0, before - self._alive()), count)

    def _alive(self) -> int:
        allocated = level_of(self._device).allocated
        return allocated if allocated >= 0 else self._census.alive_bytes()


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
