"""The sizes of the CUDA caching allocator: what is rounded, pooled, taken and split, and how.

Pure functions of a size in bytes and the settings, after `c10/cuda/CUDACachingAllocator.cpp` (read
from torch 2.4 to 2.12). The simulator and the readers of snapshots share them.
"""

from __future__ import annotations

from memtrack.allocator.settings import DIVISION_INTERVALS, MIB, NO_DIVISIONS, Settings

MIN_BLOCK = 512
"""Bytes (kMinBlockSize): every block is a multiple, no remainder is smaller."""
SMALL_SIZE = MIB
"""Bytes (kSmallSize), inclusive: larger requests go to the large pool."""
SMALL_SEGMENT = 2 * MIB
"""Bytes (kSmallBuffer): what a small request takes from the device."""
MIN_LARGE = 10 * MIB
"""Bytes (kMinLargeAlloc), exclusive: smaller ones share a segment of `large_segment_size`."""
ROUND_LARGE = 2 * MIB
"""Bytes (kRoundLarge): segments of their own are multiples of it."""
SMALL_PAGE = SMALL_SEGMENT
"""Bytes: a page of an expandable segment of the small pool; of the large: `large_segment_size`."""


def round_size(size: int, settings: Settings) -> int:
    """Return the bytes of a block for a request of `size` bytes (round_size)."""
    if size < MIN_BLOCK:
        return MIN_BLOCK
    if settings.roundup_power2_divisions is not NO_DIVISIONS:
        divisions = settings.roundup_power2_divisions[_interval(size)]
        if divisions > 1 and size > MIN_BLOCK * divisions:
            return _next_division(size, divisions)
    return (size + MIN_BLOCK - 1) // MIN_BLOCK * MIN_BLOCK


def _interval(size: int) -> int:
    return min(max(size.bit_length() - MIB.bit_length(), 0), DIVISION_INTERVALS - 1)


def _next_division(size: int, divisions: int) -> int:
    power = 1 << (size.bit_length() - 1)
    if size == power:
        return size
    step = power // divisions
    return -(-size // step) * step if step else power * 2


def is_small(rounded: int) -> bool:
    """Return whether a block of `rounded` bytes is of the small pool (get_pool)."""
    return rounded <= SMALL_SIZE


def segment_size(rounded: int, settings: Settings) -> int:
    """Return the bytes that `cudaMalloc` is asked for to serve `rounded` (get_allocation_size)."""
    if rounded <= SMALL_SIZE:
        return SMALL_SEGMENT
    if rounded < MIN_LARGE:
        return settings.large_segment_size
    return -(-rounded // ROUND_LARGE) * ROUND_LARGE


def page_size(small: bool, settings: Settings) -> int:
    """Return the bytes of a page of an expandable segment of the small or the large pool."""
    return SMALL_PAGE if small else settings.large_segment_size


def should_split(
    block: int, rounded: int, small: bool, expandable: bool, settings: Settings
) -> bool:
    """Return whether a free `block` (bytes) handed out for `rounded` is cut in two (should_split).

    `small` is the pool of the block, `expandable` whether its segment is.
    """
    remainder = block - rounded
    if small or expandable:
        return remainder >= MIN_BLOCK
    return rounded < settings.max_split_size and remainder > SMALL_SIZE
