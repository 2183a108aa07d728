"""Questions to a recording: pure functions over its columns, in NumPy, without a loop per event."""

from memtrack.analysis.creep import Creep
from memtrack.analysis.fragmentation import (
    Fragmentation,
    PoolState,
    fragmentation,
    fragmentation_when_full,
)
from memtrack.analysis.growth import GrowingGroup, Growth, growth
from memtrack.analysis.layers import LayerTable, layer_table
from memtrack.analysis.ledger import DRAW_ORDER, Ledger, Part, ledger
from memtrack.analysis.live import (
    AGES,
    Holder,
    LiveAllocation,
    LiveSet,
    largest_allocations,
    live_set,
)
from memtrack.analysis.nested import NestedPeaks, PeakTable, mark_peak, nested_peaks
from memtrack.analysis.pace import step_ns
from memtrack.analysis.peak import Peak, peak, phase_peaks, step_peaks
from memtrack.analysis.reserved import Pool, reserved_by_pool
from memtrack.analysis.service import Service
from memtrack.analysis.timeline import Timeline, timeline
from memtrack.analysis.totals import alive, allocated, by_category

__all__ = [
    "AGES",
    "DRAW_ORDER",
    "Creep",
    "Fragmentation",
    "GrowingGroup",
    "Growth",
    "Holder",
    "LayerTable",
    "Ledger",
    "LiveAllocation",
    "LiveSet",
    "NestedPeaks",
    "Part",
    "Peak",
    "PeakTable",
    "Pool",
    "PoolState",
    "Service",
    "Timeline",
    "alive",
    "allocated",
    "by_category",
    "fragmentation",
    "fragmentation_when_full",
    "growth",
    "largest_allocations",
    "layer_table",
    "ledger",
    "live_set",
    "mark_peak",
    "nested_peaks",
    "peak",
    "phase_peaks",
    "reserved_by_pool",
    "step_ns",
    "step_peaks",
    "timeline",
]
