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
