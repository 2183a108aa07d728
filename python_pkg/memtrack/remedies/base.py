"""What a recording is of, as remedies ask it: one device, the steps around its peak, and their parts.

Places in the run are *positions*, finer than events: event `e` stands at `e * SCALE`, and between two
events there is room for what a remedy adds. A cut lies in the middle between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memtrack.analysis.peak import Peak, peak_of
from memtrack.analysis.totals import allocated
from memtrack.recording import Category, PhaseKind, RecordingData
from memtrack.recording.categories import CallKind
from memtrack.recording.tables import Array

SCALE = 1 << 21
"""Positions between two events: half for what comes before a cut, half for what comes after it."""
_HALF = SCALE // 2
OLDER = -(1 << 62)
"""Position of the start of what was there before the window."""
LASTING = 1 << 62
"""Position of the end of what is there after it."""
MOST_EVENTS = 60_000
"""Events of a window: two steps of most runs. Of a longer step what is around its peak."""


def at_event(event: Array) -> Array:
    """Return the positions of events."""
    return event.astype(np.int64) * SCALE


def before_cut(cut: Array | int, place: Array | int = 0) -> Array:
    """Return positions after the last event before each cut, still before the cut itself."""
    return (np.asarray(cut, dtype=np.int64) - 1) * SCALE + 1 + np.minimum(place, _HALF - 2)


def after_cut(cut: Array | int, place: Array | int = 0) -> Array:
    """Return positions after each cut, before the event that follows it."""
    return np.asarray(cut, dtype=np.int64) * SCALE - _HALF + np.minimum(place, _HALF - 1)


def cut_of(position: int) -> int:
    """Return the cut of the recording that comes at a position or is the nearest to it."""
    return position // SCALE + 1 if position > OLDER else 0


@dataclass(frozen=True)
class Ground:
    """One device of a recording, and the window (cuts) that remedies are tried on."""

    data: RecordingData
    device: int
    first: int
    last: int
    peak: Peak

    @classmethod
    def of(cls, data: RecordingData, device: int) -> Ground:
        """Return the ground of a device: the step of its peak and the one before, where these are known."""
        levels = allocated(data, device)
        peak = peak_of(data, levels)
        first, last = _window(data, peak)
        return cls(data, device, first, last, peak)

    @cached_property
    def is_cached(self) -> bool:
        """Whether a caching allocator serves the device, as on CUDA: sizes are rounded there."""
        return self.data.string(int(self.data.devices["kind"][self.device])) != "cpu"

    @cached_property
    def has_phases(self) -> bool:
        """Whether forward and backward are told apart in the window."""
        kinds = self.phase_kind
        return bool((kinds == PhaseKind.FORWARD).any() and (kinds == PhaseKind.BACKWARD).any())

    @cached_property
    def has_forwards(self) -> bool:
        """Whether forwards are known in the window, be there backwards or not."""
        return bool((self.phase_kind == PhaseKind.FORWARD).any())

    @cached_property
    def is_inference(self) -> bool:
        """Whether the whole recording has forwards and nothing that trains.

        Gradients and states of optimizers in it are those of a training before.
        """
        kinds = self.data.phases["kind"]
        trains = np.isin(kinds, (PhaseKind.BACKWARD, PhaseKind.OPTIMIZER)).any()
        return bool((kinds == PhaseKind.FORWARD).any() and not trains)

    @cached_property
    def phase_rows(self) -> Array:
        """Rows of the phases that the window touches."""
        phases = self.data.phases
        return np.flatnonzero((phases["end"] > self.first) & (phases["start"] < self.last))

    @cached_property
    def phase_kind(self) -> Array:
        """Kinds of those phases."""
        return self.data.phases["kind"][self.phase_rows].astype(np.int64)

    @cached_property
    def phase_start(self) -> Array:
        """Positions at which those phases begin."""
        return after_cut(np.maximum(self.data.phases["start"][self.phase_rows], self.first))

    @cached_property
    def phase_end(self) -> Array:
        """Positions at which they end."""
        return before_cut(np.minimum(self.data.phases["end"][self.phase_rows], self.last))

    def kind_at(self, position: Array) -> Array:
        """Return the PhaseKind at each position, -1 before the window."""
        place = np.searchsorted(self.phase_start, position, side="right") - 1
        kind = np.append(self.phase_kind, -1)[place]
        return np.where(position <= OLDER, -1, kind)

    def next_start(self, position: Array, kind: PhaseKind) -> Array:
        """Return where the next phase of a kind begins after each position, `LASTING` where none does."""
        starts = np.append(self.phase_start[self.phase_kind == kind], LASTING)
        return starts[np.searchsorted(starts[:-1], position, side="right")]

    def next_end(self, position: Array, kind: PhaseKind) -> Array:
        """Return where the phase of a kind ends that goes on at a position or comes next."""
        ends = np.append(self.phase_end[self.phase_kind == kind], LASTING)
        return ends[np.searchsorted(ends[:-1], position, side="right")]

    # ------------------------------------------------------------------ calls and layers

    @cached_property
    def calls(self) -> Array:
        """Rows of the calls that begin in the window."""
        start = self.data.calls["start"]
        return np.flatnonzero((start >= self.first) & (start < self.last))

    @cached_property
    def layer_type(self) -> list[str]:
        """Class name of each layer."""
        return [self.data.string(int(row)) for row in self.data.layers["type"]]

    @cached_property
    def is_leaf(self) -> Array:
        """Which layers have no layer inside."""
        return np.asarray(self.data.layers["subtree"] == 1)

    @cached_property
    def saved_calls(self) -> Array:
        """Calls of the table `saved`, ordered by allocation; see `saved_first`."""
        order = np.argsort(self.data.saved["allocation"], kind="stable")
        return self.data.saved["call"][order].astype(np.int64)

    @cached_property
    def saved_first(self) -> Array:
        """Where the calls that saved each allocation begin in `saved_calls`, and one more."""
        rows = len(self.data.allocations)
        counts = np.bincount(self.data.saved["allocation"], minlength=rows)
        return np.concatenate(([0], np.cumsum(counts)))

    def savers(self, row: int) -> Array:
        """Return the calls that kept an allocation for backward."""
        if row < 0:
            return self.saved_calls[:0]
        return self.saved_calls[self.saved_first[row] : self.saved_first[row + 1]]

    @cached_property
    def is_saved(self) -> Array:
        """Which allocations autograd kept."""
        return np.diff(self.saved_first) > 0

    @cached_property
    def backward_start(self) -> Array:
        """Position at which the backward of each call begins, `LASTING` where none was seen."""
        start = self.data.calls["backward_start"]
        return np.where(start >= 0, after_cut(start), LASTING)

    @cached_property
    def parameter_sizes(self) -> frozenset[int]:
        """Sizes of parameters large enough not to be those of something else by chance, in bytes."""
        table = self.data.allocations
        mine = (table["category"] == Category.PARAMETER) & (table["device"] == self.device)
        return frozenset(int(size) for size in table["bytes"][mine] if size >= 1 << 12)

    @cached_property
    def is_weightless(self) -> Array:
        """Which layers have neither weights nor, as one whose weights are another's too, multiply; False for none."""
        layers = self.data.layers
        bare = self.is_leaf & (layers["parameter_bytes"] == 0)
        tied = np.array([name.startswith("Linear") for name in self.layer_type], dtype=bool)
        return np.append(bare & ~tied, False)

    @cached_property
    def blocks(self) -> list[int]:
        """Layers that repeat, such as those of a transformer: rows, in order; none where none do."""
        return repeated_layers(self)

    @cached_property
    def block_of(self) -> Array:
        """The repeated layer that each layer lies in, -1 outside of them."""
        owner = np.full(len(self.data.layers) + 1, -1, dtype=np.int64)
        for row in self.blocks:
            owner[row : row + int(self.data.layers["subtree"][row])] = row
        return owner

    def block_calls(self) -> list[int]:
        """Return the forward calls of repeated layers in the window, in order, with a known end."""
        calls, wanted = self.data.calls, set(self.blocks)
        return [
            int(row)
            for row in self.calls
            if int(calls["layer"][row]) in wanted
            and calls["kind"][row] == CallKind.FORWARD
            and calls["end"][row] > calls["start"][row]
        ]


_CONTAINERS = ("ModuleList", "Sequential", "ModuleDict")
_FEW = 6


def repeated_layers(ground: Ground) -> list[int]:
    """Return the layers of one class that stand side by side and hold others, outermost first.

    A handful of stages that hold more such layers give way to these. Where no class repeats, Sequentials
    that are built alike do.
    """
    found = _repeated_below(ground, range(len(ground.data.layers)), set())
    inner = _repeated_below(ground, range(len(ground.data.layers)), set(found))
    inner = [row for row in inner if "expert" not in ground.layer_type[row].lower()]
    found = inner if len(found) < _FEW and len(inner) >= 2 * max(len(found), 1) else found
    return found or _alike_sequentials(ground)


def _alike_sequentials(ground: Ground) -> list[int]:
    """Return Sequentials side by side that hold layers of the same classes and sizes, outermost first."""
    layers, types = ground.data.layers, ground.layer_type
    groups: dict[tuple[object, ...], list[int]] = {}
    for row in np.flatnonzero(layers["subtree"] > 1).tolist():
        inside = range(row, row + int(layers["subtree"][row]))
        built = tuple((types[one], int(layers["parameter_bytes"][one])) for one in inside)
        if types[row] == "Sequential":
            groups.setdefault((int(layers["parent"][row]), built), []).append(row)
    return _outermost(ground, [group for group in groups.values() if len(group) > 1])


def _repeated_below(ground: Ground, rows: range, skipped: set[int]) -> list[int]:
    layers = ground.data.layers
    groups: dict[tuple[int, str], list[int]] = {}
    for row in rows:
        name = ground.layer_type[row]
        if layers["subtree"][row] > 1 and name not in _CONTAINERS and row not in skipped:
            groups.setdefault((int(layers["parent"][row]), name), []).append(row)
    return _outermost(ground, [group for group in groups.values() if len(group) > 1])


def _outermost(ground: Ground, groups: list[list[int]]) -> list[int]:
    found: list[int] = []
    until = -1
    for row in sorted(row for group in groups for row in group):
        if row >= until:
            found.append(row)
            until = row + int(ground.data.layers["subtree"][row])
    return found


def _window(data: RecordingData, peak: Peak) -> tuple[int, int]:
    """Return the cuts around the step of the peak and the one before, of a bounded number of events."""
    phases = data.phases
    for earlier, most in ((1, MOST_EVENTS), (0, 2 * MOST_EVENTS)):
        inside = (phases["step"] >= peak.step - earlier) & (phases["step"] <= peak.step)
        if inside.any():
            first, last = int(phases["start"][inside][0]), int(phases["end"][inside][-1])
            if last - first <= most:
                return first, last
    half = MOST_EVENTS // 2
    return max(peak.cut - half, 0), min(peak.cut + half, data.cuts)
