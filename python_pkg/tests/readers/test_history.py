"""What is rebuilt from a trace is what happened: against a tiny allocator that wrote the trace."""

import copy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from snapshot_writer import MIB, WritingAllocator

from memtrack.readers.torch_snapshot import FrameReader, device_history
from memtrack.recording import EventKind, RecordingBuilder

SIZES = (1, 512, 700, 300_000, MIB, MIB + 1, 3 * MIB, 9 * MIB, 10 * MIB, 19 * MIB + 5, 33 * MIB)
_action = st.tuples(
    st.sampled_from(("malloc",) * 5 + ("free",) * 3 + ("wait", "complete", "empty", "oom")),
    st.integers(0, 50),
    st.sampled_from(SIZES),
    st.sampled_from((0, 0, 0, 77)),
    st.sampled_from(((0, 0), (0, 0), (0, 1))),
)


def run(actions, expandable=False, stop_at=None):
    """Play some actions; return the allocator and its segments after `stop_at` entries."""
    allocator = WritingAllocator(expandable)
    live, pending, then = [], [], None
    for action, number, size, stream, pool in actions:
        if then is None and stop_at is not None and len(allocator.trace) >= stop_at:
            then = (len(allocator.trace), copy.deepcopy(allocator.snapshot_segments()))
        if action == "malloc":
            live.append(allocator.malloc(size, stream, pool, number))
        elif action in ("free", "wait") and live:
            block = live.pop(number % len(live))
            allocator.free(block, waits=action == "wait")
            pending += [block] if action == "wait" else []
        elif action == "complete" and pending:
            allocator.complete(pending.pop(number % len(pending)))
        elif action == "empty":
            allocator.empty_cache()
        elif action == "oom":
            allocator.oom(size)
    return allocator, then


def history(snapshot, initial=None, device=0):
    frames = FrameReader(RecordingBuilder().stacks, lambda file: False, str)
    return device_history(snapshot, device, frames, initial)


def kept_entries(trace):
    """Return the places of the entries that become events."""
    kept = []
    for i, entry in enumerate(trace):
        before = trace[i - 1] if i else {}
        at_once = entry["action"] == "free_completed" and before.get("action") == "free_requested"
        if not (at_once and before["addr"] == entry["addr"]):
            kept.append(i)
    return kept


def levels_of(found):
    """Return the bytes allocated and reserved after each event, from the rows alone."""
    events = len(found.events["kind"])
    cuts = np.arange(events + 1)[:, None]
    sums = []
    for rows in (found.allocations, found.segments):
        alive = (rows["start"] < cuts) & (cuts <= rows["end"])
        sums.append((alive * rows["bytes"]).sum(axis=1).tolist())
    return list(zip(*sums, strict=True))


def cut_at(allocator, first):
    """Return where to cut a trace, so that its frees can be told from their completions."""
    first = min(first, len(allocator.trace))
    actions = {entry["action"] for entry in allocator.trace[first:]}
    assume("free_requested" in actions or "free_completed" not in actions)
    return first


def expected_levels(allocator, first):
    """Return the same from the allocator; a completion that is no event changes neither figure."""
    kept = kept_entries(allocator.trace[first:])
    return [allocator.levels[first]] + [allocator.levels[first + i + 1] for i in kept]


@settings(max_examples=150, deadline=None)
@given(st.lists(_action, min_size=1, max_size=60), st.booleans())
def test_a_whole_trace_gives_every_level_exactly(actions, expandable):
    allocator, _ = run(actions, expandable)
    found = history(allocator.snapshot())
    assert levels_of(found) == expected_levels(allocator, 0)
    assert found.reserved == allocator.levels[-1][1]


@settings(max_examples=150, deadline=None)
@given(st.lists(_action, min_size=1, max_size=60), st.booleans(), st.integers(0, 60))
def test_with_the_segments_at_its_beginning_a_cut_trace_gives_every_level(
    actions, expandable, stop
):
    allocator, then = run(actions, expandable, stop)
    if then is None:
        return
    first, initial = cut_at(allocator, then[0]), then[1]
    found = history(allocator.snapshot(first), initial)
    assert levels_of(found) == expected_levels(allocator, first)


@settings(max_examples=150, deadline=None)
@given(st.lists(_action, min_size=1, max_size=60), st.booleans(), st.integers(0, 100))
def test_a_trace_that_lost_its_beginning_gives_reserved_exactly(actions, expandable, first):
    allocator, _ = run(actions, expandable)
    first = cut_at(allocator, first)
    found = history(allocator.snapshot(first))
    levels, expected = levels_of(found), expected_levels(allocator, first)
    assert [reserved for _, reserved in levels] == [reserved for _, reserved in expected]
    # What an older block, freed since, wasted beside it can be unknown: never more than 1 MiB each.
    older = np.flatnonzero(
        (found.allocations["start"] < 0) & (found.allocations["end"] < len(levels) - 1)
    )
    for (allocated, _), (truth, _) in zip(levels, expected, strict=True):
        assert 0 <= truth - allocated <= MIB * len(older)
    assert levels[-1] == expected[-1]


@settings(max_examples=60, deadline=None)
@given(st.lists(_action, min_size=1, max_size=60))
def test_expandable_segments_waste_nothing_so_even_a_cut_trace_is_exact(actions):
    allocator, _ = run(actions, expandable=True)
    first = cut_at(allocator, len(allocator.trace) // 2)
    assert levels_of(history(allocator.snapshot(first))) == expected_levels(allocator, first)


def test_a_rest_of_a_mebibyte_is_charged_to_its_block():
    allocator = WritingAllocator()
    allocator.free(allocator.malloc(20 * MIB))
    allocator.free(allocator.malloc(19 * MIB))
    allocator.malloc(19 * MIB - 512)
    found = history(allocator.snapshot())
    assert found.allocations["bytes"].tolist() == [20 * MIB, 20 * MIB, 19 * MIB - 512]
    assert found.allocations["requested"].tolist() == [20 * MIB, 19 * MIB, 19 * MIB - 512]


def test_a_free_that_waits_for_a_stream_ends_the_allocation_and_is_completed_later():
    allocator = WritingAllocator()
    block = allocator.malloc(3 * MIB)
    allocator.free(block, waits=True)
    allocator.malloc(512)
    allocator.complete(block)
    found = history(allocator.snapshot())
    kinds = [EventKind(kind).name for kind in found.events["kind"]]
    assert kinds == [
        *("SEGMENT_ALLOC", "ALLOC", "FREE", "SEGMENT_ALLOC", "ALLOC", "FREE_COMPLETED"),
    ]
    assert found.allocations["end"].tolist() == [2, 6]
    assert found.events["allocation"].tolist() == [-1, 0, 0, -1, 1, 0]


def test_pools_streams_and_the_parts_of_an_unmapped_range_are_told():
    allocator = WritingAllocator(expandable=True)
    blocks = [allocator.malloc(20 * MIB, stream=5, pool=(0, 3)) for _ in range(3)]
    allocator.free(blocks[1])
    allocator.empty_cache()
    found = history(allocator.snapshot())
    assert found.pools == ["0.3"] * 3
    assert found.segments["stream"].tolist() == [5, 5, 5]
    assert found.segments["expandable"].tolist() == [1, 1, 1]
    assert found.segments["end"].tolist() == [8, 7, 8]


def test_max_split_size_keeps_large_blocks_whole():
    allocator = WritingAllocator()
    block = allocator.malloc(200 * MIB)
    allocator.free(block)
    entry = {"action": "alloc", "addr": block[0], "size": 150 * MIB, "stream": 0}
    snapshot = allocator.snapshot()
    freed = [{**entry, "action": action} for action in ("free_requested", "free_completed")]
    snapshot["device_traces"][0] = [*allocator.trace, entry, *freed]
    snapshot["allocator_settings"] = {"max_split_size": 100 * MIB}
    assert history(snapshot).allocations["bytes"].tolist() == [200 * MIB, 200 * MIB]


def test_roundup_power2_divisions_are_honoured():
    allocator = WritingAllocator()
    entries = [
        {"action": "alloc", "addr": 1 << 40, "size": 1200, "stream": 0},
        {"action": "free_requested", "addr": 1 << 40, "size": 1200, "stream": 0},
    ]
    divisions = dict.fromkeys((str(1 << i) for i in range(16)), 2)
    snapshot = {
        "segments": allocator.snapshot_segments(),
        "device_traces": [entries],
        "allocator_settings": {"roundup_power2_divisions": divisions},
    }
    assert history(snapshot).allocations["bytes"].tolist() == [1536]


@pytest.mark.parametrize("dropped", ["free_requested", "free_completed"])
def test_a_trace_without_one_of_the_two_events_of_a_free(dropped):
    allocator = WritingAllocator()
    for size in (MIB, 3 * MIB):
        allocator.free(allocator.malloc(size))
    snapshot = allocator.snapshot()
    snapshot["device_traces"][0] = [e for e in allocator.trace if e["action"] != dropped]
    found = history(snapshot)
    assert (found.events["kind"] == EventKind.FREE).sum() == 2
    assert found.torn == 0
    assert levels_of(found)[-1] == (0, 22 * MIB)


def test_a_trace_cut_between_the_two_events_of_a_free_does_not_count_it():
    allocator = WritingAllocator()
    allocator.free(allocator.malloc(512))
    found = history(allocator.snapshot(first=3))
    assert found.events["kind"].tolist() == [EventKind.FREE_COMPLETED]
    assert levels_of(found) == [(0, 2 * MIB)] * 2


def test_segments_of_another_moment_do_not_mislead():
    allocator = WritingAllocator()
    block = allocator.malloc(19 * MIB)
    stale = copy.deepcopy(allocator.snapshot_segments())
    allocator.free(block)
    block = allocator.malloc(3 * MIB)
    first = len(allocator.trace)
    allocator.free(block)
    found = history(allocator.snapshot(first), stale)
    assert found.allocations["bytes"].tolist() == [3 * MIB]


def test_events_without_counterpart_are_left_out_and_counted():
    allocator = WritingAllocator()
    allocator.free(allocator.malloc(MIB))
    allocator.free(allocator.malloc(MIB))
    snapshot = allocator.snapshot()
    snapshot["device_traces"][0] = [
        entry for i, entry in enumerate(allocator.trace) if i not in (2, 3)
    ]
    found = history(snapshot)
    assert found.torn == 1
    assert len(found.allocations["bytes"]) == 1
