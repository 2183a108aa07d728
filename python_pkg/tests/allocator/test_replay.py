"""Replays: of recorded runs, which must give what was reserved, and of runs as they could have been."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_recordings import recordings
from random_tapes import tapes
from synthetic import Script
from tape import Tape

from memtrack.allocator.replay import recorded_reserved, replay
from memtrack.allocator.settings import MIB, UNLIMITED, Settings
from memtrack.recording import PhaseKind


@settings(max_examples=100, deadline=None)
@given(tapes())
def test_what_was_recorded_is_replayed_exactly(tape):
    data = tape.build()
    data.self_check()
    done = replay(data, 0)
    assert done.start in ("nothing", "layout") and done.complete and done.failed == -1
    recorded = np.zeros(data.cuts + 1) if done.recorded is None else done.recorded
    assert (done.reserved[done.settled] == recorded[done.settled]).all()
    assert done.worst in (0.0, None)
    assert int(recorded[-1]) == tape.allocator.reserved
    assert int(done.allocated[-1]) == tape.allocator.allocated


def example(settings=None):
    """Two rounds of eight blocks of 16 MiB and four of 32 MiB."""
    tape = Tape(settings or Settings())
    tape.begin()
    for size, count in ((16, 8), (32, 4)):
        for block in [tape.malloc(size * MIB) for _ in range(count)]:
            tape.free(block)
    return tape.build()


def test_other_settings_reserve_otherwise():
    data = example()
    as_recorded, pages = replay(data, 0), replay(data, 0, Settings(expandable_segments=True))
    assert (as_recorded.peak, as_recorded.recorded_peak) == (256 * MIB, 256 * MIB)
    assert as_recorded.error == 0 and as_recorded.settings.max_split_size == UNLIMITED
    assert pages.peak == 140 * MIB and pages.error == pytest.approx(-116 / 256)
    assert as_recorded.allocated.max() == pages.allocated.max() == 128 * MIB


def test_a_smaller_device_gives_back_its_cache_or_has_no_room():
    data = example()
    tight, small = replay(data, 0, capacity=130 * MIB), replay(data, 0, capacity=100 * MIB)
    assert (tight.failed, tight.retries, tight.peak) == (-1, 1, 128 * MIB)
    assert small.retries == 1 and small.peak == 96 * MIB
    assert data.events["kind"][small.failed] == 0 and small.settled.max() <= small.failed
    assert (small.reserved[small.failed :] == small.reserved[small.failed]).all()


def test_only_what_the_user_gave_back_is_given_back_again():
    tape = Tape(Settings(), 100 * MIB)
    tape.begin()
    kept = tape.malloc(1)
    tape.free(tape.malloc(60 * MIB))
    tape.free(tape.malloc(80 * MIB))  # more than there is: the first goes
    tape.allocator.empty_cache()
    tape.free(kept)
    data = tape.build()
    assert replay(data, 0).reserved.tolist()[-1] == 2 * MIB
    roomy = replay(data, 0, Settings())
    assert roomy.peak == (2 + 60 + 80) * MIB and roomy.reserved.tolist()[-1] == 2 * MIB


def test_a_release_is_the_users_where_the_cache_had_room_for_what_followed():
    tape = Tape(Settings())
    tape.begin()
    tape.free(tape.malloc(60 * MIB))
    tape.allocator.empty_cache()
    tape.free(tape.malloc(20 * MIB))
    data = tape.build()
    assert replay(data, 0, Settings()).reserved.tolist()[-1] == 20 * MIB


def test_a_release_is_the_users_where_more_was_reserved_at_another_time():
    tape = Tape(Settings())
    tape.begin()
    tape.free(tape.malloc(60 * MIB))
    tape.allocator.empty_cache()
    larger = tape.malloc(80 * MIB)
    for block in (larger, tape.malloc(70 * MIB)):
        tape.free(block)
    assert replay(tape.build(), 0, Settings()).reserved.tolist()[-1] == 150 * MIB


def test_a_release_before_a_capture_is_the_users():
    tape = Tape(Settings())
    tape.begin()
    tape.free(tape.malloc(60 * MIB))
    tape.allocator.empty_cache()
    tape.free(tape.malloc(80 * MIB, pool="0.1"))
    assert replay(tape.build(), 0, Settings()).reserved.tolist()[-1] == 80 * MIB


@pytest.mark.parametrize(("retries", "reserved"), [(0, 80), (1, 140)])
def test_a_run_without_a_retry_has_only_releases_of_the_users(retries, reserved):
    tape = Tape(Settings())
    tape.begin()
    tape.free(tape.malloc(60 * MIB))
    tape.allocator.empty_cache()
    tape.free(tape.malloc(80 * MIB))  # more than there was in the cache
    name = tape.builder.strings.add("num_alloc_retries")
    for value in (3, 3 + retries):
        row = tape.builder["readings"].add(cut=0, time_ns=0, device=0, kind=0)
        tape.builder["statistics"].add(reading=row, name=name, value=value)
    assert replay(tape.build(), 0, Settings()).reserved.tolist()[-1] == reserved * MIB


def test_blocks_whose_segment_nobody_saw_are_a_guess():
    script = Script()
    script.device()
    older = script.older(30 * MIB, address=1 << 40)
    script.phase(PhaseKind.OTHER, 0)
    kept = script.alloc(30 * MIB, address=1 << 41)
    script.free(older)
    data = script.build()
    done = replay(data, 0)
    assert kept == 1 and done.start == "guess" and not done.complete
    assert done.recorded is None and done.error is None and done.worst is None
    assert done.reserved.tolist() == [30 * MIB, 60 * MIB, 60 * MIB]
    assert done.allocated.tolist() == [30 * MIB, 60 * MIB, 30 * MIB]


@settings(max_examples=60, deadline=None)
@given(recordings(), st.sampled_from([None, Settings(expandable_segments=True)]))
def test_recordings_laid_by_chance_are_replayed_to_their_end(data, other):
    for device in range(len(data.devices)):
        done = replay(data, device, other)
        assert done.failed == -1 and len(done.reserved) == data.cuts + 1
        assert (done.reserved >= done.allocated).all() and (done.allocated >= 0).all()


def test_a_recording_without_events_or_of_another_device():
    script = Script()
    script.device()
    data = script.build()
    done = replay(data, 0)
    assert done.reserved.tolist() == [0] and done.peak == 0 and done.start == "nothing"


def test_reserved_as_recorded_is_the_sum_of_the_segments():
    data = example()
    levels = recorded_reserved(data, 0)
    held = [
        (s["start"], s["end"], s["bytes"])
        for s in map(data.segments.row, range(len(data.segments)))
    ]
    slow = [sum(b for s, e, b in held if s < cut <= e) for cut in range(data.cuts + 1)]
    assert np.array_equal(levels, slow) and recorded_reserved(data, 1) is None


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 90 * MIB), min_size=1, max_size=12),
    freed=st.sets(st.integers(0, 11)),
    last=st.integers(1, 200 * MIB),
    room=st.integers(64, 800),
    pages=st.booleans(),
)
def test_a_request_after_the_end_is_served_as_one_that_was_recorded_would_be(
    sizes, freed, last, room, pages
):
    def tape_of():
        tape = Tape(Settings())
        tape.begin()
        blocks = [tape.malloc(size) for size in sizes]
        for place in sorted(freed):
            if place < len(blocks):
                tape.free(blocks[place])
        return tape

    other = Settings(expandable_segments=pages)
    shorter, longer = tape_of(), tape_of()
    longer.malloc(last)
    data, whole = shorter.build(), longer.build()
    asked = replay(data, 0, other, capacity=room * MIB, then=last)
    known = replay(whole, 0, other, capacity=room * MIB)
    assert (asked.failed < 0) == (known.failed < 0)
    if asked.failed == data.cuts:
        assert replay(data, 0, other, capacity=room * MIB).failed == -1
