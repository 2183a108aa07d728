"""What NVML really answered, played back to our driver: laws that hold on every tape.

`bench/record_nvml.py` made the tapes, on two H200 with three processes on each.
"""

from pathlib import Path

import pytest
from nvml_tape import TapedNvml

from memtrack.devices.nvmlsource import NvmlSource

TAPES = sorted((Path(__file__).parent.parent / "fixtures" / "nvml").glob("*.json"))


def looks_of(path):
    """Return the tape and the look of each tick."""
    nvml = TapedNvml(path)
    source = NvmlSource(nvml)
    looks = []
    for tick in range(nvml.ticks):
        nvml.go(tick)
        looks.append(source.read())
    return nvml, looks


@pytest.fixture(params=TAPES, ids=lambda path: path.stem)
def played(request):
    return looks_of(request.param)


def test_every_device_answers_at_every_tick(played):
    nvml, looks = played
    for look in looks:
        assert look.refusal == ""
        assert [one.name for one in look.devices] == nvml.tape["about"]["devices"]
        assert [one.index for one in look.devices] == list(range(len(look.devices)))
        for one in look.devices:
            assert one.refusal == ""
            assert one.uuid.startswith("GPU-")
            assert one.total == one.reserved + one.used + one.free
            assert 0 <= one.utilisation <= 100
            assert 0 <= one.bandwidth <= 100
            assert 15 < one.temperature_c < 100
            assert 0 < one.power_w <= one.power_limit_w * 1.1


def test_what_a_process_holds_is_its_allocators_and_a_context(played):
    nvml, looks = played
    told = {pid: size for one in looks[1].devices for pid, size in map(pair, one.processes)}
    holders = nvml.tape["about"]["holders"]
    if nvml.tape["about"]["inside_a_container"]:
        sizes = sorted(told.values(), reverse=True)
        reserved = sorted((one["reserved"] for one in holders), reverse=True)
        assert all(size > held for size, held in zip(sizes, reserved, strict=False))
        return
    for holder in holders:
        beyond = told[holder["pid"]] - holder["reserved"]
        assert 200 << 20 < beyond < 2 << 30


def test_processes_never_hold_more_than_is_in_use(played):
    _, looks = played
    for look in looks:
        for one in look.devices:
            assert sum(process.bytes for process in one.processes) <= one.used


def test_a_device_that_computes_is_busy_and_the_process_that_ended_is_gone(played):
    nvml, looks = played
    assert max(look.devices[0].utilisation for look in looks) > 20
    if nvml.tape["about"]["inside_a_container"]:
        return
    ended = nvml.tape["about"]["holders"][-1]["pid"]
    listed = [ended in {one.pid for one in look.devices[-1].processes} for look in looks]
    assert listed[0]
    assert not listed[-1]
    assert listed == sorted(listed, reverse=True)


def pair(process):
    return process.pid, process.bytes
