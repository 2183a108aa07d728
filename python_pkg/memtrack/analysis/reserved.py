"""What the caching allocator held from the device, where there is one."""

from __future__ import annotations

import numpy as np

from memtrack.recording import EventKind, RecordingData
from memtrack.recording.tables import Array

_GROWS = (EventKind.SEGMENT_ALLOC, EventKind.SEGMENT_MAP)
_SHRINKS = (EventKind.SEGMENT_FREE, EventKind.SEGMENT_UNMAP)


def reserved(data: RecordingData, device: int, cuts: Array, levels: Array) -> Array | None:
    """Return the reserved bytes at each of `cuts`, or None where no caching allocator was seen.

    `levels` are the bytes in use at every cut. Exact where the allocator's own history was recorded;
    else the last sample before the cut, raised to what is in use, which it cannot be below.
    """
    if data.facts.source == "allocator":
        return _from_history(data, device, cuts, levels)
    sample = samples_of(data, device, "reserved")
    if not len(sample):
        return None
    return np.maximum(data.samples["reserved"][_latest(data, sample, cuts)], levels[cuts])


def samples_of(data: RecordingData, device: int, column: str) -> Array:
    """Return the rows of a device's samples that know `column`, in order of their cuts."""
    samples = data.samples
    rows = np.flatnonzero((samples["device"] == device) & (samples[column] >= 0))
    return rows[np.argsort(samples["cut"][rows], kind="stable")]


def latest_sample(data: RecordingData, device: int, column: str, cut: int) -> int:
    """Return the row of the last sample at or before a cut that knows `column`, else of the first.

    -1 where no sample knows it.
    """
    rows = samples_of(data, device, column)
    return int(_latest(data, rows, np.array([cut]))[0]) if len(rows) else -1


def _latest(data: RecordingData, rows: Array, cuts: Array) -> Array:
    before = np.searchsorted(data.samples["cut"][rows], cuts, side="right") - 1
    return rows[np.maximum(before, 0)]


def _from_history(data: RecordingData, device: int, cuts: Array, levels: Array) -> Array | None:
    kind, size = data.events["kind"], data.events["bytes"]
    here = data.events["device"] == device
    change = np.where(here & np.isin(kind, _GROWS), size, 0)
    change -= np.where(here & np.isin(kind, _SHRINKS), size, 0)
    grown = np.concatenate(([0], np.cumsum(change)))
    sample = samples_of(data, device, "reserved")
    if not len(sample) and not change.any():
        return None
    # What was reserved before the first event: by the first sample, and enough for what is in use.
    before = int((levels - grown).max())
    if len(sample):
        first = sample[0]
        known = data.samples["reserved"][first] - grown[data.samples["cut"][first]]
        before = max(before, int(known))
    held: Array = grown + before
    return held[cuts]
