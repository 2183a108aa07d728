"""The ledger's sums are exact at every cut and every sample, and its slow twin agrees."""

import dataclasses

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_recordings import recordings
from slow_ledger import SlowLedger

from memtrack.analysis import by_category, ledger
from memtrack.recording import Category
from memtrack.recording.tables import Table

twins = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CATEGORIES = {category.id for category in Category}
MIB = 1 << 20

_draw = st.tuples(
    st.integers(0, 1 << 20),  # which cut
    st.sampled_from(("true", "unknown", "wrong")),
    st.sampled_from(("true", "unknown", "wrong")),
    st.sampled_from(("true", "unknown", "wrong")),
    st.integers(0, 900 * MIB),  # context
    st.integers(0, 1 << 34),  # others
)


@st.composite
def sampled(draw):
    """A random recording with samples that are true, silent or contradict what else is known."""
    data = draw(recordings(most_actions=20))
    totals = st.sampled_from((-1, 1 << 20, 1 << 36, 1 << 45))
    devices = dict(data.devices.columns)
    count = len(data.devices)
    devices["total"] = np.array([draw(totals) for _ in range(count)])
    contexts = st.sampled_from((-1, -1, 0, 300 * MIB))
    devices["context"] = np.array([draw(contexts) for _ in range(count)])
    data = with_table(data, "devices", devices)
    twins_of = [SlowLedger(data, device) for device in range(count)]
    rows = [
        _sample(twins_of, place, *drawn)
        for place, drawn in enumerate(draw(st.lists(_draw, max_size=6)))
    ]
    columns = {name: [row[name] for row in rows] for name in data.samples.columns}
    return with_table(data, "samples", columns)


def _sample(twins_of, place, number, reserved, process, used, context, others):
    device = place % len(twins_of)
    twin = twins_of[device]
    cut = number % len(twin.levels)
    held = twin.held(cut)

    def told(kind, true):
        return {"true": true, "unknown": -1, "wrong": number}[kind]

    return {
        "cut": cut,
        "time_ns": place,
        "device": device,
        "reserved": told(reserved, held),
        "process": told(process, held + context),
        "used": told(used, held + context + others),
    }


def with_table(data, name, columns):
    tables = {**data.tables, name: Table(name, columns)}
    return dataclasses.replace(data, tables=tables)


def all_cuts(data):
    for device in range(len(data.devices)):
        twin = SlowLedger(data, device)
        for cut in range(data.cuts + 1):
            yield twin, cut, ledger(data, device, cut)


@twins
@given(sampled())
def test_parts_are_those_of_the_slow_twin(data):
    for twin, cut, found in all_cuts(data):
        assert {part.id: part.bytes for part in found.parts} == twin.parts(cut)
        assert found.rounding == twin.rounding(cut)
        details = {
            detail.id: detail.bytes
            for part in found.parts
            if part.id == "temporary"
            for detail in part.details
        }
        assert details == twin.temporaries(cut)


@twins
@given(sampled())
def test_categories_allocator_and_device_sum_at_every_cut(data):
    for twin, cut, found in all_cuts(data):
        sizes = {part.id: part.bytes for part in found.parts}
        assert all(type(size) is int and size > 0 for size in sizes.values())
        tensors = sum(size for name, size in sizes.items() if name in CATEGORIES)
        assert tensors == found.allocated == twin.levels[cut]
        levels = by_category(data, twin.device, np.array([cut]))[0]
        assert {c.id: int(levels[c]) for c in Category if levels[c]} == {
            name: size for name, size in sizes.items() if name in CATEGORIES
        }
        assert found.reserved == twin.held(cut) >= found.allocated
        total = int(data.devices["total"][twin.device])
        assert sum(sizes.values()) == found.total == max(total, found.reserved)
        for part in found.parts:
            if part.details:
                assert sum(detail.bytes for detail in part.details) == part.bytes
                assert all(detail.bytes > 0 for detail in part.details)


@twins
@given(sampled())
def test_at_every_sample_the_sums_are_what_the_driver_said(data):
    for twin, cut, found in all_cuts(data):
        total = int(data.devices["total"][twin.device])
        if total < found.reserved or not twin.samples:
            continue
        process, used = twin.last("process", cut), twin.last("used", cut)
        sizes = {part.id: part.bytes for part in found.parts}
        here = process is not None and process["cut"] == cut
        # What is in use bounds the process, where that is told without it at the same cut.
        is_newer = used is not None and used["cut"] == cut and used["process"] < 0
        if here and not is_newer and found.reserved <= process["process"] <= total:
            assert found.process == process["process"]
        if used is not None and used["cut"] == cut:
            least = max(used["process"], found.reserved)
            agree = not (here and process is not used and process["process"] > used["used"])
            same = used["process"] < 0 or process is used
            if least <= used["used"] <= total and agree and same:
                assert found.total - sizes.get("free", 0) == used["used"]


@twins
@given(sampled())
def test_measured_is_only_what_was_read_there_and_agrees(data):
    for twin, cut, found in all_cuts(data):
        read = [row for row in twin.samples if row["cut"] == cut]
        for part in found.parts:
            if part.id in CATEGORIES:
                assert part.certainty == "measured"
            elif part.certainty == "measured" and part.id != "cache":
                assert any(row["reserved"] in (-1, found.reserved) for row in read)
                assert part.id != "outside"
                if part.id == "free":
                    assert found.total - part.bytes in [row["used"] for row in read]
                else:
                    assert any(row["process"] >= found.reserved for row in read)
