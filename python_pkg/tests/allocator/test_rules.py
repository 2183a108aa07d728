"""Sizes: rounding, pools, segments and splits, by example and by law."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrack.allocator import rules
from memtrack.allocator.settings import DIVISION_INTERVALS, MIB, Settings

KIB = 1 << 10
PLAIN = Settings()
divisions = st.sampled_from([0, 1, 2, 4, 8, 16, 64])


@pytest.mark.parametrize(
    ("size", "rounded"),
    [(0, 512), (1, 512), (512, 512), (513, 1024), (MIB, MIB), (MIB + 1, MIB + 512)],
)
def test_sizes_are_rounded_up_to_512(size, rounded):
    assert rules.round_size(size, PLAIN) == rounded


@pytest.mark.parametrize(
    ("size", "rounded"),
    [
        (1200, 1536),  # not above 512 times the divisions: to 512
        (2049, 2560),
        (5 * MIB - 1, 5 * MIB),
        (5 * MIB + 1, 6 * MIB),
        (8 * MIB, 8 * MIB),
    ],
)
def test_powers_of_two_are_divided(size, rounded):
    assert rules.round_size(size, Settings(roundup_power2_divisions=(4,) * 16)) == rounded


def test_each_interval_has_its_own_divisions_and_the_ends_hold_the_rest():
    settings = Settings(roundup_power2_divisions=(2, 1, *([0] * 13), 4))
    assert rules.round_size(300 * KIB, settings) == 384 * KIB
    assert rules.round_size(3 * MIB + 1, settings) == 3 * MIB + 512
    assert rules.round_size((33 << 30) + 1, settings) == 40 << 30
    assert rules.round_size((129 << 30) + 1, settings) == 160 << 30


@given(st.integers(0, 1 << 40), st.tuples(*[divisions] * DIVISION_INTERVALS))
def test_rounding_is_enough_stable_and_a_multiple_of_512(size, each):
    settings = Settings(roundup_power2_divisions=each)
    rounded = rules.round_size(size, settings)
    assert size <= rounded <= max(2 * size, size + 512)
    assert rounded % 512 == 0
    assert rules.round_size(rounded, settings) == rounded


@pytest.mark.parametrize(
    ("rounded", "segment"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 512, 12 * MIB),
        (140 * MIB, 140 * MIB),
    ],
)
def test_segments_by_size(rounded, segment):
    assert rules.segment_size(rounded, PLAIN) == segment
    assert rules.is_small(rounded) == (segment == 2 * MIB)


def test_the_size_of_a_shared_segment_is_a_setting():
    settings = Settings(large_segment_size=64 * MIB)
    assert rules.segment_size(2 * MIB, settings) == 64 * MIB
    assert rules.page_size(False, settings) == 64 * MIB
    assert rules.page_size(True, settings) == 2 * MIB


@pytest.mark.parametrize(
    ("block", "rounded", "small", "expandable", "splits"),
    [
        (2 * MIB, 2 * MIB - 512, True, False, True),
        (2 * MIB, 2 * MIB, True, False, False),
        (20 * MIB, 19 * MIB, False, False, False),
        (20 * MIB, 19 * MIB - 512, False, False, True),
        (20 * MIB, 20 * MIB - 512, False, True, True),
    ],
)
def test_remainders_that_are_split_off(block, rounded, small, expandable, splits):
    assert rules.should_split(block, rounded, small, expandable, PLAIN) is splits


def test_oversize_blocks_are_not_split():
    settings = Settings(max_split_size=32 * MIB)
    assert rules.should_split(40 * MIB, 30 * MIB, False, False, settings)
    assert not rules.should_split(40 * MIB, 32 * MIB, False, False, settings)
