"""The simulated allocator: examples whose outcome is known, and its slow twin on random traces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_allocator import SlowAllocator, SlowOutOfMemory

from memtrack.allocator.blocks import FREE, LIVE, PENDING, UNMAPPED
from memtrack.allocator.settings import MIB, NO_DIVISIONS, UNLIMITED, Settings
from memtrack.allocator.simulator import CachingAllocator, SimulatedOutOfMemory

KIB = 1 << 10
STATES = {FREE: "free", LIVE: "live", PENDING: "pending", UNMAPPED: "unmapped"}


def layout(allocator):
    blocks = (block for segment in allocator.segments() for block in segment.blocks())
    return [(block.address, block.size, STATES[block.state]) for block in blocks]


@pytest.mark.parametrize(
    ("expandable", "first", "then"), [(False, 128, 256), (True, 140, 140)], ids=["native", "pages"]
)
def test_eight_blocks_of_16_mib_then_four_of_32(expandable, first, then):
    allocator = CachingAllocator(Settings(expandable_segments=expandable))
    for block in [allocator.malloc(16 * MIB) for _ in range(8)]:
        allocator.free(block)
    assert allocator.reserved == first * MIB
    for _ in range(4):
        allocator.malloc(32 * MIB)
    assert (allocator.reserved, allocator.allocated) == (then * MIB, 128 * MIB)


def test_the_border_of_the_pools_costs_22_mib():
    allocator = CachingAllocator()
    allocator.malloc(2 * MIB)
    allocator.malloc(512 * KIB)
    assert allocator.reserved == 22 * MIB


def test_the_remainder_of_a_large_block_is_split_above_one_mib():
    allocator = CachingAllocator()
    split, kept = allocator.malloc(9 * MIB), CachingAllocator().malloc(19 * MIB + 512)
    assert split.size == 9 * MIB and split.next is not None and split.next.size == 11 * MIB
    assert kept.size == 20 * MIB and kept.requested == 19 * MIB + 512 and kept.whole


def test_a_request_takes_the_smallest_that_fits_of_its_own_stream():
    allocator = CachingAllocator()
    small, large, other = allocator.malloc(12 * MIB), allocator.malloc(16 * MIB), None
    other = allocator.malloc(12 * MIB, stream=7)
    for block in (large, small, other):
        allocator.free(block)
    assert allocator.malloc(11 * MIB + 512).address == small.address
    assert allocator.malloc(11 * MIB + 512, stream=7).address == other.address
    assert allocator.reserved == 40 * MIB


def test_a_private_pool_keeps_its_memory_until_its_graphs_are_gone():
    allocator = CachingAllocator()
    allocator.free(allocator.malloc(30 * MIB, pool="0.1"))
    assert allocator.malloc(30 * MIB).segment.group.pool.identifier is None
    allocator.empty_cache()
    assert allocator.reserved == 60 * MIB
    allocator.release_pool("0.1")
    allocator.empty_cache()
    assert allocator.reserved == 30 * MIB


def test_a_full_device_gives_back_the_cache_and_tries_again():
    allocator = CachingAllocator(capacity=100 * MIB)
    blocks = [allocator.malloc(40 * MIB), allocator.malloc(40 * MIB)]
    allocator.free_later(blocks[0])
    allocator.malloc(60 * MIB)
    assert (allocator.retries, allocator.reserved) == (1, 100 * MIB)
    with pytest.raises(SimulatedOutOfMemory) as caught:
        allocator.malloc(3 * MIB)
    error = caught.value
    assert (error.requested, error.wanted) == (3 * MIB, 20 * MIB)
    assert (error.reserved, error.allocated) == (100 * MIB, 100 * MIB)
    assert "20" in str(error)


def test_a_fraction_limits_and_the_collector_spares_what_is_used():
    half = Settings(memory_fraction=0.5, garbage_collection_threshold=0.5)
    allocator = CachingAllocator(half, total=400 * MIB)
    old, new = allocator.malloc(40 * MIB), allocator.malloc(62 * MIB)
    allocator.free(old)
    for _ in range(3):
        allocator.free(allocator.malloc(20 * MIB))
        new, again = allocator.malloc(62 * MIB), new
        allocator.free(again)
    assert allocator.reserved <= 200 * MIB
    with pytest.raises(SimulatedOutOfMemory):
        allocator.malloc(150 * MIB)


def test_pages_of_an_expandable_segment_are_given_back_whole():
    allocator = CachingAllocator(Settings(expandable_segments=True))
    first, kept, last = (allocator.malloc(30 * MIB) for _ in range(3))
    allocator.free(first)
    allocator.free(last)
    assert allocator.reserved == 100 * MIB
    allocator.empty_cache()
    assert allocator.reserved == 40 * MIB  # pages 20-40 and 40-60 hold the one that is kept
    allocator.free(kept)
    allocator.empty_cache()
    assert allocator.reserved == 0 and not list(allocator.segments())


def test_an_oversize_block_is_not_split_and_only_what_fits_is_given_back():
    allocator = CachingAllocator(Settings(max_split_size=100 * MIB), capacity=400 * MIB)
    blocks = [allocator.malloc(120 * MIB), allocator.malloc(200 * MIB)]
    for block in blocks:
        allocator.free(block)
    allocator.malloc(50 * MIB)
    assert allocator.reserved == 370 * MIB  # neither oversize block may serve it
    allocator.malloc(150 * MIB)  # more than the rounding allowed of the larger one, so it goes
    assert allocator.reserved == (120 + 50 + 150) * MIB and allocator.retries == 0


def test_what_is_not_handed_out_cannot_be_freed():
    allocator = CachingAllocator()
    block = allocator.malloc(1)
    allocator.free(block)
    with pytest.raises(ValueError, match="not handed out"):
        allocator.free(block)
    with pytest.raises(ValueError, match="not handed out"):
        allocator.free_later(block)


def test_a_layout_is_taken_over_and_lives_on():
    allocator = CachingAllocator()
    segment = allocator.adopt(1 << 40, [(1 << 40, 20 * MIB)], small=False)
    held = allocator.carve(segment, (1 << 40) + 4 * MIB, 8 * MIB, 8 * MIB - 5)
    assert allocator.carve(segment, (1 << 40) + 11 * MIB, 2 * MIB, 2 * MIB) is None
    assert [(b.size // MIB, b.state) for b in segment.blocks()] == [(4, FREE), (8, LIVE), (8, FREE)]
    assert allocator.malloc(4 * MIB).address == 1 << 40
    allocator.free(held)
    assert (allocator.reserved, allocator.allocated) == (20 * MIB, 4 * MIB)
    assert segment.mapped == 20 * MIB


def test_mapped_ranges_are_taken_over_as_one_expandable_segment():
    allocator = CachingAllocator(Settings(expandable_segments=True), total=1 << 30)
    ranges = [(1 << 40, 20 * MIB), ((1 << 40) + 40 * MIB, 20 * MIB)]
    segment = allocator.adopt(1 << 40, ranges, small=False, expandable_segment=True)
    assert allocator.reserved == segment.mapped == 40 * MIB
    block = allocator.malloc(60 * MIB)  # the page between the two is mapped
    assert (block.address, allocator.reserved) == (1 << 40, 60 * MIB)


MOST = 48 * MIB
sizes = st.one_of(
    st.integers(1, 4 * KIB),
    st.sampled_from([512 * KIB, MIB, MIB + 1, 2 * MIB, 9 * MIB, 10 * MIB, 11 * MIB, 19 * MIB + 1]),
    st.integers(1, MOST),
)
operations = st.one_of(
    st.tuples(
        st.just("malloc"),
        sizes,
        st.sampled_from([0, 0, 0, 7]),
        st.sampled_from([None, None, "0.1"]),
    ),
    st.tuples(st.sampled_from(["free", "free", "free_later"]), st.integers(0, 1000)),
    st.tuples(st.sampled_from(["empty_cache", "synchronize", "release_pool"])),
)
configurations = st.builds(
    Settings,
    expandable_segments=st.booleans(),
    max_split_size=st.sampled_from([UNLIMITED, UNLIMITED, 20 * MIB, 32 * MIB]),
    max_non_split_rounding=st.sampled_from([20 * MIB, 2 * MIB]),
    roundup_power2_divisions=st.sampled_from([NO_DIVISIONS, (4,) * 16, (1, 2, 4, 8) * 4]),
    garbage_collection_threshold=st.sampled_from([0.0, 0.0, 0.3, 0.8]),
    memory_fraction=st.sampled_from([None, None, 0.5, 1.0]),
    large_segment_size=st.sampled_from([20 * MIB, 40 * MIB]),
)


@settings(max_examples=300, deadline=None)
@given(
    configurations,
    st.sampled_from([None, 60 * MIB, 150 * MIB, 400 * MIB]),
    st.lists(operations, min_size=20, max_size=120),
)
def test_the_simulator_and_its_slow_twin_do_the_same(configuration, capacity, trace):
    fast = CachingAllocator(configuration, capacity)
    slow = SlowAllocator(configuration, capacity)
    live, waiting = [], []
    for name, *arguments in trace:
        if name == "malloc":
            results = []
            for allocator, error in ((fast, SimulatedOutOfMemory), (slow, SlowOutOfMemory)):
                try:
                    results.append(allocator.malloc(*arguments))
                except error:
                    waiting.clear()  # the retry has waited for every stream
                    results.append(None)
            assert (results[0] is None) == (results[1] is None)
            if results[0] is not None:
                live.append(results)
            if fast.retries:
                waiting = [pair for pair in waiting if pair[0].state == PENDING]
        elif name == "free" and live + waiting:
            pair = (live + waiting)[arguments[0] % len(live + waiting)]
            (live if pair in live else waiting).remove(pair)
            fast.free(pair[0])
            slow.free(pair[1])
        elif name == "free_later" and live:
            pair = live.pop(arguments[0] % len(live))
            waiting.append(pair)
            fast.free_later(pair[0])
            slow.free_later(pair[1])
        elif name == "release_pool":
            fast.release_pool("0.1")
            slow.release_pool("0.1")
        elif name in ("empty_cache", "synchronize"):
            getattr(fast, name)()
            getattr(slow, name)()
            waiting.clear()
        assert (fast.reserved, fast.allocated) == (slow.reserved, slow.allocated)
        assert layout(fast) == slow.layout()
    assert sum(segment.mapped for segment in fast.segments()) == fast.reserved
    assert sum(block.size for block in fast.live_blocks()) == fast.allocated
    assert fast.peak_reserved >= fast.reserved and fast.peak_allocated >= fast.allocated
    _check_lists(fast)


def _check_lists(allocator):
    """Every free block is on the list of its group, and nothing else is."""
    listed = [block for group in allocator._groups.values() for block in group.blocks]
    free = [b for s in allocator.segments() for b in s.blocks() if b.state == FREE]
    assert {id(block) for block in listed} == {id(block) for block in free}
    for group in allocator._groups.values():
        assert group.keys == sorted(group.keys)
        assert group.keys == [block.size << 64 | block.address for block in group.blocks]
        assert [b.address for b in group.unmapped] == sorted(b.address for b in group.unmapped)
