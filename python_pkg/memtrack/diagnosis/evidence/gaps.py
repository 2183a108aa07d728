"""Fragmentation: enough free memory in the pool that was asked, in no single piece."""

from __future__ import annotations

import numpy as np

from memtrack.allocator.rules import SMALL_SIZE
from memtrack.analysis.fragmentation import PoolState, allocator_settings
from memtrack.analysis.layout import layout_at
from memtrack.analysis.service import Service
from memtrack.analysis.sites import sites
from memtrack.analysis.totals import sum_by
from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text, text
from memtrack.units import format_bytes, format_percent
from memtrack.words import joined

CLEAR_SHARE = 0.08
"""Of what is reserved: with so much free, order would have helped for more than this one request."""
SMALL_SHARE = 0.03
GIVEN_BACK = 0.45
"""Whole segments go back to the device before a request fails: only the rest is fragmentation."""
MOST_SITES = 3
HARDLY_LESS = 0.98
LEAST_PASSES = 3
NEW_SHARE = 0.5
"""With so many of the sizes that the passes ask for asked for by one pass only, shapes change."""

_SERVED = text("Simulated with expandable_segments, the request is served")
_FAILS_TOO = text("Simulated with expandable_segments, the request fails as well")


def fragmented(now: Situation) -> Cause | None:
    """The pool had as many free bytes as were asked for, but no block that large."""
    served = now.served
    if served is None or now.reserved is None or not served.is_fragmented:
        return None
    share = served.free / max(now.reserved, 1)
    enough = served.free >= 1.25 * served.rounded
    confidence = 0.9 if share >= CLEAR_SHARE and enough else 0.75
    if share < CLEAR_SHARE:
        for_another = served.free >= 2 * served.rounded
        confidence = 0.5 if share >= SMALL_SHARE and for_another else 0.35
    pool = _pool(now, served)
    if pool is not None and pool.splinters < served.rounded:
        confidence = min(confidence, GIVEN_BACK)
    lines = [_free_but(served), *_pieces(pool), *_neighbours(now), *_sizes(now), *_expandable(now)]
    return Cause("fragmentation", confidence, title("fragmentation"), lines)


def _expandable(now: Situation) -> list[Text]:
    """Tell what segments that grow would have changed."""
    if allocator_settings(now.data).expandable_segments:
        return [text("expandable_segments is already on")]
    found = now.expandable
    if found is None or now.reserved is None:
        return []
    if found.fits is not None:
        return [_SERVED if found.fits else _FAILS_TOO]
    held = found.reserved
    if held >= HARDLY_LESS * now.reserved:
        told = format_bytes(held)
        return [
            text(
                "Simulated with expandable_segments, the allocator holds as much: {held}", held=told
            )
        ]
    return [
        text(
            "Simulated with expandable_segments, the allocator holds {simulated} at this moment"
            " instead of {reserved}",
            simulated=format_bytes(held),
            reserved=format_bytes(now.reserved),
        )
    ]


def _free_but(served: Service) -> Text:
    return text(
        "{free} is free in the pool that serves it, for {asked} asked; its largest block is {largest}",
        free=format_bytes(served.free),
        asked=format_bytes(served.rounded),
        largest=format_bytes(served.largest_free),
    )


def _pool(now: Situation, served: Service) -> PoolState | None:
    """Return the pool that had to serve the request."""
    key = (served.pool, served.small, served.stream)
    pools = () if now.pools is None else now.pools.pools
    found = (pool for pool in pools if (pool.pool, pool.small, pool.stream) == key)
    return next(found, None)


def _pieces(pool: PoolState | None) -> list[Text]:
    """Tell in how many pieces it lies, and that the device cannot have them back."""
    if pool is None:
        return []
    return [
        text(
            "It lies in {count} pieces; {stuck} ({percent}) shares its segments with blocks in"
            " use and cannot be given back",
            count=pool.free_blocks,
            stuck=format_bytes(pool.splinters),
            percent=format_percent(pool.splinters, pool.free),
        )
    ]


def _neighbours(now: Situation) -> list[Text]:
    """Tell which lines made the blocks that stand between the free pieces."""
    data, layout = now.data, layout_at(now.data, now.device, now.cut)
    beside = np.isin(layout.block_range, layout.gap_range) & ~layout.pending
    rows = layout.blocks[beside & (layout.block_range >= 0)]
    codes, names = sites(data, data.allocations["stack"][rows])
    if not names:
        return []
    size = sum_by(codes, data.allocations["bytes"][rows], len(names))
    count = np.bincount(codes + 1, minlength=len(names) + 1)[1:]
    largest = [row for row in np.argsort(-size, kind="stable")[:MOST_SITES].tolist() if size[row]]
    told = [
        text(
            "{count} of {site} ({bytes})",
            count=int(count[row]),
            site=names[row],
            bytes=_of(size[row]),
        )
        for row in largest
    ]
    return [text("Blocks in use that stand between: {sites}", sites=joined(told))] if told else []


def _of(size: np.int64) -> str:
    return format_bytes(int(size))


def _sizes(now: Situation) -> list[Text]:
    """Tell whether blocks of ever new sizes were asked for, as changing shapes do."""
    start, end = now.passes.start, now.passes.end
    if now.passes.count < LEAST_PASSES:
        return []
    table = now.data.allocations
    large = (table["device"] == now.device) & (table["bytes"] > SMALL_SIZE)
    begun, size = table["start"][large], table["bytes"][large]
    inside = (begun >= start[0]) & (begun < now.cut)
    step = np.searchsorted(end, begun[inside], side="right")
    pairs = np.unique(np.stack((step, size[inside]), axis=1), axis=0)
    per_pass = float(np.median(np.bincount(pairs[:, 0]))) if len(pairs) else 0.0
    different = len(np.unique(pairs[:, 1]))
    if not per_pass or different < NEW_SHARE * len(pairs):
        return []
    return [
        text(
            "{sizes} different sizes of large blocks were asked for in {passes} passes, about {each} in"
            " one: shapes change from pass to pass",
            sizes=different,
            passes=now.passes.count,
            each=round(per_pass),
        )
    ]
