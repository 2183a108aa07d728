"""Steps of optimizers that torch names in a snapshot become phases, steps and categories."""

from __future__ import annotations

import numpy as np
import pytest

from memtrack.analysis import step_ns
from memtrack.readers.annotations import read_phases
from memtrack.readers.torch_snapshot import recording_of
from memtrack.recording import Category, PhaseKind

OTHER, OPTIMIZER = int(PhaseKind.OTHER), int(PhaseKind.OPTIMIZER)


def note(stage, time_us, name="Optimizer.step#AdamW.step"):
    return {"stage": stage, "name": name, "device": 0, "time_us": time_us}


def entry(action, time_us, addr, size=512):
    return {"action": action, "time_us": time_us, "addr": addr, "size": size, "stream": 0}


def snapshot(steps=3):
    """A loop: 1 KiB that passes, then a step that makes state the first time and a temporary."""
    base, trace, notes = 1 << 32, [], []
    trace.append(entry("segment_alloc", 1000, base, 2 << 20))
    for step in range(steps):
        at = 1000 + 100 * step
        trace += [entry("alloc", at + 10, base, 1024), entry("free_requested", at + 20, base, 1024)]
        trace.append(entry("free_completed", at + 20, base, 1024))
        notes.append(note("START", at + 30))
        if step == 0:
            trace.append(entry("alloc", at + 40, base + 4096, 2048))
        trace += [entry("alloc", at + 50, base), entry("free_requested", at + 60, base)]
        trace.append(entry("free_completed", at + 60, base))
        notes.append(note("END", at + 70))
        notes += [
            note(stage, at + 71, "Optimizer.zero_grad#AdamW.zero_grad")
            for stage in ("START", "END")
        ]
    blocks = [
        {"address": base, "size": 4096, "requested_size": 0, "state": "inactive"},
        {"address": base + 4096, "size": 2048, "requested_size": 2048, "state": "active_allocated"},
        {
            "address": base + 6144,
            "size": (2 << 20) - 6144,
            "requested_size": 0,
            "state": "inactive",
        },
    ]
    segment = {"device": 0, "address": base, "total_size": 2 << 20, "stream": 0, "blocks": blocks}
    return {"segments": [segment], "device_traces": [trace], "external_annotations": notes}


@pytest.fixture
def data(tmp_path):
    found = recording_of(snapshot(), tmp_path / "run.pickle")
    found.self_check()
    return found


def test_each_step_of_the_optimizer_ends_a_step(data):
    phases = data.phases
    assert phases["kind"].tolist() == [OTHER, OPTIMIZER] * 3
    assert phases["step"].tolist() == [0, 0, 1, 1, 2, 2]
    assert step_ns(data) == 100_000 - 0  # from the end of one step to the end of the next


def test_what_a_step_makes_is_known(data):
    table = data.allocations
    by_size = dict(zip(table["requested"].tolist(), table["category"].tolist(), strict=True))
    assert by_size == {
        1024: Category.UNKNOWN,
        2048: Category.OPTIMIZER_STATE,
        512: Category.TEMPORARY,
    }


def test_the_names_torch_gives_are_no_marks(data):
    assert len(data.marks) == 0


def test_a_trace_that_begins_and_ends_inside_a_step():
    times = np.arange(10) * 1000
    notes = [note("END", 2), note("START", 4), note("END", 6), note("START", 8)]
    phases = read_phases(notes, 0, times)
    assert phases["kind"].tolist() == [OTHER, OPTIMIZER, OTHER, OPTIMIZER]
    assert phases["start"].tolist() == [0, 4, 6, 8]
    assert phases["end"].tolist() == [4, 6, 8, 10]


@pytest.mark.parametrize(
    "notes",
    [
        None,
        [],
        "nonsense",
        [note("START", 4), note("END", 6)],  # one step alone is no loop
        [note("START", 1), note("START", 2), note("END", 3), note("END", 4)],  # nested
        [{"stage": "START"}, 7, note("START", "soon"), note("END", None)],
        [note("END", 1), note("END", 2)],
    ],
)
def test_otherwise_all_is_one_phase(notes):
    phases = read_phases(notes, 0, np.arange(10) * 1000)
    assert phases["kind"].tolist() == [OTHER]
    assert (int(phases["start"][0]), int(phases["end"][0])) == (0, 10)


def test_a_snapshot_without_events_has_one_empty_phase():
    phases = read_phases([note("START", 1), note("END", 2)] * 2, 0, np.zeros(0, dtype="i8"))
    assert phases["end"].tolist() == [0]
