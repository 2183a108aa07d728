"""The failure behind an exception of this process: its words, and what else can still be known.

In: an exception. Out: a `Case`, plain data. What was noted when CUDA's allocator failed is found by
the figures in the message; the allocator's history, where it is on, has kept the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from memtrack.capture import backends, torch_api
from memtrack.capture.failure import CaughtFailure, failure_like
from memtrack.capture.holders import holdings
from memtrack.capture.keptgraphs import kept_graphs
from memtrack.capture.livefacts import live_facts
from memtrack.capture.place import place_of_traceback
from memtrack.diagnosis.case import Case, device_in, merged, row_of
from memtrack.diagnosis.diagnosis import Place
from memtrack.diagnosis.evidence import HeldFact
from memtrack.diagnosis.explain import explain_text
from memtrack.diagnosis.holdings import GRAPH, OUTPUT, VARIABLE
from memtrack.diagnosis.raised import chain, plainly, text_of
from memtrack.readers.torch_snapshot import recording_of
from memtrack.readers.unpickle import collector_off
from memtrack.recording import RecordingData

MOST_ENTRIES = 15_000
"""Entries of the allocator's history that are read at once: torch takes up to 40 µs to name the frames
of each (`bench/failures_live.py`), and an explanation is due within a second."""
ENTRIES_EACH = 3
"""Of an allocation: itself, and the two of its release."""
SEARCH_S = 0.2
"""Seconds that each search for what notebooks keep may take."""
_OF_CUDA = ("cuda_oom", "hip_oom")
_OF_DRIVER = "cuda_error"
_REFUSALS = (RuntimeError, AssertionError, AttributeError, ValueError)


def case_of(
    error: BaseException, names: Callable[[str], str] | None = None, shell: Any = None
) -> Case:
    """Return the case of an exception, of which nothing is kept.

    `names` maps a source file to how people know it; `shell` is IPython's, whose old outputs count.
    """
    told = explain_text(text_of(error, names))
    place = _place_of(error, names)
    if told.kind == _OF_DRIVER and told.device_memory and torch.cuda.is_initialized():
        # The allocator had no part in it; what it and the device hold tells what was refused.
        device = _asked(torch.cuda.current_device)
        facts = None if device is None else live_facts(device, place=place)
        return Case(told, place, -1 if device is None else device, facts)
    if not told.device_memory or not torch.cuda.is_initialized():
        return Case(told, place)
    named = device_in(told.message)
    # Libraries that fail by themselves are no failure of the allocator.
    is_allocators = told.kind in _OF_CUDA
    caught = failure_like(told.numbers.get("requested"), named) if is_allocators else None
    if caught is None:
        device = torch.cuda.current_device() if named is None else named
        facts = live_facts(device, held=_kept(shell, device), place=place)
        return Case(told, place, device, facts, state=_state(device, None))
    device = caught.device
    # The traceback knows the same line, and by the name of its cell.
    place = merged(replace(caught.where(), site=""), place)
    facts = live_facts(device, caught, [*caught.held, *_kept(shell, device)], place)
    return Case(told, place, device, facts, caught.recording, _state(device, caught))


def _place_of(error: BaseException, names: Callable[[str], str] | None) -> Place:
    """Return the place of the first cause that tells one."""
    places = (place_of_traceback(plainly(one, "__traceback__"), names) for one in chain(error))
    return next((place for place in places if place.site or place.layer), Place())


def _kept(shell: Any, device: int) -> Sequence[HeldFact]:
    """Return what displayed values of earlier cells and kept losses hold on a CUDA device."""
    if shell is None:
        return ()
    found = _asked(lambda: holdings(shell, torch.device("cuda", device), SEARCH_S))
    kept = () if found is None else found.holdings
    outputs = [HeldFact(one.name, OUTPUT, one.bytes) for one in kept if one.kind == OUTPUT]
    graphs = _asked(lambda: kept_graphs(shell.user_ns, SEARCH_S)) or ()
    behind = {one.name: one.bytes for one in kept if one.kind == VARIABLE and one.in_graph}
    return [
        *outputs,
        *(HeldFact(one.name, GRAPH, behind.get(one.name, 0), one.passes) for one in graphs),
    ]


def _state(device: int, caught: CaughtFailure | None) -> RecordingData | None:
    """Return the allocator as it was at the failure, with its history where that is short enough.

    Where a recording was made, that has the history.
    """
    snapshot: Any = None if caught is not None and caught.recording else _with_history(device)
    if snapshot is None and caught is not None:
        snapshot = caught.snapshot
    if snapshot is None and backends.describe("cuda").has_history:
        snapshot = _asked(torch_api.snapshot_without_history)
    if not snapshot:
        return None
    data: RecordingData | None = _asked(lambda: recording_of(snapshot))
    return data if data is not None and row_of(data, device) >= 0 else None


def _with_history(device: int) -> dict[str, Any] | None:
    """Return a snapshot with a history in which a request has failed; None for none or a long one."""
    if not torch_api.history_is_on():
        return None
    allocations = torch_api.cuda_statistics(device).get("allocation", {}).get("all", {})
    if ENTRIES_EACH * allocations.get("allocated", 0) > MOST_ENTRIES:
        return None
    with collector_off():
        snapshot: dict[str, Any] | None = _asked(torch_api.snapshot_with_history)
    traces = (snapshot or {}).get("device_traces") or []
    trace = traces[device] if device < len(traces) else ()
    return snapshot if any(entry.get("action") == "oom" for entry in trace) else None


def _asked(question: Callable[[], Any]) -> Any:
    """Return the answer, None where the backend refuses one."""
    try:
        return question()
    except _REFUSALS:
        return None
