"""What the caching allocator held from the device, where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrack.recording import EventKind, RecordingData
from memtrack.recording.tables import Array

DEFAULT_POOL = ""
"""The id of the pool that serves whoever has none of their own."""


@dataclass(frozen=True, slots=True, order=True)
class Pool:
    """Segments that serve the same requests: blocks are only ever reused within one pool.

    `private` is the id of a CUDA graph's or a user's own pool such as `0.1`, "" of the default one;
    `small` tells the half for blocks of up to 1 MiB; `stream` is the stream's pointer, 0 the default.
    """

    private: str
    small: bool
    stream: int

    @property
    def id(self) -> str:
        """How it is called where rankings name it: `large`, `0.1/small`, `large@7` on stream 7."""
        size = "small" if self.small else "large"
        owner = f"{self.private}/" if self.private else ""
        return f"{owner}{size}" + (f"@{self.stream:x}" if self.stream else "")


_GROWS = (EventKind.SEGMENT_ALLOC, EventKind.SEGMENT_MAP)
_SHRINKS = (EventKind.SEGMENT_FREE, EventKind.SEGMENT_UNMAP)


def reserved(data: RecordingData, device: int, cuts: Array, levels: Array) -> Array | None:
    """Return the reserved bytes at each of `cuts`, or None where no caching allocator was seen.

    `levels` are the bytes in use at every cut. Exact where the allocator's own history was recorded;
    else the last sample before the cut, raised to what is in use, which it cannot be below.
    """
    segments = segments_of(data, device)
    if len(segments):
        return held_by(data, segments)[cuts]
    if data.facts.source == "allocator":
        return _from_history(data, device, cuts, levels)
    sample = samples_of(data, device, "reserved")
    if not len(sample):
        return None
    return np.maximum(data.samples["reserved"][_latest(data, sample, cuts)], levels[cuts])


def reserved_by_pool(data: RecordingData, device: int, cuts: Array) -> tuple[Sequence[Pool], Array]:
    """Return the pools a device ever had and their reserved bytes: int64[len(cuts), len(pools)].

    Rows sum to what `reserved` gives. No pools where the recording has no history of segments.
    """
    segments = segments_of(data, device)
    pools, codes = pools_of(data, segments)
    columns = [held_by(data, segments[codes == code])[cuts] for code in range(len(pools))]
    return pools, np.array(columns, dtype=np.int64).reshape(len(pools), len(cuts)).T


def segments_of(data: RecordingData, device: int) -> Array:
    """Return the rows of a device's segments; none where there is no history of them."""
    return np.flatnonzero(data.segments["device"] == device)


def pools_of(data: RecordingData, segments: Array) -> tuple[Sequence[Pool], Array]:
    """Return the pools that some rows of segments belong to, in order, and of each row its pool."""
    columns = [data.segments[name][segments] for name in ("pool", "small", "stream")]
    keys = np.stack([column.astype(np.int64) for column in columns], axis=1)
    found, codes = np.unique(keys, axis=0, return_inverse=True)
    pools = [Pool(data.string(pool), bool(small), stream) for pool, small, stream in found.tolist()]
    order = sorted(range(len(pools)), key=pools.__getitem__)
    places = np.empty(len(pools), dtype=np.int64)
    places[order] = np.arange(len(pools))
    return [pools[row] for row in order], places[codes.reshape(-1)]


def held_by(data: RecordingData, segments: Array) -> Array:
    """Return the bytes of some segments that are held at every cut."""
    start, end, size = (data.segments[name][segments] for name in ("start", "end", "bytes"))
    change = np.zeros(data.cuts + 2, dtype=np.int64)
    np.add.at(change, start + 1, size)
    np.subtract.at(change, end + 1, size)
    return np.cumsum(change[:-1])


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
