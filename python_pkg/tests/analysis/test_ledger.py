"""Every byte of a device is in exactly one part of its ledger."""

import pytest
from synthetic import Category, EventKind, PhaseKind, Script

from memtrack.analysis import ledger

GIB = 1 << 30


def run(device, samples=(), source="storages", size=2 * GIB, kind="cuda"):
    """A recording of one allocation of `size`, with `samples` taken while it is alive."""
    script = Script()
    script.device(kind, **device)
    script.phase(PhaseKind.FORWARD, 0)
    script.alloc(size, Category.ACTIVATION)
    for sample in samples:
        script.sample(**sample)
    script.free(script.alloc(GIB, Category.TEMPORARY))
    return script.build(source=source)


def parts(data, cut):
    found = ledger(data, 0, cut)
    assert sum(part.bytes for part in found.parts) == found.total
    return {part.id: part.bytes for part in found.parts}


def test_gpu_with_all_that_can_be_known():
    samples = [{"reserved": 4 * GIB, "process": 5 * GIB, "used": 9 * GIB}]
    data = run({"total": 24 * GIB}, samples)
    assert parts(data, 2) == {
        "activation": 2 * GIB,
        "temporary": GIB,
        "cache": GIB,
        "context": GIB,
        "others": 4 * GIB,
        "free": 15 * GIB,
    }
    certainties = {part.id: part.certainty for part in ledger(data, 0, 2).parts}
    assert certainties["activation"] == certainties["temporary"] == "measured"
    assert {certainties[part] for part in ("cache", "context", "others", "free")} == {"estimated"}


def test_a_known_context_leaves_the_rest_of_the_process():
    samples = [{"reserved": 4 * GIB, "process": 5 * GIB, "used": 9 * GIB}]
    found = parts(run({"total": 24 * GIB, "context": GIB // 4}, samples), 1)
    assert (found["context"], found["process"]) == (GIB // 4, GIB * 3 // 4)
    assert found["cache"] == 2 * GIB


def test_the_allocators_own_history_makes_the_cache_exact():
    script = Script()
    script.device(total=24 * GIB)
    script.phase(PhaseKind.FORWARD, 0)
    script.segment(EventKind.SEGMENT_ALLOC, 3 * GIB)
    script.alloc(2 * GIB)
    script.segment(EventKind.SEGMENT_MAP, GIB)
    script.segment(EventKind.SEGMENT_FREE, GIB)
    data = script.build(source="allocator")
    for cut, cache in ((1, 3), (2, 1), (3, 2), (4, 1)):
        part = next(part for part in ledger(data, 0, cut).parts if part.id == "cache")
        assert (part.bytes, part.certainty) == (cache * GIB, "measured")


def test_nothing_is_invented_without_samples():
    assert parts(run({"total": 24 * GIB}), 1) == {"activation": 2 * GIB, "free": 22 * GIB}
    assert parts(run({}), 1) == {"activation": 2 * GIB}


def test_without_a_total_it_is_what_is_reserved():
    samples = [{"reserved": 4 * GIB, "process": 5 * GIB, "used": 9 * GIB}]
    assert parts(run({}, samples), 1) == {"activation": 2 * GIB, "cache": 2 * GIB}


def test_cpu_has_the_rest_of_its_process():
    samples = [{"process": 5 * GIB, "used": 9 * GIB}]
    # The rest is what the process had beyond its tensors at the sample, also when it has more now.
    assert parts(run({"total": 32 * GIB}, samples, kind="cpu"), 2) == {
        "activation": 2 * GIB,
        "temporary": GIB,
        "process": 3 * GIB,
        "others": 4 * GIB,
        "free": 22 * GIB,
    }


@pytest.mark.parametrize("process", [0, GIB])
def test_a_process_that_seems_smaller_than_its_tensors_has_no_rest(process):
    found = parts(run({"total": 32 * GIB}, [{"process": process}], kind="cpu"), 1)
    assert found == {"activation": 2 * GIB, "free": 30 * GIB}


def test_estimates_never_exceed_the_device():
    samples = [{"reserved": 4 * GIB, "process": 5 * GIB, "used": 9 * GIB}]
    found = parts(run({"total": 6 * GIB}, samples), 1)
    assert found == {"activation": 2 * GIB, "cache": 2 * GIB, "context": GIB, "others": GIB}


def test_tensors_beyond_the_device_are_its_whole():
    assert parts(run({"total": GIB}), 1) == {"activation": 2 * GIB}


def test_an_empty_recording_is_free():
    script = Script()
    script.device(total=GIB)
    assert parts(script.build(), 0) == {"free": GIB}


def found_at(data, cut):
    """Parts by id, sums checked."""
    parts(data, cut)
    return {part.id: part for part in ledger(data, 0, cut).parts}


def test_at_a_sample_all_that_was_read_is_measured():
    samples = [{"reserved": 4 * GIB, "process": 5 * GIB, "used": 9 * GIB}]
    found = found_at(run({"total": 24 * GIB}, samples), 1)
    certainties = {name: part.certainty for name, part in found.items()}
    assert certainties.pop("cache") == "estimated"  # storages are smaller than their blocks
    assert set(certainties.values()) == {"measured"}
    whole = ledger(run({"total": 24 * GIB}, samples), 0, 1)
    assert (whole.reserved, whole.process) == (4 * GIB, 5 * GIB)


def test_where_the_process_is_not_known_what_lies_outside_is_one_part():
    data = run({"total": 24 * GIB}, [{"reserved": 4 * GIB, "used": 9 * GIB}])
    assert parts(data, 1) == {
        "activation": 2 * GIB,
        "cache": 2 * GIB,
        "outside": 5 * GIB,
        "free": 15 * GIB,
    }
    assert found_at(data, 1)["outside"].certainty == "estimated"


def test_a_sample_that_knows_all_but_the_process_takes_what_the_last_knew():
    samples = [
        {"reserved": 4 * GIB, "process": 5 * GIB, "used": 9 * GIB},
        {"reserved": 4 * GIB, "used": 11 * GIB},
    ]
    found = found_at(run({"total": 24 * GIB}, samples), 1)
    assert (found["context"].bytes, found["others"].bytes) == (GIB, 6 * GIB)
    assert found["free"].bytes == 13 * GIB


def test_what_was_told_of_the_process_stands_against_a_later_figure_of_the_device():
    script = Script()
    script.device("cuda", total=24 * GIB)
    script.phase(PhaseKind.FORWARD, 0)
    script.alloc(2 * GIB, Category.ACTIVATION)
    script.sample(process=5 * GIB)
    script.free(script.alloc(GIB, Category.TEMPORARY))
    script.sample(used=3 * GIB)
    data = script.build(source="storages")
    assert ledger(data, 0, 1).process == 5 * GIB
    assert parts(data, 1)["free"] == 19 * GIB
    # Where the device itself was told last, it bounds what the process can hold.
    assert parts(data, 3)["free"] == 21 * GIB


def test_figures_that_contradict_each_other_are_estimates():
    too_small = [{"reserved": GIB, "process": 5 * GIB, "used": 9 * GIB}]
    found = found_at(run({"total": 24 * GIB}, too_small), 1)
    assert (found["context"].bytes, found["context"].certainty) == (3 * GIB, "estimated")
    more_than_used = [{"reserved": 4 * GIB, "process": 5 * GIB, "used": 3 * GIB}]
    found = found_at(run({"total": 24 * GIB}, more_than_used), 1)
    assert "others" not in found
    assert (found["free"].bytes, found["free"].certainty) == (19 * GIB, "estimated")


def test_temporaries_by_the_phase_they_were_made_in():
    script = Script()
    script.device(total=24 * GIB)
    script.older(3, Category.TEMPORARY)
    for kind, size in (
        (PhaseKind.FORWARD, 5),
        (PhaseKind.BACKWARD, 7),
        (PhaseKind.OPTIMIZER, 11),
        (PhaseKind.BACKWARD, 13),
    ):
        script.phase(kind, 0)
        script.alloc(size, Category.TEMPORARY)
        script.alloc(100 * size, Category.ACTIVATION)
    temporary = found_at(script.build(), script.cut)["temporary"]
    assert temporary.bytes == 3 + 5 + 7 + 11 + 13
    assert {part.id: part.bytes for part in temporary.details} == {
        "temporary.forward": 5,
        "temporary.backward": 20,
        "temporary.optimizer": 11,
        "temporary.other": 3,
    }


def test_rounding_is_what_is_charged_beyond_what_was_asked_for():
    script = Script()
    script.device(total=24 * GIB)
    script.older(512, requested=-1)
    script.older(512, requested=4)
    script.phase(PhaseKind.FORWARD, 0)
    script.free(script.alloc(1024, requested=1000))
    data = script.build()
    assert [ledger(data, 0, cut).rounding for cut in range(3)] == [508, 532, 508]


MIB = 1 << 20


def with_segments():
    """Two default pools and a private one: 22 + 2 + 4 MiB, 8 + 1 + 1 MiB of it in use."""
    script = Script()
    script.device(total=24 * GIB)
    script.phase(PhaseKind.FORWARD, 0)
    script.hold(MIB << 10, 20 * MIB, small=0)
    script.hold(MIB << 11, 2 * MIB, small=0)
    script.hold(MIB << 12, 2 * MIB, small=1)
    script.hold(MIB << 13, 4 * MIB, small=0, pool="0.1")
    script.alloc(8 * MIB, address=MIB << 10, stream=0)
    script.alloc(MIB, address=MIB << 12, stream=0)
    script.alloc(MIB, address=MIB << 13, stream=0)
    return script


def test_the_cache_by_pool_and_how_much_of_it_is_splinters():
    script = with_segments()
    cache = found_at(script.build(source="allocator"), script.cut)["cache"]
    assert (cache.bytes, cache.certainty) == (18 * MIB, "measured")
    assert {part.id: part.bytes for part in cache.details} == {
        "cache.large": 2 * MIB,
        "cache.splinters": 13 * MIB,
        "cache.private": 3 * MIB,
    }


def test_blocks_outside_the_segments_leave_the_cache_undivided():
    script = with_segments()
    script.alloc(MIB, address=MIB << 20, stream=0)
    cache = found_at(script.build(source="allocator"), script.cut)["cache"]
    assert cache.bytes == 17 * MIB
    assert list(cache.details) == []
