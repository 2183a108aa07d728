"""Which layer holds the most at each of many moments."""

from __future__ import annotations

import numpy as np

from memtrack.analysis.ranges import first_cover
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array


def largest_layers(data: RecordingData, device: int, cuts: Array) -> tuple[Array, Array]:
    """Return for each of `cuts` the layer whose own allocations are the most bytes, and these bytes.

    Of equals the first in the table of layers; -1 and 0 where no layer holds anything.
    """
    moments, place = np.unique(cuts, return_inverse=True)
    layer, low, high, size = _stays(data, device, moments)
    best = first_cover(len(moments), low, high)[place]
    return np.append(layer, -1)[best], np.append(size, 0)[best]


def _stays(data: RecordingData, device: int, moments: Array) -> tuple[Array, Array, Array, Array]:
    """Return how long each layer holds how much: (layer, first moment, end, bytes), most bytes first."""
    table = data.allocations
    rows = np.flatnonzero(
        (table["device"] == device) & (table["layer"] >= 0) & (table["bytes"] > 0)
    )
    low = np.searchsorted(moments, table["start"][rows], side="right")
    high = np.searchsorted(moments, table["end"][rows], side="right")
    met = low < high
    layer, size = table["layer"][rows][met].astype(np.int64), table["bytes"][rows][met]
    # A change is a layer and a moment in one number; all that a layer holds is gone at the last.
    places = len(moments) + 1
    keys = np.concatenate((layer * places + low[met], layer * places + high[met]))
    order = np.argsort(keys, kind="stable")
    held = np.cumsum(np.concatenate((size, -size))[order])
    last = np.flatnonzero(np.diff(keys[order], append=-1))  # of several changes at one moment
    key, held = keys[order][last], held[last]
    kept = np.flatnonzero(held > 0)
    kept = kept[np.argsort(-held[kept], kind="stable")]
    return key[kept] // places, key[kept] % places, key[kept + 1] % places, held[kept]
