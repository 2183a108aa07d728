"""Reserved memory, bounds of what a timeline carries, steps and sites."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from large_recording import large_recording
from synthetic import Category, EventKind, PhaseKind, Script

from memtrack.analysis import live_set, step_ns, timeline
from memtrack.analysis.device import analyse_device, devices_in_order
from memtrack.analysis.ranges import largest_in_ranges, smallest_cover, where_largest
from memtrack.analysis.sites import sites
from memtrack.analysis.timeline import alive_at, extreme_cuts


def script_with(*sizes):
    script = Script()
    script.device()
    script.phase(PhaseKind.FORWARD, 0)
    for size in sizes:
        script.alloc(size)
    return script


def test_reserved_follows_the_allocators_history():
    script = script_with()
    script.segment(EventKind.SEGMENT_ALLOC, 100)
    script.alloc(60)
    script.segment(EventKind.SEGMENT_MAP, 50)
    script.segment(EventKind.SEGMENT_UNMAP, 30)
    data = script.build(source="allocator")
    assert timeline(data, 0).reserved.tolist() == [0, 100, 100, 150, 120]


def test_reserved_before_the_history_is_told_by_the_first_sample():
    script = script_with(10)
    script.segment(EventKind.SEGMENT_ALLOC, 100)
    script.sample(reserved=600)
    script.segment(EventKind.SEGMENT_FREE, 500)
    data = script.build(source="allocator")
    assert timeline(data, 0).reserved.tolist() == [500, 500, 600, 100]


def test_reserved_from_samples_is_the_last_one_and_never_below_what_is_in_use():
    script = script_with(10)
    script.sample(reserved=20)
    script.alloc(30)
    script.sample(reserved=90)
    script.alloc(5)
    assert timeline(script.build(), 0).reserved.tolist() == [20, 20, 90, 90]


def test_without_a_caching_allocator_there_is_no_reserved():
    script = script_with(10)
    script.sample(process=500)
    assert timeline(script.build(), 0).reserved is None
    assert timeline(script.build(source="allocator"), 0).reserved is None


def test_the_largest_allocations_stay_and_the_others_are_counted():
    data = script_with(5, 1, 9, 2).build()
    found = analyse_device(data, 0, max_allocations=2).timeline
    assert found.rows.tolist() == [0, 2]
    assert (found.omitted, found.omitted_bytes) == (2, 3)


def test_points_are_bounded_by_the_buckets():
    data = large_recording(steps=2, blocks=10, leaves=10)
    window = timeline(data, 0, 300, 1300, buckets=50)
    assert window.bucket_events == 21
    assert len(window.cut) <= 102
    assert (window.cut[0], window.cut[-1]) == (300, 1300)


@given(st.lists(st.integers(0, 9), min_size=1), st.integers(1, 20))
def test_extremes_bound_every_bucket(levels, buckets):
    cuts, size = extreme_cuts(np.array(levels), buckets)
    for start in range(0, len(levels), size):
        inside = [cut for cut in cuts.tolist() if start <= cut < start + size]
        bucket = levels[start : start + size]
        assert min(bucket) == min(levels[cut] for cut in inside)
        assert max(bucket) == max(levels[cut] for cut in inside)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 12))
def test_of_equal_allocations_the_first_stay(sizes, most):
    size, count = np.array(sizes), len(sizes)
    lives = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    kept, omitted, left = alive_at(np.array([1]), *lives, size, most)
    expected = sorted(sorted(range(count), key=lambda row: (-size[row], row))[:most])
    assert kept.tolist() == expected
    assert omitted == count - len(expected)
    assert left == sum(sizes) - sum(sizes[row] for row in expected)


ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted), max_size=20)


@given(ranges)
def test_largest_in_ranges(pairs):
    values = np.arange(41) * 7919 % 101
    first, last = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    expected = [max(values[low : high + 1]) for low, high in pairs]
    assert largest_in_ranges(values, first, last).tolist() == expected
    coarse = values // 20  # many equal values: the earliest is found
    places = [max(range(low, high + 1), key=lambda i: (coarse[i], -i)) for low, high in pairs]
    assert where_largest(coarse, first, last).tolist() == places


@given(ranges, st.sets(st.integers(0, 40)))
def test_smallest_cover(pairs, points):
    start, end = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    points = sorted(points)
    found = smallest_cover(np.array(points, dtype=np.int64), start, end)
    for point, row in zip(points, found.tolist(), strict=True):
        covers = [(high - low, -at) for at, (low, high) in enumerate(pairs) if low <= point < high]
        assert row == (-min(covers)[1] if covers else -1)


def test_a_step_lasts_from_its_first_forward_to_its_last_phase():
    script = Script()
    script.device()
    for step in range(4):
        script.phase(PhaseKind.OTHER, step)
        script.now += 10**9  # the reader thinks between two cells
        for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER):
            script.phase(kind, step)
            script.now += 100 * (step + 1)
    assert step_ns(script.build()) == 900  # of 600, 900 and 1200
    assert step_ns(script.build(state="recording")) == 750
    script.phase(PhaseKind.FORWARD, 4)
    assert step_ns(script.build()) == 900  # the last has no backward yet


def test_one_step_has_no_pace():
    script = script_with(1)
    assert step_ns(script.build()) is None


@pytest.mark.parametrize(
    ("stack", "label"),
    [
        ([("/home/me/train.py", "main", 3), ("/home/me/net.py", "forward", 7)], "net.py:7 forward"),
        ([("In [12]", "<module>", 5)], "In [12]:5"),
        ([("In [12]", "train_step", 5)], "In [12]:5 train_step"),
        ([("a.py", "f", 1), ("/x/site-packages/torch/nn/linear.py", "forward", 9)], "a.py:1 f"),
        ([("a.py", "f", 1), ("/usr/lib/python3.11/contextlib.py", "inner", 9)], "a.py:1 f"),
        ([("C:\\me\\a.py", "f", 1), ("C:\\x\\site-packages\\torch\\a.py", "g", 9)], "a.py:1 f"),
        ([("/x/site-packages/torch/a.py", "g", 9)], "a.py:9 g"),
        ([("/x/site-packages/torch/a.py", "g", 9), ("/x/site-packages/torch/b.py", "h", 1)],
         "b.py:1 h"),
    ],
)  # fmt: skip
def test_a_site_is_the_users_line(stack, label):
    script = script_with()
    row = script.stack(*stack)
    script.alloc(1, stack=row)
    codes, labels = sites(script.build(), np.array([row, -1]))
    assert codes.tolist() == [0, -1]
    assert labels == [label]


def test_a_live_set_ranks_its_holders():
    script = Script()
    script.device()
    layer = script.layer("model")
    script.phase(PhaseKind.FORWARD, 0)
    here, there = script.stack(("a.py", "f", 1)), script.stack(("b.py", "g", 2))
    small = script.alloc(1, Category.TEMPORARY, stack=here)
    script.alloc(5, Category.ACTIVATION, layer=layer, stack=there)
    script.alloc(3, Category.ACTIVATION, layer=layer, stack=there)
    script.free(small)
    data = script.build()
    found = live_set(data, 0, 3)
    assert found.bytes == 9
    assert found.rows.tolist() == [1, 2, 0]
    assert [(h.name, h.bytes, h.allocations) for h in found.by_layer] == [
        ("model", 8, 2),
        ("", 1, 1),
    ]
    assert [holder.name for holder in found.by_category] == ["activation", "temporary"]
    assert [holder.name for holder in found.by_site] == ["b.py:2 g", "a.py:1 f"]
    assert live_set(data, 0, 4).bytes == 8


def test_accelerators_come_first_and_unused_devices_not_at_all():
    script = Script()
    for kind, index in (("cpu", 0), ("cuda", 0), ("cuda", 1), ("cuda", 2)):
        script.device(kind, index)
    assert devices_in_order(script.build()) == [1, 2, 3, 0]
    for device, size in ((0, 100), (1, 5), (3, 9)):
        script.older(size, device=device)
    assert devices_in_order(script.build()) == [3, 1, 0]
