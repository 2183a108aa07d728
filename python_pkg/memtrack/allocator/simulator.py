"""The CUDA caching allocator as a simulator: what it reserves for a sequence of requests.

After `c10/cuda/CUDACachingAllocator.cpp` (read from torch 2.4 to 2.12): best fit by stream, size and
address; small, large and private pools; splitting and merging; expandable segments; rounding to
divisions of powers of two; `max_split_size`; garbage collection below a memory fraction; and, when
the device is full, giving back cached blocks and trying again. Private pools of graphs take part in
expandable segments as in torch 2.6 and later.

    allocator = CachingAllocator(Settings(), capacity=80 << 30)
    block = allocator.malloc(3 << 20)
    allocator.free(block)
    allocator.reserved  # 20 MiB
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator

from memtrack.allocator import rules
from memtrack.allocator.blocks import (
    ADDRESS_BITS,
    FREE,
    LIVE,
    PENDING,
    UNMAPPED,
    Block,
    Group,
)
from memtrack.allocator.reserve import Reserve
from memtrack.allocator.settings import UNLIMITED, Settings
from memtrack.errors import MemtrackError
from memtrack.i18n import text
from memtrack.units import format_bytes


class SimulatedOutOfMemory(MemtrackError):
    """The simulated device had no room; sizes in bytes. The allocator goes on as torch's would."""

    def __init__(self, requested: int, wanted: int, reserved: int, allocated: int) -> None:
        super().__init__(
            text(
                "{wanted} cannot be reserved on the simulated device: {reserved} are reserved already.",
                wanted=format_bytes(wanted),
                reserved=format_bytes(reserved),
            )
        )
        self.requested = requested
        self.wanted = wanted
        """What the device was asked for: the size in torch's own message."""
        self.reserved = reserved
        self.allocated = allocated


class CachingAllocator(Reserve):
    """One device. All sizes in bytes; `capacity` is what the device can give, None: no limit.

    `total` is the whole device, of which `settings.memory_fraction` is a share; `capacity` if left out.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        capacity: int | None = None,
        total: int | None = None,
    ) -> None:
        super().__init__(settings or Settings(), capacity, total)
        self.retries = 0
        """Times the cache was given back because the device was full (num_alloc_retries)."""
        self._freeable: set[Hashable] = {None}
        self.synchronized = 0
        """Times that all streams were waited for: blocks freed later until then are free."""
        self._pending: dict[Block, None] = {}
        self._allowed = self._allowed_bytes()
        self._collects = self.settings.garbage_collection_threshold > 0 and self._allowed >= 0
        plain = self.settings.max_split_size == UNLIMITED and not self.settings.expandable_segments
        self._plain = plain and not self._collects
        self._rounded: dict[int, int] = {}

    def _allowed_bytes(self) -> int:
        fraction = self.settings.memory_fraction
        return -1 if fraction is None or self.total is None else int(fraction * self.total)

    def malloc(self, size: int, stream: int = 0, pool: Hashable = None) -> Block:
        """Hand out a block for `size` bytes; `pool` is None or the id of a private pool.

        Raises SimulatedOutOfMemory where torch would raise OutOfMemoryError.
        """
        rounded = self._rounded.get(size)
        if rounded is None:
            rounded = self._rounded[size] = rules.round_size(size, self.settings)
        small = rounded <= rules.SMALL_SIZE
        group = self._groups.get((pool, small, stream)) or self._group(pool, small, stream)
        block = self._cached(group, rounded) or self._fresh(group, size, rounded)
        rest = block.size - rounded
        if rest and self._splits(block, rounded, rest, small):
            remainder = block.cut(rounded, FREE)
            remainder.born = group.pool.searches
            group.insert(remainder)
        block.state = LIVE
        block.requested = size
        self.allocated += block.size
        if self.allocated > self.peak_allocated:
            self.peak_allocated = self.allocated
        return block

    def free(self, block: Block) -> None:
        """Take a block back; it can be handed out again at once."""
        if block.state == LIVE:
            self.allocated -= block.size
        elif block.state == PENDING:
            del self._pending[block]
        else:
            raise ValueError(f"{block!r} is not handed out")
        block.state = FREE
        group = block.segment.group
        following = block.next
        if following is not None and following.state == FREE:
            group.remove(following)
            block.absorb_next()
        before = block.previous
        if before is not None and before.state == FREE:
            group.remove(before)
            before.absorb_next()
            block = before
        block.born = group.pool.searches
        group.insert(block)

    def free_later(self, block: Block) -> None:
        """Take a block back that another stream still uses: reusable after `free` or `synchronize`.

        The allocator synchronizes when it gives back its cache; a block is not to be freed after that.
        """
        if block.state != LIVE:
            raise ValueError(f"{block!r} is not handed out")
        self.allocated -= block.size
        block.state = PENDING
        self._pending[block] = None

    def synchronize(self) -> None:
        """Wait for every stream: what was freed later is free."""
        self.synchronized += 1
        for block in tuple(self._pending):
            self.free(block)

    def empty_cache(self) -> None:
        """Give back all that no live block holds, as `torch.cuda.empty_cache()` does."""
        self.synchronize()
        for group in tuple(self._groups.values()):
            if group.pool.identifier in self._freeable:
                self._release_all(group)

    def has_room(self, size: int, stream: int = 0, pool: Hashable = None) -> bool:
        """Whether the cache can serve a request, so that nothing is asked of the device."""
        rounded = rules.round_size(size, self.settings)
        group = self._groups.get((pool, rounded <= rules.SMALL_SIZE, stream))
        return group is not None and self._fit(group, rounded) >= 0

    def release_pool(self, pool: Hashable) -> None:
        """Say that the graphs of a private pool are gone: its cached memory may be given back."""
        self._freeable.add(pool)

    def live_blocks(self) -> Iterator[Block]:
        """Go through what is handed out, by address."""
        for segment in self.segments():
            yield from (block for block in segment.blocks() if block.state == LIVE)

    # ------------------------------------------------------------------ finding a block

    def _cached(self, group: Group, rounded: int) -> Block | None:
        """Take the best fit off the free list (get_free_block)."""
        if self._collects:
            group.pool.searches += 1
        place = self._fit(group, rounded)
        if place < 0:
            return None
        del group.keys[place]
        return group.blocks.pop(place)

    def _fit(self, group: Group, rounded: int) -> int:
        """Return the place of the best fit on the free list, -1 where there is none."""
        place = bisect_left(group.keys, rounded << ADDRESS_BITS)
        if place == len(group.keys):
            return -1
        blocks = group.blocks
        if not self._plain or blocks[place].segment.expandable:
            place = self._choose(blocks, place)
            if place < 0 or self._too_large(blocks[place].size, rounded):
                return -1
        return place

    def _choose(self, blocks: list[Block], place: int) -> int:
        """Return which block to take, from the best fit on; -1: none of them."""
        if not blocks[place].segment.expandable:
            return place
        if not self.settings.expandable_segments:
            while place < len(blocks) and blocks[place].segment.expandable:
                place += 1
            return place if place < len(blocks) else -1
        while (
            blocks[place].segment.expandable
            and place + 1 < len(blocks)
            and _expandable_size(blocks[place + 1]) < _expandable_size(blocks[place])
        ):
            place += 1
        return place

    def _too_large(self, size: int, rounded: int) -> bool:
        limit = self.settings.max_split_size
        if rounded < limit:
            return size >= limit
        return size >= rounded + self.settings.max_non_split_rounding

    def _splits(self, block: Block, rounded: int, rest: int, small: bool) -> bool:
        if self._plain and not block.segment.expandable:  # the rule without its call
            return small or rest > rules.SMALL_SIZE
        on = self.settings.expandable_segments
        return rules.should_split(block.size, rounded, small, on, self.settings)

    # ------------------------------------------------------------------ asking the device

    def _fresh(self, group: Group, size: int, rounded: int) -> Block:
        """Take memory from the device, giving back the cache where that helps (malloc)."""
        if self._collects:
            self._collect_garbage()
        block = self._take(group, rounded)
        if block is None and self._release_fitting(group, rounded):
            block = self._take(group, rounded)
        if block is None:
            self.empty_cache()
            self.retries += 1
            block = self._take(group, rounded)
        if block is None:
            wanted = rules.segment_size(rounded, self.settings)
            raise SimulatedOutOfMemory(size, wanted, self.reserved, self.allocated)
        return block

    def _take(self, group: Group, rounded: int) -> Block | None:
        """Take a segment or pages for `rounded` bytes, None where the device is full (alloc_block)."""
        size = rules.segment_size(rounded, self.settings)
        if 0 <= self._allowed < self.reserved + size:
            return None
        if self.settings.expandable_segments:
            return self._take_pages(group, rounded)
        return self._take_segment(group, size)

    # ------------------------------------------------------------------ giving back

    def _release_fitting(self, group: Group, rounded: int) -> bool:
        """Give back oversize blocks, no more than needed (release_available_cached_blocks)."""
        limit = self.settings.max_split_size
        if limit == UNLIMITED:
            return False
        size = max(rounded, limit)
        whole = [b for b in group.blocks if b.whole and not b.segment.expandable]
        fitting = next((block for block in whole if block.size >= size), None)
        if fitting is not None:
            self._release(fitting)
            return True
        released = 0
        for block in reversed(whole):
            if released >= size or block.size < limit:
                break
            released += block.size
            self._release(block)
        return released >= size

    def _collect_garbage(self) -> None:
        """Give back large blocks older than the average (garbage_collect_cached_blocks)."""
        threshold = int(self.settings.garbage_collection_threshold * self._allowed)
        target = self.reserved - threshold
        large = self._pools.get((None, False))
        if target <= 0 or large is None:
            return
        idle = [
            (large.searches - block.born, block)
            for other in self._groups.values()
            if other.pool is large
            for block in other.blocks
            if block.whole and not block.segment.expandable
        ]
        while target > 0 and idle:
            average = sum(age for age, _ in idle) / len(idle)
            old = [block for age, block in idle if age >= average]
            idle = [(age, block) for age, block in idle if age < average]
            for block in old:
                target -= block.size
                self._release(block)


def _expandable_size(block: Block) -> int:
    following = block.next
    room = following.size if following is not None and following.state == UNMAPPED else 0
    return block.size + room
