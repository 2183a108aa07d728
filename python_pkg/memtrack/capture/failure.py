"""What CUDA's allocator knew when it could not serve a request, noted at that very moment.

torch tells of each such failure on the failing thread, before it raises, while the user's tensors
are alive. As little as possible is done there: the state of the allocator without its history (that
still stands in the allocator afterwards), its statistics, and where the run is. Nothing is allocated
on the device, no peak is reset, no tensor, module or frame is kept.

torch catches some of these failures itself, such as those of cuDNN's search for an algorithm. Which
of them ended the user's run is found later, by the figures in the error's message.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from memtrack.capture import torch_api
from memtrack.capture.lasterror import held_by_last_error
from memtrack.capture.place import owner_of, place_here
from memtrack.capture.recorder import active_recorder
from memtrack.capture.statistics import flat
from memtrack.diagnosis.diagnosis import Place
from memtrack.diagnosis.evidence import HeldFact

KEPT = 3
"""Failures kept, the latest: each may hold the segments and blocks of a device."""
CLOSE = 0.005
"""By how much of itself a figure of a message, rounded to two decimals, may differ."""


@dataclass(frozen=True, slots=True)
class CaughtFailure:
    """One request that failed on CUDA device `device`; figures in bytes.

    `segment` was asked of the device, `allowed` is what this process may have of it (all of it where
    no limit is set), `free` what was free there. `snapshot` is the allocator's state without history,
    None where it could not be had cheaply. `recording` is the identifier of the one being made, "" for
    none.
    """

    device: int
    segment: int
    allowed: int
    free: int
    time_ns: int
    place: Place
    statistics: Mapping[str, int] = field(default_factory=dict)
    snapshot: Mapping[str, Any] | None = None
    recording: str = ""
    held: Sequence[HeldFact] = ()
    """What the traceback of an earlier error kept alive there."""
    parameter: weakref.ref[torch.Tensor] | None = None
    """The leaf whose gradient was being computed, where there is one."""

    def matches(self, segment: int | None, device: int | None) -> bool:
        """Tell whether a message with these figures can be of this failure; None: it has no such."""
        if device is not None and device != self.device:
            return False
        return segment is None or abs(segment - self.segment) <= CLOSE * self.segment

    def where(self) -> Place:
        """Return where it happened, in backward by the parameter whose gradient was due."""
        parameter = None if self.parameter is None else self.parameter()
        if self.place.layer or parameter is None:
            return self.place
        return replace(self.place, layer=owner_of(parameter))


_caught: deque[CaughtFailure] = deque(maxlen=KEPT)
_is_watching = False


def watch_failures() -> bool:
    """Note failures from now on, or from the initialisation of CUDA on, which this does not cause.

    Return whether they were not noted before.
    """
    global _is_watching
    was_watching, _is_watching = _is_watching, True
    torch_api.on_out_of_memory(_note)
    return not was_watching


def stop_watching() -> None:
    """Note no more failures; what was noted stays until it is forgotten."""
    global _is_watching
    _is_watching = False
    torch_api.on_out_of_memory(None)


def ignore_failures() -> None:
    """Note no more failures, and forget those that were."""
    stop_watching()
    forget_failures()


def forget_failures() -> None:
    """Let go of what was noted, as when the code that ran has not failed of it."""
    _caught.clear()


def failure_like(segment: int | None, device: int | None) -> CaughtFailure | None:
    """Return the latest failure that a message with these figures can be of, None for none."""
    for one in reversed(_caught):
        if one.matches(segment, device):
            return one
    return None


def _note(device: int, segment: int, allowed: int, free: int) -> None:
    recorder = active_recorder()
    place = place_here()
    _caught.append(
        CaughtFailure(
            device=device,
            segment=segment,
            allowed=allowed,
            free=free,
            time_ns=time.time_ns(),
            place=place if recorder is None else recorder.place(place),
            statistics=flat(torch_api.cuda_statistics(device)),
            snapshot=_snapshot(device),
            recording="" if recorder is None else recorder.identifier,
            held=held_by_last_error(torch.device("cuda", device)),
            parameter=_parameter_due(),
        )
    )


def _snapshot(device: int) -> dict[str, Any] | None:
    try:
        snapshot = torch_api.snapshot_without_history()
    except RuntimeError:
        return None
    if snapshot is None:
        return None
    mine = [one for one in snapshot.get("segments", ()) if one.get("device") == device]
    return {"segments": mine, "allocator_settings": snapshot.get("allocator_settings")}


def _parameter_due() -> weakref.ref[torch.Tensor] | None:
    """Return the leaf whose gradient the autograd node that runs on this thread computes."""
    try:
        found = torch_api.parameters_of_node(torch_api.current_node())
        return weakref.ref(found[0]) if found else None
    except Exception:  # noqa: BLE001 - nodes of the user's may do anything when asked
        return None
