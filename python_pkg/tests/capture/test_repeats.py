"""Passes without hooks are completed from the watched pass that they repeat, and from no other."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from memtrack.capture.repeats import complete
from memtrack.recording.categories import CallKind, Category, PhaseKind
from memtrack.recording.tables import CALLS

ALLOC, FREE = 0, 1
ROOT, CHILD = 0, 1


class Story:
    """Tables of a run, told pass by pass: blocks of 512 bytes times a number."""

    def __init__(self):
        self.time = 0
        self.events, self.blocks, self.phases, self.passes = [], [], [], []
        self.calls, self.saved = [], []

    def tick(self):
        self.time += 1000
        return self.time

    def alloc(self, size, call=-1, category=Category.UNKNOWN):
        self.events.append((self.tick(), ALLOC))
        layer = self.calls[call]["layer"] if call >= 0 else -1
        self.blocks.append(
            {
                "requested": 512 * size,
                "start": len(self.events) - 1,
                "end": 10**6,
                "call": call,
                "layer": layer,
                "category": int(category),
                "name": 7 if category else -1,
            }
        )
        return len(self.blocks) - 1

    def free(self, block):
        self.events.append((self.tick(), FREE))
        self.blocks[block]["end"] = len(self.events) - 1

    def phase(self, kind, step):
        cut = len(self.events)
        if self.phases:
            self.phases[-1].update(end=cut, end_ns=self.tick())
        self.phases.append(
            {"kind": int(kind), "step": step, "start": cut, "start_ns": self.tick(), "end": cut}
        )

    def call(self, layer, parent=-1):
        row = {name: spec.default for name, spec in CALLS.items()}
        row.update(layer=layer, parent=parent, kind=int(CallKind.FORWARD), needs_grad=1, failed=0)
        row.update(phase=len(self.phases) - 1, start=len(self.events), start_ns=self.tick())
        row.update(output_shape=3, output_bytes=64)
        self.calls.append(row)
        return len(self.calls) - 1

    def end(self, call):
        self.calls[call].update(end=len(self.events), end_ns=self.tick())

    def one_pass(self, step, watched, sizes=(2, 3, 4), kind=0):
        """Forward of a root and its child, loss, backward; `sizes` of activation, loss, gradient."""
        self.phase(PhaseKind.FORWARD, step)
        self.passes.append({"start_ns": self.tick(), "kind": kind, "watched": int(watched)})
        root = self.call(ROOT)
        child = self.call(CHILD, root) if watched else root
        kept = self.alloc(sizes[0], child)
        self.free(self.alloc(1, child))
        if watched:
            self.saved.append({"call": child, "allocation": kept, "cut": len(self.events)})
            self.end(child)
            self.end(root)
            self.phase(PhaseKind.OTHER, step)
        loss = self.alloc(sizes[1], -1 if watched else root)
        target = self.alloc(9, -1 if watched else root, Category.INPUT if watched else 0)
        if not watched:
            self.end(root)
        self.phase(PhaseKind.BACKWARD, step)
        if watched:
            self.calls[child].update(backward_start=len(self.events), backward_start_ns=self.tick())
        gradient = self.alloc(sizes[2], child if watched else -1)
        self.free(kept)
        if watched:
            self.calls[child].update(backward_end=len(self.events), backward_end_ns=self.tick())
        self.phase(PhaseKind.OTHER, step)
        for block in (loss, gradient, target):
            self.free(block)

    def tables(self):
        self.phases[-1].update(end=len(self.events), end_ns=self.tick())
        for block in self.blocks:
            block["end"] = min(block["end"], len(self.events))
        times = np.array([time for time, _ in self.events])
        made = {
            name: columns(rows)
            for name, rows in (
                ("allocations", self.blocks),
                ("phases", self.phases),
                ("calls", self.calls),
                ("saved", self.saved),
            )
        }
        return {**made, "events": {"time_ns": times}}, columns(self.passes)


def columns(rows):
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def told(*passes):
    story = Story()
    for number, options in enumerate(passes):
        story.one_pass(number, **options)
    tables, log = story.tables()
    complete(tables, log)
    return tables


WATCHED, REPEAT = {"watched": True}, {"watched": False}


def test_a_repeat_is_told_like_the_pass_it_repeats():
    tables = told(WATCHED, REPEAT, REPEAT)
    expected = told(WATCHED, WATCHED, WATCHED)
    for table in ("allocations", "saved", "phases"):
        for name in set(tables[table]) - {"start_ns", "end_ns"}:
            assert tables[table][name].tolist() == expected[table][name].tolist(), (table, name)
    for name in ("layer", "parent", "kind", "phase", "start", "end", "output_shape", "failed"):
        assert tables["calls"][name].tolist() == expected["calls"][name].tolist(), name
    for name in ("backward_start", "backward_end"):
        assert tables["calls"][name].tolist() == expected["calls"][name].tolist(), name


def test_times_of_a_repeat_stay_unknown():
    calls = told(WATCHED, REPEAT)["calls"]
    assert (calls["start_ns"][:2] > 0).all() and calls["start_ns"][2:].tolist() == [-1, -1]
    assert calls["backward_end_ns"][2:].tolist() == [-1, -1]


@pytest.mark.parametrize("sizes", [(5, 3, 4), (2, 5, 4)])
def test_a_forward_that_differs_is_left_as_it_is(sizes):
    tables = told(WATCHED, {"watched": False, "sizes": sizes})
    assert tables["calls"]["layer"].tolist() == [ROOT, CHILD, ROOT]
    assert tables["saved"]["call"].tolist() == [1]
    assert tables["allocations"]["call"][5:].tolist() == [2, 2, 2, 2, -1]


def test_a_backward_that_differs_alone_keeps_what_its_forward_repeats():
    tables = told(WATCHED, {"watched": False, "sizes": (2, 3, 5)})
    assert tables["calls"]["layer"].tolist() == [ROOT, CHILD, ROOT, CHILD]
    assert tables["calls"]["backward_start"].tolist()[2:] == [-1, -1]
    gradient = tables["allocations"]["requested"] == 512 * 5
    assert tables["allocations"]["call"][gradient].tolist() == [-1]


def test_a_pass_of_another_kind_is_not_taken_for_a_repeat():
    tables = told(WATCHED, {"watched": False, "kind": 1})
    assert tables["calls"]["layer"].tolist() == [ROOT, CHILD, ROOT]


def test_the_latest_watched_pass_is_repeated():
    other = {"watched": True, "sizes": (7, 3, 4)}
    tables = told(WATCHED, other, {"watched": False, "sizes": (7, 3, 4)}, REPEAT)
    assert tables["calls"]["layer"].tolist() == [ROOT, CHILD] * 4
    assert tables["saved"]["call"].tolist() == [1, 3, 5, 7]
    sizes = tables["allocations"]["requested"][tables["saved"]["allocation"]]
    assert sizes.tolist() == [1024, 3584, 3584, 1024]
