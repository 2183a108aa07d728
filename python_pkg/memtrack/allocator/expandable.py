"""Expandable segments of the simulated allocator: address space that is mapped page by page.

After `find_expandable_block`, `map_block` and `unmap_block` of `c10/cuda/CUDACachingAllocator.cpp`.
The caller counts what is reserved; here only the chain of blocks and the lists change.
"""

from __future__ import annotations

from memtrack.allocator.blocks import FREE, UNMAPPED, Block, Group


def place_for(group: Group, size: int) -> Block | None:
    """Return where `size` bytes can be mapped at the lowest address; None: a new segment is needed.

    The block is unmapped, or free and followed by unmapped ones.
    """
    for unmapped in group.unmapped:
        before = unmapped.previous
        start = before if before is not None and before.state == FREE else unmapped
        if _room(start, size):
            return start
    return None


def _room(start: Block, size: int) -> bool:
    room = 0
    block: Block | None = start
    while room < size and block is not None and block.state in (FREE, UNMAPPED):
        room += block.size
        block = block.next
    return room >= size


def mapped_size(block: Block, size: int) -> int:
    """Return the bytes that mapping `size` bytes of an unmapped block takes: whole pages."""
    page = block.segment.page
    return -(-min(size, block.size) // page) * page


def map_block(block: Block, mapped: int) -> Block:
    """Back the first `mapped` bytes of an unmapped block; return the free block they are in now."""
    group = block.segment.group
    group.unmapped.remove(block)
    if mapped < block.size:
        group.insert_unmapped(block.cut(mapped, UNMAPPED))
    block.state = FREE
    following, before = block.next, block.previous
    if following is not None and following.state == FREE:
        group.remove(following)
        block.absorb_next()
    if before is not None and before.state == FREE:
        group.remove(before)
        before.absorb_next()
        block = before
    group.insert(block)
    return block


def pages_inside(block: Block) -> tuple[int, int]:
    """Return the range of whole pages inside a block, as (address, bytes); 0 bytes where none is."""
    base, page = block.segment.address, block.segment.page
    begin = base + -(-(block.address - base) // page) * page
    end = base + (block.address + block.size - base) // page * page
    return begin, max(end - begin, 0)


def unmap_block(block: Block) -> int:
    """Give back the whole pages inside a free block; return their bytes."""
    begin, size = pages_inside(block)
    if not size:
        return 0
    group = block.segment.group
    group.remove(block)
    unmapped = block
    if begin > block.address:
        unmapped = block.cut(begin - block.address, UNMAPPED)
        group.insert(block)
    if unmapped.size > size:
        group.insert(unmapped.cut(size, FREE))
    unmapped.state = UNMAPPED
    _merge_unmapped(group, unmapped)
    return size


def _merge_unmapped(group: Group, block: Block) -> None:
    following, before = block.next, block.previous
    if following is not None and following.state == UNMAPPED:
        group.unmapped.remove(following)
        block.absorb_next()
    if before is not None and before.state == UNMAPPED:
        before.absorb_next()
        return
    group.insert_unmapped(block)
