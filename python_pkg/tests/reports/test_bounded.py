"""What a notebook keeps is bounded, and still sums to what was measured."""

import dataclasses
import json

import make_report_fixture
import numpy as np
import pytest
from large_recording import large_recording

import memtrack
from memtrack.analysis import allocated, timeline
from memtrack.analysis.layers import ADDITIVE
from memtrack.recording import RecordingData, Table
from memtrack.reports import build_report, bundle, notebook_payload, window_report
from memtrack.reports.bounded import payload_bytes
from memtrack.reports.clip import with_shorter_names
from memtrack.reports.fewer import with_fewer_layers, with_fewer_marks, with_fewer_phases
from memtrack.reports.payload import MIME_TYPE, encode_report, pack_for_notebook
from memtrack.reports.thin import thinned_timeline


@pytest.fixture(scope="module")
def large():
    return build_report(large_recording(steps=6, blocks=40, leaves=50))


@pytest.fixture(scope="module")
def small():
    return make_report_fixture.build_fixture()[1]


@pytest.mark.parametrize("limit", [250_000, 100_000, 30_000])
def test_the_payload_fits_and_keeps_the_peak(large, limit):
    packed = notebook_payload(large, limit)
    assert payload_bytes(packed) == len(json.dumps(packed, ensure_ascii=False).encode()) <= limit
    view = packed["report"]["views"][0]
    assert view["peak"]["bytes"] == large.views[0].peak.bytes
    assert view["ledger"]["allocated"] == large.views[0].peak.bytes
    assert view["headline"]["en"] == str(large.views[0].headline)


def test_a_small_report_is_kept_whole(small):
    payload, buffers = encode_report(small)
    assert notebook_payload(small) == pack_for_notebook(payload, buffers)
    assert notebook_payload(small, model_id="abc")["model_id"] == "abc"


def test_many_marks_and_steps_fit_too():
    data = large_recording(steps=3000, blocks=1, leaves=2)
    count = 50_000
    marks = {"cut": np.arange(count), "time_ns": np.arange(count) * 1000, "label": np.arange(count)}
    tables = {**data.tables, "marks": Table("marks", marks)}
    labels = [f"mark {number}" for number in range(count)]
    strings = [*labels, *data.strings]
    shifted = {
        name: Table(name, {column: _shift(name, column, values, count) for column, values in
                           table.columns.items()})
        for name, table in tables.items()
    }  # fmt: skip
    report = build_report(RecordingData(data.facts, strings, shifted))
    packed = notebook_payload(report)
    assert payload_bytes(packed) <= 250_000
    assert len(packed["report"]["marks"]["label"]) > 100


def _shift(table, column, values, count):
    """Make room for `count` strings before those that are there."""
    strings = {"layers": ("name", "path", "type"), "devices": ("kind", "name")}
    strings["calls"] = ("output_shape", "output_dtype")
    return values + count if column in strings.get(table, ()) else values


def test_fewer_layers_still_sum(large):
    fewer = with_fewer_layers(large, 30)
    before, after = large.views[0].layers, fewer.views[0].layers
    assert 30 <= len(fewer.layers.path) <= 33
    roots = fewer.layers.parent == -1
    for column in ADDITIVE:
        own, total = after.columns[column], after.columns[f"total_{column}"]
        assert own.sum() == before.columns[column].sum()
        sums = own.copy()
        np.add.at(sums, fewer.layers.parent[~roots], total[~roots])
        assert np.array_equal(sums, total)
    layer = large.views[0].peak.layer
    assert fewer.layers.path[fewer.views[0].peak.layer] == large.layers.path[layer]


def test_fewer_layers_are_still_a_tree(large):
    tree = with_fewer_layers(large, 30).layers
    for row, parent in enumerate(tree.parent):
        assert parent < row
        inside = [at for at in range(len(tree.parent)) if row <= at < row + tree.subtree[row]]
        assert all(tree.path[at].startswith(tree.path[row][:5]) for at in inside)
        if parent >= 0:
            assert row + tree.subtree[row] <= parent + tree.subtree[parent]
            assert tree.depth[row] == tree.depth[parent] + 1


def test_points_of_layers_left_out_go_to_their_parents(large):
    fewer = with_fewer_layers(large, 30)
    parents, paths = large.layers.parent, large.layers.path
    kept = set(fewer.layers.path)
    old, new = large.views[0].timeline.points["layer"], fewer.views[0].timeline.points["layer"]
    for before, after in zip(old.tolist(), new.tolist(), strict=True):
        while before >= 0 and paths[before] not in kept:
            before = int(parents[before])
        assert after == (fewer.layers.path.index(paths[before]) if before >= 0 else -1)


def test_fewer_phases_keep_those_around_the_peak_and_leave_no_gap():
    report = build_report(large_recording(steps=500, blocks=2, leaves=2))
    fewer = with_fewer_phases(report, 100)
    columns = fewer.phases.columns
    assert 50 <= len(columns["start"]) <= 100
    assert columns["start"][0] == 0
    assert columns["end"][-1] == report.phases.columns["end"][-1]
    assert np.array_equal(columns["start"][1:], columns["end"][:-1])
    assert (np.diff(columns["step"].astype(int)) >= 0).all()
    at_peak = columns["step"] == report.views[0].peak.step_index
    assert columns["kind"][at_peak].tolist() == [0, 1, 2]


def test_fewer_marks_are_those_nearest_to_the_peak(small):
    fewer = with_fewer_marks(small, 2)
    assert list(fewer.marks.label) == list(small.marks.label)[:2]


def test_a_thinned_timeline_is_a_coarser_timeline_of_the_same_run():
    data = large_recording(steps=2, blocks=20, leaves=20)
    whole = build_report(data).views[0].timeline
    thin = thinned_timeline(whole, 40, 25)
    points = thin.points
    levels = allocated(data, 0)
    assert len(points["cut"]) <= 83
    assert np.array_equal(points["allocated"], levels[points["cut"]])
    assert points["allocated"][thin.peak_point] == levels.max()
    assert np.array_equal(sum(thin.categories.values()), points["allocated"])
    assert len(thin.allocations["start"]) == 25
    coarse = timeline(data, 0, buckets=40)
    assert points["allocated"].min() == coarse.allocated.min()
    left = thin.omitted_allocations
    assert left > 0
    assert thin.omitted_bytes <= levels.max()


def test_a_zoom_answers_the_window_of_a_view(small):
    data = make_report_fixture.TinyRun().run()
    window = window_report(data, 1, 10, 20, 100)
    assert window.points["cut"].tolist() == list(range(10, 21))
    assert set(window.categories) == {"input"}
    beyond = window_report(data, 0, -5, 10**9, 1000)
    assert np.array_equal(beyond.points["cut"], small.views[0].timeline.points["cut"])


def test_a_bundle_has_three_forms(small):
    forms = bundle(small, "zh_CN")
    assert set(forms) == {"text/plain", "text/html", MIME_TYPE}
    assert forms["text/plain"].startswith("峰值")
    assert forms[MIME_TYPE]["model_id"] == ""
    assert dataclasses.is_dataclass(small)


def test_names_of_megabytes_fit(small):
    huge = "x" * 3_000_000
    tree = dataclasses.replace(small.layers, type=[huge] * len(small.layers.type))
    label = [huge] * len(small.marks.label)
    marks = dataclasses.replace(small.marks, label=label)
    packed = notebook_payload(dataclasses.replace(small, label=huge, layers=tree, marks=marks))
    assert payload_bytes(packed) <= 250_000
    assert packed["report"]["layers"]["path"]["values"] == list(small.layers.path)
    assert len(packed["report"]["label"]) == 1000


def test_a_deep_model_with_long_names_fits():
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(8, 8)
    for _ in range(150):
        model = torch.nn.Sequential(model)
    with memtrack.track(model) as recording:
        model(torch.ones(1, 8)).sum().backward()
    report = recording.report()
    deep = dataclasses.replace(
        report.layers,
        path=[path.replace(".0", ".self_attention" * 4) for path in report.layers.path],
    )
    packed = notebook_payload(dataclasses.replace(report, layers=deep))
    assert payload_bytes(packed) <= 250_000
    assert packed["report"]["layers"]["path"]["values"][-1].endswith(".self_attention")


def test_shorter_names_also_inside_of_sentences(small):
    shorter = with_shorter_names(small, 6)
    assert all(len(path) <= 6 for path in shorter.layers.path)
    assert [path[-1] for path in shorter.layers.path] == [path[-1] for path in small.layers.path]
    values = shorter.views[0].headline.values.values()
    assert all(len(value) <= 6 for value in values if isinstance(value, str))
