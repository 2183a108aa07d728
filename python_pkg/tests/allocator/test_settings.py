"""Settings, as people write them and as snapshots tell them."""

import pytest

from memtrack.allocator.settings import MIB, NO_DIVISIONS, UNLIMITED, Settings
from memtrack.errors import UsageError


def test_nothing_said_is_the_default_of_torch():
    assert (
        Settings.parse("")
        == Settings.from_snapshot(None)
        == Settings.from_snapshot({})
        == Settings()
    )
    assert Settings().max_split_size == UNLIMITED


def test_a_string_with_everything_that_matters():
    conf = (
        "backend:native, expandable_segments:True,max_split_size_mb:128,"
        "max_non_split_rounding_mb:64,garbage_collection_threshold:0.8,large_segment_size_mb:40,"
        "per_process_memory_fraction:0.5,roundup_power2_divisions:[256:1,512:2,1024:4,>:8],"
        "pinned_use_background_threads:True"
    )
    assert Settings.parse(conf) == Settings(
        expandable_segments=True,
        max_split_size=128 * MIB,
        max_non_split_rounding=64 * MIB,
        garbage_collection_threshold=0.8,
        large_segment_size=40 * MIB,
        memory_fraction=0.5,
        roundup_power2_divisions=(*[1] * 9, 2, 4, *[8] * 5),
    )


def test_one_number_of_divisions_is_for_every_size():
    assert Settings.parse("roundup_power2_divisions:8").roundup_power2_divisions == (8,) * 16


@pytest.mark.parametrize(
    "pair",
    [
        "expandable_segments:true",
        "expandable_segments",
        "max_split_size_mb:19",
        "max_split_size_mb:big",
        "garbage_collection_threshold:1.0",
        "roundup_power2_divisions:3",
        "roundup_power2_divisions:[0:4]",
        "roundup_power2_divisions:[256:5]",
        "large_segment_size_mb:1",
        "per_process_memory_fraction:1.5",
    ],
)
def test_a_pair_that_torch_would_refuse_is_named(pair):
    with pytest.raises(UsageError, match="not a setting") as caught:
        Settings.parse(f"max_non_split_rounding_mb:20,{pair}")
    assert pair in str(caught.value)


def test_a_snapshot_tells_what_its_string_does_not():
    told = {
        "PYTORCH_CUDA_ALLOC_CONF": "large_segment_size_mb:40,max_split_size_mb:512",
        "max_split_size": 256 * MIB,
        "garbage_collection_threshold": 0.6,
        "expandable_segments": True,
        "roundup_power2_divisions": {str(1 << i): 4 if i > 7 else 0 for i in range(16)},
    }
    assert Settings.from_snapshot(told) == Settings(
        large_segment_size=40 * MIB,
        max_split_size=256 * MIB,
        garbage_collection_threshold=0.6,
        expandable_segments=True,
        roundup_power2_divisions=(*[0] * 8, *[4] * 8),
    )


@pytest.mark.parametrize("unlimited", [-1, (1 << 64) - 1, (1 << 63) - 1])
def test_no_limit_of_splitting_is_told_in_several_ways(unlimited):
    told = {"max_split_size": unlimited, "roundup_power2_divisions": {"1": 0}}
    found = Settings.from_snapshot(told)
    assert found == Settings() and found.roundup_power2_divisions is NO_DIVISIONS


def test_what_a_snapshot_says_oddly_is_left_at_its_default():
    told = {
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:yes,large_segment_size_mb:40",
        "max_split_size": "many",
        "garbage_collection_threshold": "0.5",
        "expandable_segments": "True",
        "roundup_power2_divisions": {"1": 3},
    }
    assert Settings.from_snapshot(told) == Settings(large_segment_size=40 * MIB)
