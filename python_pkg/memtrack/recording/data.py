"""One recording: immutable tables, strings and facts. Everything in memtrack becomes one of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memtrack.recording.categories import Category, EventKind, PhaseKind, ReadingKind
from memtrack.recording.tables import TABLES, Array, Table

STATES = ("recording", "complete", "interrupted", "failed")
EVIDENCE = ("measured", "predicted", "opened")


@dataclass(frozen=True, slots=True)
class Notice:
    """A limit of this recording the reader must know: `id` names the sentence, `values` fill it."""

    id: str
    values: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a recording is of. `started` is ISO 8601 in UTC; `versions` maps package to version."""

    label: str = "model"
    state: str = "complete"
    evidence: str = "measured"
    source: str = "storages"
    """How bytes were seen: `storages` (life of tensor storages), `allocator` (its own history)."""
    started: str = ""
    identifier: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    notices: Sequence[Notice] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON that later versions may understand; kept through save and load."""


@dataclass(frozen=True, slots=True)
class RecordingData:
    """The columns (see `tables`) with the strings they refer to. Built by `RecordingBuilder`."""

    facts: Facts
    strings: Sequence[str]
    tables: Mapping[str, Table]

    @property
    def events(self) -> Table:
        """What the allocator did, in order."""
        return self.tables["events"]

    @property
    def allocations(self) -> Table:
        """Blocks of memory with their life, category and layer."""
        return self.tables["allocations"]

    @property
    def layers(self) -> Table:
        """The module tree in pre-order."""
        return self.tables["layers"]

    @property
    def calls(self) -> Table:
        """Calls of modules."""
        return self.tables["calls"]

    @property
    def saved(self) -> Table:
        """What autograd kept for backward, and for which call."""
        return self.tables["saved"]

    @property
    def phases(self) -> Table:
        """Forward, backward, optimizer, other: back to back."""
        return self.tables["phases"]

    @property
    def marks(self) -> Table:
        """Moments the user named."""
        return self.tables["marks"]

    @property
    def samples(self) -> Table:
        """What allocator and driver reported at phase boundaries."""
        return self.tables["samples"]

    @property
    def devices(self) -> Table:
        """The devices watched."""
        return self.tables["devices"]

    @property
    def frames(self) -> Table:
        """Lines of source."""
        return self.tables["frames"]

    @property
    def stacks(self) -> Table:
        """Stacks as a trie of frames."""
        return self.tables["stacks"]

    @property
    def segments(self) -> Table:
        """Memory the caching allocator took from the device."""
        return self.tables["segments"]

    @property
    def readings(self) -> Table:
        """Moments at which the allocator's statistics were read."""
        return self.tables["readings"]

    @property
    def statistics(self) -> Table:
        """What the allocator's statistics were at each reading."""
        return self.tables["statistics"]

    @property
    def cuts(self) -> int:
        """The last cut: the number of events."""
        return len(self.events)

    @property
    def steps(self) -> int:
        """How many numbers of steps the phases have; the last step may be unfinished."""
        return int(self.phases["step"].max()) + 1 if len(self.phases) else 0

    @property
    def steps_run(self) -> int:
        """How many steps there are for a reader: none where nothing but `other` ran."""
        ran = (self.phases["kind"] != PhaseKind.OTHER).any()
        return self.steps if ran else 0

    def string(self, reference: int) -> str:
        """Return the string of a reference, "" for -1."""
        return self.strings[reference] if reference >= 0 else ""

    def stack_frames(self, stack: int) -> list[tuple[str, str, int]]:
        """Return (file, function, line) of a stack, innermost first; empty for -1."""
        found = []
        while stack >= 0:
            frame = int(self.stacks["frame"][stack])
            file, function = self.frames["file"][frame], self.frames["function"][frame]
            line = int(self.frames["line"][frame])
            found.append((self.string(int(file)), self.string(int(function)), line))
            stack = int(self.stacks["parent"][stack])
        return found

    def self_check(self) -> None:
        """Assert every invariant the analyses rely on; used by tests and after reading a file."""
        check(self)


def check(data: RecordingData) -> None:
    """Raise AssertionError naming the first invariant that `data` breaks."""
    assert set(data.tables) == set(TABLES), "a table is missing"
    _check_references(data)
    _check_values(data)
    _check_lives(data)
    _check_segments(data)
    _check_phases(data)
    _check_windows(data)
    _check_layers(data)
    _check_stacks(data)


_REFERENCES = {
    ("events", "device"): "devices",
    ("events", "allocation"): "allocations",
    ("allocations", "device"): "devices",
    ("allocations", "layer"): "layers",
    ("allocations", "call"): "calls",
    ("allocations", "phase"): "phases",
    ("allocations", "stack"): "stacks",
    ("layers", "parent"): "layers",
    ("calls", "layer"): "layers",
    ("calls", "parent"): "calls",
    ("calls", "phase"): "phases",
    ("saved", "call"): "calls",
    ("saved", "allocation"): "allocations",
    ("samples", "device"): "devices",
    ("segments", "device"): "devices",
    ("segments", "stack"): "stacks",
    ("readings", "device"): "devices",
    ("statistics", "reading"): "readings",
    ("stacks", "frame"): "frames",
    ("stacks", "parent"): "stacks",
}
_STRINGS = (
    ("allocations", "name"),
    ("layers", "name"),
    ("layers", "path"),
    ("layers", "type"),
    ("layers", "aliases"),
    ("calls", "output_shape"),
    ("calls", "output_dtype"),
    ("marks", "label"),
    ("devices", "kind"),
    ("devices", "name"),
    ("segments", "pool"),
    ("readings", "label"),
    ("statistics", "name"),
    ("frames", "file"),
    ("frames", "function"),
)


def _check_references(data: RecordingData) -> None:
    for (table, column), target in _REFERENCES.items():
        _assert_within(data.tables[table][column], len(data.tables[target]), f"{table}.{column}")
    for table, column in _STRINGS:
        _assert_within(data.tables[table][column], len(data.strings), f"{table}.{column}")


def _assert_within(references: Array, rows: int, where: str) -> None:
    if len(references):
        assert int(references.min()) >= -1, f"{where} is below -1"
        assert int(references.max()) < rows, f"{where} points past the end"


_CODES = (
    ("allocations", "category", Category),
    ("phases", "kind", PhaseKind),
    ("readings", "kind", ReadingKind),
)
_SIZES = (
    ("events", "bytes"),
    ("allocations", "bytes"),
    ("segments", "bytes"),
    ("layers", "parameters"),
)
LARGEST_TOTAL = 2**62
"""Bytes: sums and differences of no two figures leave int64."""


def total_bytes(table: Table, column: str = "bytes") -> float:
    """Return the sum of a column of sizes; of events without requests that failed.

    Those were given nothing, may be for more than any memory, and are never added up.
    """
    sizes = table[column]
    if table.name == "events":
        sizes = sizes[table["kind"] != EventKind.OOM]
    return float(sizes.sum(dtype=np.float64))


def _check_values(data: RecordingData) -> None:
    for table, column, codes in _CODES:
        known = data.tables[table][column] < len(codes)
        assert known.all(), f"{table}.{column} has an unknown code"
    for table, column in _SIZES:
        sizes = data.tables[table][column]
        assert (sizes >= 0).all(), f"{table}.{column} is negative"
        total = total_bytes(data.tables[table], column)
        assert total < LARGEST_TOTAL, f"{table}.{column} is beyond all memory"


def _check_lives(data: RecordingData) -> None:
    events, allocations, cuts = data.events, data.allocations, data.cuts
    start, end = allocations["start"], allocations["end"]
    rows = np.arange(len(allocations))
    assert (start >= -1).all() and (end <= cuts).all(), "an allocation lives outside the recording"
    assert (start < end).all(), "an allocation ends before it starts"
    for edge, kind in ((start, EventKind.ALLOC), (end, EventKind.FREE)):
        inside = (edge >= 0) & (edge < cuts)
        at = edge[inside]
        assert (events["kind"][at] == kind).all(), f"an allocation's edge is not {kind.name}"
        assert (events["allocation"][at] == rows[inside]).all(), "event and allocation disagree"
        assert (events["bytes"][at] == allocations["bytes"][inside]).all(), "sizes disagree"
        assert (events["device"][at] == allocations["device"][inside]).all(), "devices disagree"
        seen = int((events["kind"] == kind).sum())
        assert seen == int(inside.sum()), f"an event {kind.name} has no allocation"
    assert (np.diff(events["time_ns"]) >= 0).all(), "events are out of order"


_SEGMENT_EDGES = (
    ("start", (EventKind.SEGMENT_ALLOC, EventKind.SEGMENT_MAP)),
    ("end", (EventKind.SEGMENT_FREE, EventKind.SEGMENT_UNMAP)),
)


def _check_segments(data: RecordingData) -> None:
    segments, kind = data.segments, data.events["kind"]
    assert (segments["start"] >= -1).all(), "a segment starts outside the recording"
    assert (segments["start"] < segments["end"]).all(), "a segment ends before it starts"
    assert (segments["end"] <= data.cuts).all(), "a segment ends outside the recording"
    for edge, kinds in _SEGMENT_EDGES:
        at = segments[edge][(segments[edge] >= 0) & (segments[edge] < data.cuts)]
        assert np.isin(kind[at], kinds).all(), f"a segment's {edge} is not an event of segments"


def _check_phases(data: RecordingData) -> None:
    phases = data.phases
    if not len(phases):
        assert data.cuts == 0, "events without a phase"
        return
    assert phases["start"][0] == 0 and phases["end"][-1] == data.cuts, "phases leave a gap"
    assert (phases["start"][1:] == phases["end"][:-1]).all(), "phases leave a gap or overlap"
    steps = np.diff(phases["step"])
    assert phases["step"][0] == 0 and ((steps == 0) | (steps == 1)).all(), (
        "steps are not counted up"
    )


_CUTS = (
    ("calls", "start"),
    ("calls", "end"),
    ("calls", "backward_start"),
    ("calls", "backward_end"),
    ("saved", "cut"),
    ("marks", "cut"),
    ("samples", "cut"),
    ("readings", "cut"),
)


def _check_windows(data: RecordingData) -> None:
    for table, column in _CUTS:
        _assert_within(data.tables[table][column], data.cuts + 1, f"{table}.{column}")
    assert (data.calls["layer"] >= 0).all(), "a call without a layer"
    assert (data.saved["allocation"] >= 0).all(), "something saved without an allocation"


def _check_layers(data: RecordingData) -> None:
    parent, subtree = data.layers["parent"], data.layers["subtree"]
    for row in range(len(data.layers)):
        assert parent[row] < row, "a layer stands before its parent"
        assert subtree[row] >= 1 and row + subtree[row] <= len(parent), "a subtree is cut off"
        if parent[row] >= 0:
            inside = row + subtree[row] <= parent[row] + subtree[parent[row]]
            assert inside, "a subtree sticks out of its parent's"


def _check_stacks(data: RecordingData) -> None:
    parent = data.stacks["parent"]
    assert (parent < np.arange(len(parent))).all(), "a stack stands before the one that called it"
