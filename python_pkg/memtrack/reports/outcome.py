"""Sentences on what a recording without layers is of, how it ended, and its cache."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memtrack.analysis import allocated
from memtrack.analysis.device import DeviceAnalysis
from memtrack.analysis.reserved import reserved
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import sum_by
from memtrack.i18n import Text, text
from memtrack.recording import EventKind
from memtrack.recording.tables import Array
from memtrack.reports.words import joined
from memtrack.units import format_bytes, format_duration, format_percent

MOST_SITES = 3
SHARE_OF_A_SITE = 0.05
SHARE_OF_CACHE = 0.1
SHARE_OF_SPLINTERS = 0.5
"""Of the cache: with more, `empty_cache` is of little help."""
LEAST_SPLINTERS = 64 << 20
"""The rest of a segment or two: every run has as much."""


def is_unstructured(analysis: DeviceAnalysis) -> bool:
    """Tell whether nothing is known of layers, as in a snapshot made by torch."""
    data = analysis.data
    return data.facts.evidence == "opened" and not len(data.layers)


def moment_headline(analysis: DeviceAnalysis) -> Text:
    """Return how high the peak is and when in the recording it was."""
    peak, data = analysis.peak, analysis.data
    values = {
        "peak": format_bytes(peak.bytes),
        "event": f"{peak.cut:,}",
        "events": f"{data.cuts:,}",
    }
    if peak.time_ns > 0:
        return text(
            "Peak {peak}, {time} into the recording (event {event} of {events})",
            time=format_duration(peak.time_ns),
            **values,
        )
    return text("Peak {peak}, event {event} of {events}", **values)


def nothing_used(analysis: DeviceAnalysis) -> Text:
    """Return the answer for a device on which nothing was ever in use: what failed, what is held."""
    failure = out_of_memory(analysis)
    if failure is not None:
        return failure
    data, device = analysis.data, analysis.device
    held = reserved(data, device, np.arange(data.cuts + 1), allocated(data, device))
    most = 0 if held is None else int(held.max())
    if most:
        return text(
            "Nothing was in use; {bytes} is reserved by the allocator", bytes=format_bytes(most)
        )
    return text("No memory was seen on this device")


def out_of_memory(analysis: DeviceAnalysis) -> Text | None:
    """Tell what was asked for when memory ran out last, where, and what there was."""
    data, device = analysis.data, analysis.device
    events = data.events
    failed = np.flatnonzero((events["kind"] == EventKind.OOM) & (events["device"] == device))
    if not len(failed):
        return None
    cut, asked = int(failed[-1]), int(events["bytes"][failed[-1]])
    site, free = _failure(analysis)
    values = {
        "what": text("Out of memory at {site}", site=site) if site else text("Out of memory"),
        "asked": format_bytes(asked),
        "in_use": format_bytes(int(allocated(data, device)[cut])),
    }
    served = None if analysis.when_full is None else analysis.when_full.served
    if served is not None and served.is_fragmented:
        return text(
            "{what}: {asked} was asked for with {in_use} in use; {free} was free in its pool of the"
            " allocator, but no block of it larger than {largest}",
            free=format_bytes(served.free),
            largest=format_bytes(served.largest_free),
            **values,
        )
    if free >= max(asked, 0 if served is None else served.from_device):
        return text(
            "{what}: {asked} was asked for with {in_use} in use, though the device had {free} free,"
            " as where this process has a limit",
            free=format_bytes(free),
            **values,
        )
    if free >= 0:
        return text(
            "{what}: {asked} was asked for with {in_use} in use; the device had {free} free",
            free=format_bytes(free),
            **values,
        )
    return text("{what}: {asked} was asked for with {in_use} in use", **values)


def _failure(analysis: DeviceAnalysis) -> tuple[str, int]:
    """Return the line of the last failed request, "" if unknown, and the device's free bytes, -1."""
    failures = analysis.data.facts.extra.get("failures")
    found = failures.get(str(analysis.device)) if isinstance(failures, Mapping) else None
    if not isinstance(found, Mapping):
        return "", -1
    stack, free = (_whole(found.get(name)) for name in ("stack", "device_free"))
    if not 0 <= stack < len(analysis.data.stacks):
        return "", free
    _, names = sites(analysis.data, np.array([stack]))
    return names[0], free


def _whole(value: object) -> int:
    """Return a whole number of a file, -1 for anything else."""
    return value if isinstance(value, int) else -1


def largest_sites(analysis: DeviceAnalysis, rows: Array) -> Text | None:
    """Tell which source lines allocated most of what is alive at the peak."""
    data, table = analysis.data, analysis.data.allocations
    codes, names = sites(data, table["stack"][rows])
    if not names:
        return text("The file does not tell which lines of code allocated the memory")
    size = sum_by(codes, table["bytes"][rows], len(names))
    peak = analysis.peak.bytes
    largest = [
        int(row)
        for row in np.argsort(-size, kind="stable")[:MOST_SITES]
        if size[row] >= SHARE_OF_A_SITE * peak
    ]
    if not largest:
        return None
    shares = [
        text(
            "{site} {bytes} ({percent})",
            site=names[row],
            bytes=format_bytes(int(size[row])),
            percent=format_percent(int(size[row]), peak),
        )
        for row in largest
    ]
    return text("Most of it was allocated at: {sites}", sites=joined(shares))


def cached(analysis: DeviceAnalysis) -> Text | None:
    """Tell of memory that is reserved and not in use, and whether it could be given back."""
    cache = sum(part.bytes for part in analysis.ledger.parts if part.id == "cache")
    if cache < SHARE_OF_CACHE * (cache + analysis.peak.bytes):
        return None
    found = analysis.fragmentation
    if found is None or found.splinters < max(LEAST_SPLINTERS, SHARE_OF_SPLINTERS * cache):
        return text(
            "{bytes} more is reserved by the allocator and not in use", bytes=format_bytes(cache)
        )
    return text(
        "{bytes} more is reserved by the allocator and not in use; {splinters} of it cannot be given"
        " back, and its largest block is {largest}",
        bytes=format_bytes(cache),
        splinters=format_bytes(found.splinters),
        largest=format_bytes(max(pool.largest_free for pool in found.pools)),
    )
