"""Fewer points of a timeline, still real cuts, still bounding every bucket and the peak."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from memtrack.analysis.timeline import alive_at
from memtrack.recording.tables import Array
from memtrack.reports.answers import LineGroups
from memtrack.reports.report import TimelineReport


def thinned_timeline(
    timeline: TimelineReport, buckets: int, most_allocations: int
) -> TimelineReport:
    """Return the timeline with at most two points in each of `buckets`, its ends and its peak.

    Of the allocations alive at these points the `most_allocations` largest are kept.
    """
    points, groups = timeline.points, timeline.groups
    kept = _extreme_points(points["cut"], points["allocated"], buckets)
    kept = np.union1d(kept, [timeline.peak_point])
    thin = {name: column[kept] for name, column in points.items()}
    first, last = (int(points["cut"][end]) for end in (0, -1))
    size = max(timeline.bucket_events, -(-(last - first + 1) // buckets))
    return dataclasses.replace(
        timeline,
        bucket_events=size,
        peak_point=int(np.searchsorted(kept, timeline.peak_point)),
        points=thin,
        categories={name: column[kept] for name, column in timeline.categories.items()},
        groups=groups and LineGroups(groups.names, [column[kept] for column in groups.bytes]),
        **_fewer_allocations(timeline, thin["cut"], most_allocations),
    )


def _extreme_points(cut: Array, allocated: Array, buckets: int) -> Array:
    """Return the points with the least and most bytes in each bucket of cuts, and both ends."""
    span = int(cut[-1] - cut[0]) + 1
    bucket = (cut - cut[0]).astype(np.int64) // max(1, -(-span // buckets))
    _, first = np.unique(bucket, return_index=True)
    extremes = []
    for sign in (1, -1):
        order = np.lexsort((sign * allocated, bucket))
        extremes.append(order[first])
    return np.unique(np.concatenate((*extremes, [0, len(cut) - 1])))


def _fewer_allocations(timeline: TimelineReport, cut: Array, most: int) -> dict[str, Any]:
    table = timeline.allocations
    start, end, size = (table[column].astype(np.int64) for column in ("start", "end", "bytes"))
    kept, omitted, omitted_bytes = alive_at(cut, start, end, size, most)
    columns = {name: column[kept] for name, column in table.items()}
    columns["site"], sites = used_values(columns["site"])
    columns["name"], names = used_values(columns["name"])
    return {
        "allocations": columns,
        "sites": [timeline.sites[row] for row in sites],
        "names": [timeline.names[row] for row in names],
        "omitted_allocations": timeline.omitted_allocations + omitted,
        # Two maxima of different sets at different points: an upper bound.
        "omitted_bytes": timeline.omitted_bytes + omitted_bytes,
    }


def used_values(references: Array) -> tuple[Array, list[int]]:
    """Return for each reference its place among those in use (-1: none), and those in use."""
    used, codes = np.unique(references, return_inverse=True)
    none = int(len(used) > 0 and used[0] == -1)
    return (codes - none).astype(np.int32), used[none:].tolist()
