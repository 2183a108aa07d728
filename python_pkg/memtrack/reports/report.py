"""What the reader sees, as data: the one description that text, HTML, widgets and server share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from memtrack.i18n import Text
from memtrack.recording.tables import Array
from memtrack.reports.answers import (
    GrowthFinding,
    LineGroups,
    LineReport,
    MemoryMap,
    PeaksReport,
    PoolReport,
    SummaryReport,
)
from memtrack.units import format_bytes

SCHEMA = "memtrack.report/1"


@dataclass(frozen=True, slots=True)
class Device:
    """A device whose memory is shown; `total` in bytes, -1 where unknown."""

    kind: str
    index: int
    name: str
    total: int


@dataclass(frozen=True, slots=True, repr=False)
class PeakPoint:
    """The moment of the most allocated bytes. `layer` is a row of the layer table, -1 outside.

    `step` counts from 1, as everything does that people read; `step_index` from 0, as columns do.
    `layer_path` is "" outside.
    """

    bytes: int
    cut: int
    time_ns: int
    step_index: int
    phase: str
    layer: int
    layer_path: str = ""

    @property
    def step(self) -> int:
        """The step as a reader counts them."""
        return self.step_index + 1

    def __repr__(self) -> str:
        step = f", step {self.step}" if self.step_index >= 0 else ""
        layer = f", layer {self.layer_path}" if self.layer_path else ""
        size = f"{format_bytes(self.bytes)} ({self.bytes} bytes)"
        return f"<PeakPoint: {size}{step}, phase {self.phase}{layer}>"


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """One part of a device: a category, `cache`, `context`, `process`, `others`, `outside` or `free`.

    `certainty` is `measured` or `estimated` (a remainder, or a sample taken near the moment).
    `details`, where there are any, split the part and sum to it: `temporary.forward`, `cache.small`.
    """

    id: str
    bytes: int
    certainty: str = "measured"
    details: Sequence[LedgerPart] = ()


@dataclass(frozen=True, slots=True, repr=False)
class LedgerReport:
    """Parts in the order they are drawn, which sum to `total`; `allocated` is the tensors' share.

    `total` is the device where its size is known, else what is allocated (or reserved).
    """

    total: int
    allocated: int
    parts: Sequence[LedgerPart]
    rounding: int = 0
    """Bytes of the categories that nobody asked for: the allocator gives whole blocks."""

    def __repr__(self) -> str:
        parts = ", ".join(f"{part.id} {format_bytes(part.bytes)}" for part in self.parts)
        return f"<LedgerReport of {format_bytes(self.total)}: {parts}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(part.id)}</td><td>{escape(format_bytes(part.bytes))}</td></tr>"
            for part in self.parts
        )
        return f"<table><tbody>{rows}</tbody></table>"


@dataclass(frozen=True, slots=True)
class LayerColumns:
    """The layer table of one device, a value a layer; see `LAYER_COLUMNS` for what each means.

    Columns that add up come twice: as the layer's own bytes and, with `total_`, with its subtree.
    """

    columns: Mapping[str, Array | Sequence[str]]
    outside: Mapping[str, int]
    """The same additive columns for what belongs to no layer: with it the roots sum to the whole."""


@dataclass(frozen=True, slots=True, repr=False)
class TimelineReport:
    """Memory over cuts at the points that bound each bucket: where it is least and where most.

    `points` has `cut`, `time_ns`, `allocated`, `reserved` (only with a caching allocator), `layer`
    (innermost running, -1) of equal length; `categories` maps a category id to its bytes at each
    point, and they sum to `allocated`. `bucket_events` events lie in a bucket: 1 is every event.
    `allocations` are those alive at one of the points at least: `start`, `end` (cuts: alive at c
    when start < c <= end), `bytes`, `layer`, `category`, `site` (index into `sites`), `name`
    (index into `names`, -1).
    """

    cuts: int
    duration_ns: int
    bucket_events: int
    peak_point: int
    points: Mapping[str, Array]
    categories: Mapping[str, Array]
    allocations: Mapping[str, Array]
    sites: Sequence[str]
    names: Sequence[str]
    omitted_allocations: int = 0
    """Allocations left out because the payload is bounded; their bytes are still in the points."""
    omitted_bytes: int = 0
    """The most bytes those have together at any point, or a bound above it."""
    groups: LineGroups | None = None
    """The same bytes by source line, where most of them have no category."""

    def __repr__(self) -> str:
        peak = format_bytes(int(self.points["allocated"][self.peak_point]))
        return f"<TimelineReport of {self.cuts} events: peak {peak}>"


@dataclass(frozen=True, slots=True)
class View:
    """The report of one device."""

    device: Device
    headline: Text
    details: Sequence[Text]
    peak: PeakPoint
    ledger: LedgerReport
    layers: LayerColumns
    timeline: TimelineReport
    pools: Sequence[PoolReport] = ()
    growth: Sequence[GrowthFinding] = ()
    peaks: PeaksReport | None = None
    summary: SummaryReport | None = None
    lines: LineReport | None = None
    map: MemoryMap | None = None


@dataclass(frozen=True, slots=True)
class LayerTree:
    """The layers all views share: columns of `LAYERS` as arrays, strings as lists."""

    parent: Array
    depth: Array
    subtree: Array
    name: Sequence[str]
    path: Sequence[str]
    type: Sequence[str]
    aliases: Sequence[str]
    tied: Array


@dataclass(frozen=True, slots=True)
class PhaseBands:
    """Phases in order: `start`, `end` (cuts), `start_ns`, `end_ns`, `kind`, `step`."""

    columns: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class MarkList:
    """Moments the user named."""

    cut: Array
    time_ns: Array
    label: Sequence[str]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report. `views` holds one per device, the one with the most at stake first."""

    identifier: str
    state: str
    evidence: str
    label: str
    started: str
    versions: Mapping[str, str]
    steps: int
    step_ns: int | None
    """Median duration of the complete steps after the first, nanoseconds; None without one."""
    notices: Sequence[Text]
    layers: LayerTree
    phases: PhaseBands
    marks: MarkList
    views: Sequence[View]
