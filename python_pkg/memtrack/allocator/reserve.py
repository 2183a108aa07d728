"""What the simulated allocator holds of a device: segments, address space, their free lists.

The mechanics without the policy: taking segments and pages, giving them back, where they lie, what
they sum to. `simulator.py` decides when.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Hashable, Iterable, Iterator

from memtrack.allocator import expandable, rules
from memtrack.allocator.blocks import FREE, LIVE, UNMAPPED, Block, Group, Pool, Segment
from memtrack.allocator.settings import UNLIMITED, Settings
from memtrack.recording.categories import EventKind

FIRST_ADDRESS = 1 << 56
"""Where addresses of our own begin: above all that a device hands out, so that both can be mixed."""
ADDRESS_SPACE = 1 << 47
"""Bytes of an expandable segment's address space where the size of the device is not known."""


class Reserve:
    """The memory of one device that is reserved. All sizes in bytes."""

    def __init__(self, settings: Settings, capacity: int | None, total: int | None) -> None:
        self.settings = settings
        self.capacity = UNLIMITED if capacity is None else capacity
        self.total = capacity if total is None else total
        self.reserved = 0
        """Bytes of segments and mapped pages."""
        self.allocated = 0
        """Bytes of blocks handed out."""
        self.peak_reserved = 0
        self.peak_allocated = 0
        self.log: Callable[[EventKind, int, int, int], object] | None = None
        """Told (kind, address, bytes, stream) of each segment or range taken or given back."""
        self._segments: dict[int, Segment] = {}
        self._order: list[int] = []
        """Addresses of the segments, ascending."""
        self._groups: dict[tuple[Hashable, bool, int], Group] = {}
        self._pools: dict[tuple[Hashable, bool], Pool] = {}
        self._next_address = FIRST_ADDRESS
        self._hint = (-1, 0)

    def release_at(self, address: int) -> bool:
        """Give back the segment at `address`; return whether there was one, free and not expandable."""
        segment = self._segments.get(address)
        if segment is None or segment.expandable or not _is_idle(segment.head):
            return False
        self._release(segment.head)
        return True

    def expect(self, address: int, size: int) -> None:
        """Place the next segment at `address` if it is of `size` bytes, as it was recorded."""
        self._hint = (address, size)

    def segments(self) -> Iterator[Segment]:
        """Go through the segments by address."""
        for address in tuple(self._order):
            yield self._segments[address]

    def adopt(
        self,
        address: int,
        ranges: Iterable[tuple[int, int]],
        small: bool,
        stream: int = 0,
        pool: Hashable = None,
        expandable_segment: bool = False,
    ) -> Segment:
        """Take over a segment that was there before, free; `carve` hands out its blocks.

        `ranges` are its mapped (address, bytes): one, all of it, unless it is expandable.
        """
        group = self._groups.get((pool, small, stream)) or self._group(pool, small, stream)
        if address in self._segments:  # two at one place: the recording is damaged
            address = self._address_for(0)
        if not expandable_segment:
            size = sum(size for _, size in ranges)
            return self._add(group, address, size)
        segment = self._reserve_space(group, address)
        for begin, size in ranges:
            block = _block_at(segment, begin)
            if block.address < begin:
                block = block.cut(begin - block.address, UNMAPPED)
                group.insert_unmapped(block)
            size = min(size, block.size)
            self._count(size, EventKind.SEGMENT_MAP, begin, stream)
            expandable.map_block(block, size)
        return segment

    def carve(self, segment: Segment, address: int, size: int, requested: int) -> Block | None:
        """Hand out `size` bytes at `address` of an adopted segment; None where they are not free."""
        block = _block_at(segment, address)
        if block.state != FREE or block.address + block.size < address + size:
            return None
        group = segment.group
        group.remove(block)
        if block.address < address:
            rest = block.cut(address - block.address, FREE)
            group.insert(block)
            block = rest
        if block.size > size:
            group.insert(block.cut(size, FREE))
        block.state = LIVE
        block.requested = requested
        self.allocated += size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    # ------------------------------------------------------------------ taking

    def _take_segment(self, group: Group, size: int) -> Block | None:
        if self.reserved + size > self.capacity:
            return None
        segment = self._add(group, self._address_for(size), size)
        group.remove(segment.head)
        return segment.head

    def _take_pages(self, group: Group, rounded: int) -> Block | None:
        block = expandable.place_for(group, rounded)
        if block is None:
            block = self._reserve_space(group, self._address_for(0)).head
        while block.state == UNMAPPED or block.size < rounded:
            unmapped = block if block.state == UNMAPPED else block.next
            assert unmapped is not None
            missing = rounded - (0 if unmapped is block else block.size)
            mapped = expandable.mapped_size(unmapped, missing)
            if self.reserved + mapped > self.capacity:
                return None
            self._count(mapped, EventKind.SEGMENT_MAP, unmapped.address, group.stream)
            block = expandable.map_block(unmapped, mapped)
            block.born = group.pool.searches
        group.remove(block)
        return block

    def _add(self, group: Group, address: int, size: int) -> Segment:
        segment = self._enter(Segment(group, address, size))
        segment.head.born = group.pool.searches
        group.insert(segment.head)
        self._count(size, EventKind.SEGMENT_ALLOC, address, group.stream)
        return segment

    def _reserve_space(self, group: Group, address: int) -> Segment:
        page = rules.page_size(group.small, self.settings)
        space = ADDRESS_SPACE if self.total is None else self.total + self.total // 8
        segment = self._enter(Segment(group, address, max(-(-space // page), 1) * page, page))
        group.insert_unmapped(segment.head)
        return segment

    def _address_for(self, size: int) -> int:
        """Return the address expected for a segment of `size` bytes, else one of our own."""
        address, expected = self._hint
        self._hint = (-1, 0)
        if size and size == expected and self._is_vacant(address, size):
            return address
        address = self._next_address
        # Address space of expandable segments is larger than any device.
        self._next_address += size or ADDRESS_SPACE * 2
        return address

    def _is_vacant(self, address: int, size: int) -> bool:
        place = bisect_right(self._order, address)
        if place < len(self._order) and self._order[place] < address + size:
            return False
        before = self._segments[self._order[place - 1]] if place else None
        return before is None or before.address + before.size <= address

    # ------------------------------------------------------------------ giving back

    def _release_all(self, group: Group) -> None:
        for block in tuple(group.blocks):
            segment = block.segment
            if not segment.expandable:
                if block.whole:
                    self._release(block)
                continue
            address, size = expandable.pages_inside(block)
            if size:
                expandable.unmap_block(block)
                self._count(-size, EventKind.SEGMENT_UNMAP, address, group.stream)
                if segment.head.state == UNMAPPED and segment.head.whole:
                    group.unmapped.remove(segment.head)
                    self._leave(segment)

    def _release(self, block: Block) -> None:
        """Give back the segment that is this one free block (release_block)."""
        segment = block.segment
        segment.group.remove(block)
        self._leave(segment)
        stream = segment.group.stream
        self._count(-segment.size, EventKind.SEGMENT_FREE, segment.address, stream)

    # ------------------------------------------------------------------ book-keeping

    def _enter(self, segment: Segment) -> Segment:
        self._segments[segment.address] = segment
        insort(self._order, segment.address)
        return segment

    def _leave(self, segment: Segment) -> None:
        del self._segments[segment.address]
        del self._order[bisect_left(self._order, segment.address)]

    def _count(self, size: int, kind: EventKind, address: int, stream: int) -> None:
        self.reserved += size
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        if self.log is not None:
            self.log(kind, address, abs(size), stream)

    def _group(self, identifier: Hashable, small: bool, stream: int) -> Group:
        pool = self._pools.setdefault((identifier, small), Pool(identifier, small))
        group = self._groups[identifier, small, stream] = Group(pool, stream)
        return group


def _is_idle(block: Block) -> bool:
    return block.state == FREE and block.whole


def _block_at(segment: Segment, address: int) -> Block:
    found = segment.head
    for block in segment.blocks():
        if block.address > address:
            break
        found = block
    return found
