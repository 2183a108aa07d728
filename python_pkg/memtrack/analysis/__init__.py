"""Questions to a recording: pure functions over its columns, in NumPy, without a loop per event."""

from memtrack.analysis.layers import LayerTable, layer_table
from memtrack.analysis.ledger import DRAW_ORDER, Ledger, Part, ledger
from memtrack.analysis.live import Holder, LiveSet, live_set
from memtrack.analysis.pace import step_ns
from memtrack.analysis.peak import Peak, peak, phase_peaks, step_peaks
from memtrack.analysis.timeline import Timeline, timeline
from memtrack.analysis.totals import alive, allocated, by_category

__all__ = [
    "DRAW_ORDER",
    "Holder",
    "LayerTable",
    "Ledger",
    "LiveSet",
    "Part",
    "Peak",
    "Timeline",
    "alive",
    "allocated",
    "by_category",
    "layer_table",
    "ledger",
    "live_set",
    "peak",
    "phase_peaks",
    "step_ns",
    "step_peaks",
    "timeline",
]
