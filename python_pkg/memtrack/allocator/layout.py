"""What each block was charged, told from where it lay: a guided replay with the real addresses.

A trace says what was asked for. The allocator charges more where the rest of a large free block was
not worth a block of its own: 1 MiB or less beside a large block is not split off. No free block of
the large pool is ever that small, so whatever lies between the end of a large request and the next
block alive, or the end of its segment, belongs to the block if it is 1 MiB or less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.allocator.rules import MIN_BLOCK, SMALL_SIZE, round_size
from memtrack.allocator.settings import NO_DIVISIONS, Settings
from memtrack.recording.tables import Array

_MIB_BITS = np.uint64(20)
_NONE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Lives:
    """Things at addresses for a while: from the event `start` (-1: before all) to the event `end`.

    `address` is uint64, `size` int64 bytes, what was rounded or what is known.
    """

    address: Array
    size: Array
    start: Array
    end: Array

    def __getitem__(self, rows: Array) -> Lives:
        return Lives(self.address[rows], self.size[rows], self.start[rows], self.end[rows])


def rounded_sizes(requested: Array, settings: Settings) -> Array:
    """Return the bytes of a block for each request: `rules.round_size` of many sizes."""
    if settings.roundup_power2_divisions is NO_DIVISIONS:
        rounded: Array = np.maximum(-(-requested // MIN_BLOCK), 1) * MIN_BLOCK
        return rounded
    sizes, codes = np.unique(requested, return_inverse=True)
    table = np.array([round_size(size, settings) for size in sizes.tolist()], dtype=np.int64)
    return np.asarray(table[codes])


def charged_sizes(
    blocks: Lives, known: Array, segments: Lives, expandable: Array, settings: Settings
) -> Array:
    """Return what each block was charged, bytes: its size and the rest that was not split off.

    `blocks` end when their memory can be used again. Sizes of `known` ones are right already.
    `expandable` tells which segments are ranges of expandable ones, in which all rests are split.
    """
    charged: Array = blocks.size.copy()
    large = blocks.size > SMALL_SIZE
    asking = np.flatnonzero(large & ~known)
    if settings.expandable_segments or not len(asking) or not len(segments.address):
        return charged
    if expandable.any():
        asking = asking[~_lie_in(blocks[asking], segments[expandable])]
    beyond = blocks.address[asking] + blocks.size[asking].astype(np.uint64)
    begun = blocks.start[asking]
    ends = _Places(segments.address + segments.size.astype(np.uint64), segments)
    farthest = np.full(len(asking), SMALL_SIZE)
    farthest[blocks.size[asking] >= settings.max_split_size] = np.iinfo(np.int64).max
    rest = _to_segment_end(beyond, begun, ends, farthest)
    rest = np.minimum(rest, _to_next_block(beyond, begun, blocks[large]))
    charged[asking] += np.where(rest < _NONE, rest, 0)
    return charged


class _Places:
    """Lives by where they are, to ask which of them were there at an event.

    Those that began at one place take turns: only the latest to begin may still be there.
    """

    def __init__(self, place: Array, lives: Lives) -> None:
        self.place, rank = np.unique(place, return_inverse=True)
        self._events = int(max(lives.end.max(initial=0), lives.start.max(initial=0))) + 2
        keys = rank * self._events + lives.start + 1
        order = np.argsort(keys)
        self._keys, self._end, self._order = keys[order], lives.end[order], order

    def at(self, rank: Array, event: Array) -> Array:
        """Return the row of the life at each rank of `place` while an event happened; -1: none."""
        begin = rank * self._events
        found = np.searchsorted(self._keys, begin + event + 1, side="right") - 1
        there = (found >= 0) & (self._keys[found] >= begin) & (self._end[found] > event)
        return np.where(there, self._order[found], -1)


def _to_next_block(beyond: Array, event: Array, blocks: Lives) -> Array:
    """Return the bytes from each address to the next block there at an event, `_NONE` past 1 MiB.

    Large blocks are larger than 1 MiB, so never do two of them begin in the same MiB at a time.
    """
    bucket = blocks.address >> _MIB_BITS
    places = _Places(bucket, blocks)
    nearest = np.full(len(beyond), _NONE)
    for later in range(2):
        wanted = (beyond >> _MIB_BITS) + np.uint64(later)
        rank = np.minimum(np.searchsorted(places.place, wanted), len(places.place) - 1)
        asking = np.flatnonzero((places.place[rank] == wanted) & (nearest == _NONE))
        found = places.at(rank[asking], event[asking])
        gap = blocks.address[found].astype(np.int64) - beyond[asking].astype(np.int64)
        near = (found >= 0) & (gap >= 0) & (gap <= SMALL_SIZE)
        nearest[asking[near]] = gap[near]
    return nearest


def _to_segment_end(beyond: Array, event: Array, ends: _Places, farthest: Array) -> Array:
    """Return the bytes from each address to the next end of a segment, `_NONE` past `farthest`."""
    nearest = np.full(len(beyond), _NONE)
    rank = np.searchsorted(ends.place, beyond)
    left = np.arange(len(beyond))
    while True:
        left = left[rank[left] < len(ends.place)]
        gap = ends.place[rank[left]] - beyond[left]
        near = gap <= farthest[left].astype(np.uint64)
        left, gap = left[near], gap[near].astype(np.int64)
        if not len(left):
            return nearest
        met = ends.at(rank[left], event[left]) >= 0
        nearest[left[met]] = gap[met]
        left = left[~met]
        rank[left] += 1


def _lie_in(blocks: Lives, segments: Lives) -> Array:
    """Return which blocks begin in one of the segments that were there when they did."""
    places = _Places(segments.address, segments)
    inside = np.zeros(len(blocks.address), dtype=bool)
    rank = np.searchsorted(places.place, blocks.address, side="right") - 1
    left = np.flatnonzero(rank >= 0)
    while len(left):
        found = places.at(rank[left], blocks.start[left])
        there = found >= 0
        offset = blocks.address[left] - places.place[rank[left]]
        covered = offset < segments.size[found].astype(np.uint64)
        inside[left[there & covered]] = True
        # What is there but ends before the block does not hide anything behind it: ranges are apart.
        left = left[~there]
        rank[left] -= 1
        left = left[rank[left] >= 0]
    return inside
