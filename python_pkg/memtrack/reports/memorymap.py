"""Where the blocks lie in the allocator's segments at the peak, for a map of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtrack.analysis.layout import layout_at
from memtrack.analysis.sites import sites
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array
from memtrack.reports.answers import MemoryMap, PoolReport
from memtrack.reports.thin import used_values

MOST_BLOCKS = 20_000


def memory_map(
    data: RecordingData, device: int, cut: int, pools: Sequence[PoolReport]
) -> MemoryMap | None:
    """Return the map at a cut; None where nothing is known of the segments."""
    if not pools:
        return None
    found, table = layout_at(data, device, cut), data.allocations
    ranges = found.ranges
    place = {(pool.pool, pool.small, pool.stream): row for row, pool in enumerate(pools)}
    pool = np.array([place[one.private, one.small, one.stream] for one in ranges.pools])[
        ranges.pool
    ]
    size = (ranges.end - ranges.start).astype(np.int64)
    # As they are drawn: pool by pool, the largest segment first.
    order = np.lexsort((-size, pool))
    rank = np.append(np.argsort(order), -1)
    inside = np.flatnonzero(found.block_range >= 0)
    rows, segment = found.blocks[inside], found.block_range[inside]
    offset = (table["address"][rows] - ranges.start[segment]).astype(np.int64)
    by_place = np.lexsort((offset, rank[segment]))
    rows = rows[by_place]
    site, names = sites(data, table["stack"][rows])
    whole = MemoryMap(
        segments={
            "bytes": size[order],
            "pool": pool[order].astype(np.int32),
            "expandable": ranges.expandable[order],
        },
        blocks={
            "segment": rank[segment][by_place].astype(np.int32),
            "offset": offset[by_place],
            "bytes": table["bytes"][rows],
            "category": table["category"][rows],
            "layer": table["layer"][rows],
            "site": site,
            "pending": found.pending[inside][by_place],
        },
        sites=names,
    )
    return with_fewer_blocks(whole, MOST_BLOCKS)


def with_fewer_blocks(whole: MemoryMap, most: int) -> MemoryMap | None:
    """Return the map of the largest segments that have at most `most` blocks together.

    A segment is there with all of its blocks or not at all: what is empty in the map is free. None
    where not even one fits.
    """
    size, segment = whole.segments["bytes"], whole.blocks["segment"]
    if len(segment) + len(size) <= most:
        return whole
    cost = np.bincount(segment, minlength=len(size)) + 1
    largest = np.argsort(-size, kind="stable")
    kept = np.zeros(len(size), dtype=bool)
    kept[largest[np.cumsum(cost[largest]) <= most]] = True
    if not kept.any():
        return None
    rows = np.flatnonzero(kept[segment])
    blocks = {name: column[rows] for name, column in whole.blocks.items()}
    blocks["segment"] = (np.cumsum(kept) - 1)[blocks["segment"]].astype(np.int32)
    blocks["site"], used = used_values(blocks["site"])
    return MemoryMap(
        segments={name: column[kept] for name, column in whole.segments.items()},
        blocks=blocks,
        sites=[whole.sites[row] for row in used],
        omitted=whole.omitted + int((~kept).sum()),
        omitted_bytes=whole.omitted_bytes + int(size[~kept].sum()),
    )


def placed_blocks(whole: MemoryMap, place: Array) -> MemoryMap:
    """Return the map with its layers renumbered: `place[row]` is the new row."""
    blocks = {**whole.blocks, "layer": place[whole.blocks["layer"]]}
    return MemoryMap(whole.segments, blocks, whole.sites, whole.omitted, whole.omitted_bytes)
