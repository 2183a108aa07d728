"""Reserved memory by pool, the gaps in it, and who could use them."""

import numpy as np
import slow_layout
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_recordings import recordings
from slow_twin import SlowTwin
from synthetic import Category, EventKind, PhaseKind, Script

from memtrack.analysis import (
    allocated,
    fragmentation,
    fragmentation_when_full,
    reserved_by_pool,
    timeline,
)
from memtrack.analysis.reserved import Pool, reserved

MIB = 1 << 20
twins = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def devices(data):
    return [(device, SlowTwin(data, device)) for device in range(len(data.devices))]


@twins
@given(recordings())
def test_pools_sum_to_reserved_at_every_event(data):
    cuts = np.arange(data.cuts + 1)
    for device, twin in devices(data):
        pools, table = reserved_by_pool(data, device, cuts)
        assert table.shape == (len(cuts), len(pools))
        if not len(pools):
            assert not [row for row in twin.segments if row["device"] == device]
            continue
        levels = allocated(data, device)
        total = reserved(data, device, cuts, levels)
        assert table.sum(axis=1).tolist() == total.tolist()
        assert (levels <= total).all()
        for cut in cuts.tolist():
            expected = dict.fromkeys(pools, 0)
            for row in slow_layout.held(twin, cut):
                expected[Pool(*slow_layout.key_of(data, row))] += row["bytes"]
            assert dict(zip(pools, table[cut].tolist(), strict=True)) == expected


@twins
@given(recordings(), st.integers(0, 60), st.sampled_from((1, 512, MIB, MIB + 1, 300 * MIB)))
def test_fragmentation(data, cut, request):
    cut = min(cut, data.cuts)
    for device, twin in devices(data):
        found = fragmentation(data, device, cut, request)
        expected, unplaced = slow_layout.pools(twin, cut)
        assert (found is None) == (not expected)
        if found is None:
            continue
        assert found.unplaced == unplaced
        assert len(found.pools) == len(expected)
        for state in found.pools:
            slow = expected[state.pool, state.small, state.stream]
            gaps = slow.pop("gaps")
            slow |= {"free": sum(gaps), "free_blocks": len(gaps), "largest_free": max([0, *gaps])}
            slow["splinters"] = slow["free"] - slow["releasable"]
            slow["expandable"] = bool(slow["expandable"])
            assert {name: getattr(state, name) for name in slow} == slow
            assert state.reserved == state.allocated + state.pending + state.free
        check_served(found, expected, request)


def check_served(found, expected, request):
    served = found.served
    rounded = -(-request // 512) * 512
    key = ("", rounded <= MIB, 0)
    state = next((s for s in found.pools if (s.pool, s.small, s.stream) == key), None)
    assert (served.rounded, served.pool, served.small, served.stream) == (rounded, *key)
    assert served.largest_free == (state.largest_free if state else 0)
    assert served.fits == (served.largest_free >= rounded)
    assert not served.fits or rounded <= served.block <= served.largest_free
    assert served.is_fragmented == bool(state and not served.fits and state.free >= rounded)
    assert (served.from_device == 0) == served.fits


def script(**segments):
    """A recording with one segment of 20 MiB at address 100 MiB, or as `segments` say."""
    made = Script()
    made.device()
    made.phase(PhaseKind.FORWARD, 0)
    rows = made.hold(100 * MIB, segments.pop("size", 20 * MIB), **segments)
    return made, rows


def block(made, offset, size):
    return made.alloc(size, Category.ACTIVATION, address=100 * MIB + offset)


def test_a_hole_between_blocks_is_a_splinter():
    made, _ = script()
    hole = [block(made, i * 4 * MIB, 4 * MIB) for i in range(5)][2]
    made.free(hole)
    data = made.build(source="allocator")
    (state,) = fragmentation(data, 0, data.cuts).pools
    assert (state.reserved, state.allocated, state.free) == (20 * MIB, 16 * MIB, 4 * MIB)
    assert (state.splinters, state.releasable, state.whole_free_segments) == (4 * MIB, 0, 0)


def test_free_bytes_that_suffice_together_but_not_in_one_piece():
    made, _ = script()
    blocks = [block(made, i * 4 * MIB, 4 * MIB) for i in range(5)]
    made.free(blocks[1])
    made.free(blocks[3])
    data = made.build(source="allocator")
    found = fragmentation(data, 0, data.cuts, 6 * MIB)
    assert found.served.is_fragmented
    assert (found.served.largest_free, found.served.free) == (4 * MIB, 8 * MIB)
    assert (found.served.block, found.served.from_device) == (-1, 20 * MIB)
    assert found.largest_free_for(4 * MIB).block == 4 * MIB
    assert found.largest_free_for(4 * MIB, stream=7).block == -1, "gaps serve their stream only"
    assert found.largest_free_for(512).from_device == 2 * MIB, "nor do large ones serve small ones"


def test_a_block_that_waits_for_a_stream_is_not_free():
    made, _ = script()
    waiting = block(made, 0, 8 * MIB)
    made.free(waiting)
    made.completed(waiting)
    data = made.build(source="allocator")
    alive, before, after = (fragmentation(data, 0, cut) for cut in (2, 3, 4))
    assert (alive.pending, alive.pools[0].allocated) == (0, 8 * MIB)
    assert (before.pending, before.pools[0].allocated, before.releasable) == (8 * MIB, 0, 0)
    assert (before.pools[0].free, before.splinters) == (12 * MIB, 12 * MIB)
    assert (after.pending, after.splinters, after.releasable) == (0, 0, 20 * MIB)


def test_of_an_expandable_segment_whole_free_pages_can_go_back():
    made, _ = script(size=80 * MIB, page=20 * MIB)
    block(made, 0, 10 * MIB)
    block(made, 70 * MIB, 10 * MIB)
    extra = {"allocator_settings": {"expandable_segments": True}}
    data = made.build(source="allocator", extra=extra)
    found = fragmentation(data, 0, data.cuts, 100 * MIB)
    (state,) = found.pools
    assert (state.segments, state.free_blocks, state.largest_free) == (1, 1, 60 * MIB)
    assert (state.releasable, state.splinters) == (40 * MIB, 20 * MIB)
    assert found.served.from_device == 100 * MIB, (
        "the gap does not reach the end of the mapped pages"
    )


def test_a_gap_within_a_page_of_an_expandable_segment_is_a_splinter():
    made, _ = script(size=20 * MIB, page=20 * MIB)
    block(made, 0, 8 * MIB)
    block(made, 10 * MIB, 10 * MIB)
    (state,) = fragmentation(made.build(source="allocator"), 0, 3).pools
    assert (state.free, state.releasable, state.splinters) == (2 * MIB, 0, 2 * MIB)


def test_an_expandable_segment_grows_from_its_free_end():
    made, _ = script(size=40 * MIB, page=20 * MIB)
    block(made, 0, 10 * MIB)
    extra = {"allocator_settings": {"expandable_segments": True}}
    data = made.build(source="allocator", extra=extra)
    assert fragmentation(data, 0, data.cuts, 50 * MIB).served.from_device == 20 * MIB


def test_segments_side_by_side_do_not_make_one_gap():
    made, _ = script()
    made.hold(120 * MIB, 20 * MIB)
    data = made.build(source="allocator")
    (state,) = fragmentation(data, 0, data.cuts).pools
    assert (state.segments, state.free_blocks, state.largest_free) == (2, 2, 20 * MIB)
    assert (state.whole_free_segments, state.releasable, state.splinters) == (2, 40 * MIB, 0)


def test_free_memory_of_a_private_pool_serves_nobody_else():
    made, _ = script(pool="0.1")
    data = made.build(source="allocator")
    found = fragmentation(data, 0, data.cuts, 5 * MIB)
    assert (found.private, found.releasable, found.splinters) == (20 * MIB, 0, 0)
    assert (found.served.fits, found.served.free) == (False, 0)
    assert found.largest_free_for(5 * MIB, pool="0.1").block == 20 * MIB


def test_blocks_of_max_split_size_and_more_are_not_broken_up():
    made, _ = script(size=100 * MIB)
    extra = {"allocator_settings": {"max_split_size": 40 * MIB}}
    data = made.build(source="allocator", extra=extra)
    found = fragmentation(data, 0, data.cuts)
    assert found.largest_free_for(30 * MIB).block == -1
    assert found.largest_free_for(70 * MIB).block == -1, "30 MiB would be wasted, 20 are allowed"
    assert found.largest_free_for(90 * MIB).block == 100 * MIB


def test_a_block_outside_all_segments_is_counted_apart():
    made, _ = script()
    made.alloc(512, address=5)
    data = made.build(source="allocator")
    found = fragmentation(data, 0, data.cuts)
    assert (found.unplaced, found.pools[0].allocated, found.reserved) == (512, 0, 20 * MIB)


def test_a_request_that_failed_is_measured_against_the_pools_of_that_moment():
    made, _ = script()
    blocks = [block(made, i * 4 * MIB, 4 * MIB) for i in range(5)]
    made.free(blocks[1])
    made.free(blocks[3])
    assert fragmentation_when_full(made.build(source="allocator"), 0) is None
    made.segment(EventKind.OOM, 7 * MIB)
    made.free(blocks[2])
    made.device("cuda", 1)
    data = made.build(source="allocator")
    found = fragmentation_when_full(data, 0)
    assert (found.cut, found.served.request, found.served.is_fragmented) == (8, 7 * MIB, True)
    assert found.served.largest_free == 4 * MIB
    assert fragmentation_when_full(data, 1) is None


def test_without_a_history_of_segments_there_is_no_answer():
    made = Script()
    made.device()
    made.phase(PhaseKind.FORWARD, 0)
    made.alloc(5)
    data = made.build()
    assert fragmentation(data, 0, 1) is None
    assert reserved_by_pool(data, 0, np.array([0, 1]))[1].shape == (2, 0)


def test_the_table_of_segments_tells_reserved_also_before_the_first_event():
    made = Script()
    made.device()
    made.hold(100 * MIB, 20 * MIB, older=True)
    made.phase(PhaseKind.FORWARD, 0)
    (row,) = made.hold(200 * MIB, 2 * MIB, small=1)
    made.alloc(512, address=200 * MIB)
    made.give_back(row)
    assert timeline(made.build(), 0).reserved.tolist() == [20 * MIB, 22 * MIB, 22 * MIB, 20 * MIB]
