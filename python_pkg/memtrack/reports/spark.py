"""A timeline at any width: the most bytes in each of as many columns as there is room for."""

from __future__ import annotations

import numpy as np

from memtrack.recording.tables import Array
from memtrack.reports.report import PhaseBands, TimelineReport

_LEVELS = " ▁▂▃▄▅▆▇█"


def column_peaks(timeline: TimelineReport, width: int) -> Array:
    """Return the most bytes allocated in each of `width` equal stretches of the timeline's cuts."""
    column = columns_of(timeline, timeline.points["cut"], width)
    peaks = np.full(width, -1, dtype=np.int64)
    np.maximum.at(peaks, column, timeline.points["allocated"].astype(np.int64))
    # A stretch without a point is inside a bucket: it shows the last point before.
    known = np.where(peaks >= 0, np.arange(width), 0)
    return peaks[np.maximum.accumulate(known)]


def columns_of(timeline: TimelineReport, cuts: Array, width: int) -> Array:
    """Return the column, of `width`, in which each cut falls."""
    first, last = (int(timeline.points["cut"][end]) for end in (0, -1))
    return np.asarray((cuts - first).astype(np.int64) * width // (last - first + 1))


def sparkline(timeline: TimelineReport, width: int) -> str:
    """Return the timeline as a line of blocks, the highest at the peak."""
    peaks = column_peaks(timeline, width)
    steps = len(_LEVELS) - 1
    # Rounded up, so that any byte shows.
    height = -(-peaks * steps // max(1, int(peaks.max())))
    return "".join(_LEVELS[level] for level in height)


def phase_line(timeline: TimelineReport, bands: PhaseBands, width: int) -> str:
    """Return the kind of phase in the middle of each column: f, b, o or a dot."""
    first, last = (int(timeline.points["cut"][end]) for end in (0, -1))
    events = first + (np.arange(width) * 2 + 1) * (last - first) // (2 * width)
    rows = np.searchsorted(bands.columns["start"], events, side="right") - 1
    return "".join("fbo·"[kind] for kind in bands.columns["kind"][rows])
