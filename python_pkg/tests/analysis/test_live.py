"""What is alive, by whose it is, what made it, where it lies and how old it is."""

from collections import Counter

import slow_layout
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_recordings import recordings
from slow_twin import SlowTwin
from synthetic import Category, PhaseKind, Script

from memtrack.analysis import largest_allocations, live_set

twins = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MIB = 1 << 20


def pool_of(twin, cut, row):
    for (private, small, stream), start, end, _ in slow_layout.ranges(twin, cut):
        if start <= row["address"] < end:
            owner = f"{private}/" if private else ""
            return owner + ("small" if small else "large") + (f"@{stream:x}" if stream else "")
    return ""


def age_of(twin, cut, row):
    if row["start"] < 0:
        return ""
    steps = twin.phase_at(cut)["step"] - twin.phase_at(row["start"] + 1)["step"]
    return ("this", "previous", "older")[min(steps, 2)]


def phase_of(twin, row):
    return PhaseKind(twin.phases[row["phase"]]["kind"]).id if row["phase"] >= 0 else ""


@twins
@given(recordings(), st.integers(0, 60))
def test_holders(data, cut):
    cut = min(cut, data.cuts)
    for device in range(len(data.devices)):
        twin = SlowTwin(data, device)
        found = live_set(data, device, cut)
        expected = {"by_pool": Counter(), "by_age": Counter(), "by_phase": Counter()}
        for row in twin.alive(cut):
            expected["by_pool"][pool_of(twin, cut, row)] += row["bytes"]
            expected["by_age"][age_of(twin, cut, row)] += row["bytes"]
            expected["by_phase"][phase_of(twin, row)] += row["bytes"]
        for ranking, sums in expected.items():
            holders = getattr(found, ranking)
            assert {holder.name: holder.bytes for holder in holders} == sums
            assert sum(holder.allocations for holder in holders) == len(twin.alive(cut))
            sizes = [holder.bytes for holder in holders]
            assert sizes == sorted(sizes, reverse=True)


def test_the_largest_allocations_by_all_that_is_known():
    script = Script()
    script.device()
    layer = script.layer("model")
    script.older(100, Category.PARAMETER, layer=layer, name="model.weight", requested=90)
    script.phase(PhaseKind.FORWARD, 0)
    script.phase(PhaseKind.BACKWARD, 1)
    script.alloc(300, Category.GRADIENT, stack=script.stack(("train.py", "step", 7)))
    script.alloc(50, Category.UNKNOWN)
    data = script.build()
    found = largest_allocations(data, live_set(data, 0, data.cuts), 2)
    assert [(one.bytes, one.requested, one.name, one.layer) for one in found] == [
        (300, 300, "", ""),
        (100, 90, "model.weight", "model"),
    ]
    assert [(one.category, one.site, one.step, one.phase) for one in found] == [
        ("gradient", "train.py:7 step", 1, "backward"),
        ("parameter", "", -1, ""),
    ]


def test_a_pool_is_named_by_its_owner_and_its_stream():
    script = Script()
    script.device()
    script.phase(PhaseKind.FORWARD, 0)
    for number, values in enumerate(
        ({}, {"small": 1}, {"pool": "0.1", "small": 1}, {"stream": 0x7F00})
    ):
        script.hold((1 + number) << 30, 20 * MIB, **values)
        script.alloc((9 - number) * 512, address=(1 + number) << 30)
    script.alloc(512, address=5)
    data = script.build(source="allocator")
    names = [holder.name for holder in live_set(data, 0, data.cuts).by_pool]
    assert names == ["large", "small", "0.1/small", "large@7f00", ""]
