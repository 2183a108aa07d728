"""What the simulated allocator is made of: blocks, the segments they are cut from, free lists.

Blocks of one segment are a chain in the order of their addresses. A block that merges goes into the
one before it, so the first block of a segment stays the same object for as long as the segment lives.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator

ADDRESS_BITS = 64
"""A key of a free list is `size << ADDRESS_BITS | address`: best fit, the lowest address first."""

FREE, LIVE, PENDING, UNMAPPED = range(4)
"""States: cached; handed out; freed but waiting for a stream; address space without memory."""


class Segment:
    """Memory taken from the device at once, or the address space of an expandable segment."""

    __slots__ = ("address", "expandable", "group", "head", "page", "size")

    def __init__(self, group: Group, address: int, size: int, page: int = 0) -> None:
        self.group = group
        self.address = address
        self.size = size
        """Bytes; of an expandable segment those of its address space, mapped or not."""
        self.expandable = page > 0
        self.page = page
        """Bytes mapped at a time, 0 where the segment is not expandable."""
        self.head = Block(self, address, size, UNMAPPED if page else FREE)

    def blocks(self) -> Iterator[Block]:
        """Go through the blocks in the order of their addresses, unmapped ones included."""
        block: Block | None = self.head
        while block is not None:
            yield block
            block = block.next

    @property
    def mapped(self) -> int:
        """Bytes of it that are reserved on the device."""
        if not self.expandable:
            return self.size
        return sum(block.size for block in self.blocks() if block.state != UNMAPPED)


class Block:
    """A piece of a segment: `address`, `size` (bytes, rounded), `requested` (bytes) and `state`."""

    __slots__ = ("address", "born", "next", "previous", "requested", "segment", "size", "state")

    def __init__(self, segment: Segment, address: int, size: int, state: int) -> None:
        self.segment = segment
        self.address = address
        self.size = size
        self.state = state
        self.requested = 0
        self.previous: Block | None = None
        self.next: Block | None = None
        self.born = 0
        """Searches its pool had seen when it was freed: its age for the garbage collection."""

    def __repr__(self) -> str:
        state = ("free", "live", "pending", "unmapped")[self.state]
        return f"<block {self.address:#x}: {self.size} bytes, {state}>"

    @property
    def whole(self) -> bool:
        """Whether it is all of its segment."""
        return self.previous is None and self.next is None

    def cut(self, size: int, state: int) -> Block:
        """Keep the first `size` bytes; return the rest as the next block, in `state`."""
        rest = Block(self.segment, self.address + size, self.size - size, state)
        self.size = size
        rest.previous = self
        following = rest.next = self.next
        if following is not None:
            following.previous = rest
        self.next = rest
        return rest

    def absorb_next(self) -> None:
        """Merge with the next block, which is no block any more."""
        gone = self.next
        assert gone is not None
        self.size += gone.size
        following = self.next = gone.next
        if following is not None:
            following.previous = self


class Pool:
    """Free lists that share an age: the small or the large blocks of one memory pool."""

    __slots__ = ("identifier", "searches", "small")

    def __init__(self, identifier: Hashable, small: bool) -> None:
        self.identifier = identifier
        """None for the default pool, else the id of a private one."""
        self.small = small
        self.searches = 0


class Group:
    """Free blocks of one pool and stream, by size and address, and its unmapped address space."""

    __slots__ = ("blocks", "keys", "pool", "small", "stream", "unmapped")

    def __init__(self, pool: Pool, stream: int) -> None:
        self.pool = pool
        self.small = pool.small
        self.stream = stream
        self.keys: list[int] = []
        self.blocks: list[Block] = []
        """In the order of `keys`."""
        self.unmapped: list[Block] = []
        """By address."""

    def insert(self, block: Block) -> None:
        """Put a free block on the list."""
        key = block.size << ADDRESS_BITS | block.address
        place = bisect_left(self.keys, key)
        self.keys.insert(place, key)
        self.blocks.insert(place, block)

    def remove(self, block: Block) -> None:
        """Take a free block off the list; its size and address are those it was put in with."""
        place = bisect_left(self.keys, block.size << ADDRESS_BITS | block.address)
        del self.keys[place], self.blocks[place]

    def insert_unmapped(self, block: Block) -> None:
        """Put a block of address space in its place."""
        place = bisect_left([b.address for b in self.unmapped], block.address)
        self.unmapped.insert(place, block)
