"""Everything a report says of one device, computed once from its levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.fragmentation import Fragmentation, fragmentation, fragmentation_when_full
from memtrack.analysis.growth import Growth, growth_of
from memtrack.analysis.layers import LayerTable, layer_table_of
from memtrack.analysis.ledger import Ledger, ledger_of
from memtrack.analysis.nested import NestedPeaks, nested_peaks_of
from memtrack.analysis.peak import Peak, peak_of
from memtrack.analysis.timeline import BUCKETS, MOST_ALLOCATIONS, Timeline, timeline_of
from memtrack.analysis.totals import allocated, category_levels
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class DeviceAnalysis:
    """One device (a row of `data.devices`) with its peak, and the ledger and layers at that peak.

    `by_category` are the bytes at the peak by category code. `fragmentation` is that of the peak too,
    `when_full` that of the last request that failed, each None where no history of segments tells or
    none failed; `nested` and `growth` are of the whole recording.
    """

    data: RecordingData
    device: int
    peak: Peak
    by_category: Array
    ledger: Ledger
    layers: LayerTable
    timeline: Timeline
    fragmentation: Fragmentation | None
    when_full: Fragmentation | None
    nested: NestedPeaks
    growth: Growth


def analyse_device(
    data: RecordingData,
    device: int,
    buckets: int = BUCKETS,
    max_allocations: int = MOST_ALLOCATIONS,
) -> DeviceAnalysis:
    """Return all of one device; `buckets` and `max_allocations` bound its timeline."""
    levels, categories = allocated(data, device), category_levels(data, device)
    peak, nested = peak_of(data, levels), nested_peaks_of(data, device, levels, categories)
    layer_peaks = np.full(len(data.layers), -1, dtype=np.int64)
    layer_peaks[nested.layers.row] = nested.layers.bytes
    return DeviceAnalysis(
        data=data,
        device=device,
        peak=peak,
        by_category=categories.at(np.array([peak.cut]))[0],
        ledger=ledger_of(data, device, peak.cut, levels, categories),
        layers=layer_table_of(data, device, peak, levels, categories, layer_peaks),
        timeline=timeline_of(
            data, device, (0, data.cuts), buckets, levels, categories, max_allocations
        ),
        fragmentation=fragmentation(data, device, peak.cut),
        when_full=fragmentation_when_full(data, device),
        nested=nested,
        growth=growth_of(data, device, levels),
    )


def devices_in_order(data: RecordingData) -> list[int]:
    """Return the devices worth a view: accelerators first, then by the bytes of their peak.

    A device that never held a byte is left out unless none did.
    """
    accelerator = [data.string(int(kind)) != "cpu" for kind in data.devices["kind"]]
    most = [int(allocated(data, device).max()) for device in range(len(data.devices))]
    used = [device for device, peak in enumerate(most) if peak > 0]
    shown = used or range(len(data.devices))
    return sorted(shown, key=lambda device: (not accelerator[device], -most[device], device))
