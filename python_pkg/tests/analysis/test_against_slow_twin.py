"""Every fast analysis gives what its slow twin gives, on random recordings."""

import numpy as np
from checks import check_recording
from hypothesis import HealthCheck, given, settings
from random_recordings import recordings
from slow_twin import SlowTwin

from memtrack.analysis import allocated, by_category, layer_table, peak, timeline
from memtrack.analysis.layers import ADDITIVE
from memtrack.analysis.peak import phase_peaks, step_peaks
from memtrack.analysis.running import layers_at
from memtrack.recording import Category, PhaseKind

twins = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def devices(data):
    return [(device, SlowTwin(data, device)) for device in range(len(data.devices))]


@twins
@given(recordings())
def test_levels(data):
    for device, twin in devices(data):
        assert allocated(data, device).tolist() == twin.levels == twin.allocated_by_events()


@twins
@given(recordings())
def test_categories_at_every_cut(data):
    cuts = np.arange(data.cuts + 1)
    for device, twin in devices(data):
        table = by_category(data, device, cuts)
        assert table.shape == (data.cuts + 1, len(Category))
        for category in Category:
            assert table[:, category].tolist() == [twin.bytes_at(cut, category) for cut in cuts]
        assert table.sum(axis=1).tolist() == twin.levels


@twins
@given(recordings())
def test_peak_is_the_earliest_of_the_largest(data):
    for device, twin in devices(data):
        for start, end in ((0, data.cuts), (data.cuts // 3, data.cuts // 2)):
            found = peak(data, device, start, end)
            cut = start + twin.earliest_most(twin.levels[start : end + 1])
            phase = twin.phase_at(cut)
            assert (found.cut, found.bytes) == (cut, twin.levels[cut])
            assert (found.step, found.phase) == (phase["step"], PhaseKind(phase["kind"]).id)
            assert found.layer == twin.layer_behind(cut)
            assert found.time_ns == (twin.events[cut - 1]["time_ns"] if cut else 0)


@twins
@given(recordings())
def test_running_layers(data):
    cuts = np.arange(data.cuts + 1)
    twin = SlowTwin(data, 0)
    assert layers_at(data, cuts).tolist() == [twin.running(cut) for cut in cuts]


@twins
@given(recordings())
def test_peaks_of_steps_and_phases(data):
    for device, twin in devices(data):
        by_step, by_phase = {}, {}
        for phase in twin.phases:
            most = max(twin.levels[phase["start"] : phase["end"] + 1])
            kind = PhaseKind(phase["kind"]).id
            by_step[phase["step"]] = max(most, by_step.get(phase["step"], 0))
            by_phase[kind] = max(most, by_phase.get(kind, 0))
        assert step_peaks(data, device).tolist() == [by_step[step] for step in sorted(by_step)]
        assert phase_peaks(data, device) == by_phase


@twins
@given(recordings())
def test_layer_table(data):
    for device, twin in devices(data):
        table = layer_table(data, device)
        step = peak(data, device).step
        expected = {
            "at_peak": twin.own(twin.alive(twin.earliest_most(twin.levels))),
            "parameters": twin.held(Category.PARAMETER),
            "buffers": twin.held(Category.BUFFER),
            "gradients": twin.held(Category.GRADIENT),
            "optimizer": twin.held(Category.OPTIMIZER_STATE),
            "saved": twin.saved()[1],
            "parameter_count": [*(layer["parameters"] for layer in twin.layers), 0],
        }
        assert set(expected) == set(ADDITIVE)
        for column, own in expected.items():
            assert [*table.columns[column], table.outside[column]] == own, column
        rows = range(len(twin.layers))
        columns = {name: list(values) for name, values in table.columns.items()}
        assert columns["peak"] == [twin.peak_of_layer(row) for row in rows]
        assert columns["calls"] == [len(twin.forward_calls(row)) for row in rows]
        assert columns["change"] == [twin.change(row, step) for row in rows]
        assert columns["live_after"] == [twin.live_after(row, step) for row in rows]
        assert columns["forward_ns"] == [twin.forward_ns(row) for row in rows]


@twins
@given(recordings())
def test_timeline_bounds_every_bucket(data):
    for device, twin in devices(data):
        window = timeline(data, device, buckets=5)
        size = window.bucket_events
        assert size == max(1, -(-(data.cuts + 1) // 5))
        points = set(window.cut.tolist())
        for start in range(0, data.cuts + 1, size):
            bucket = range(start, min(start + size, data.cuts + 1))
            levels = [twin.levels[cut] for cut in bucket]
            assert start + levels.index(min(levels)) in points
            assert start + levels.index(max(levels)) in points
        alive = {
            row for row, life in enumerate(twin.allocations)
            if life["device"] == device
            and any(life["start"] < cut <= life["end"] for cut in points)
        }  # fmt: skip
        assert set(window.rows.tolist()) == alive


@twins
@given(recordings(most_actions=30))
def test_every_law_holds(data):
    check_recording(data)
