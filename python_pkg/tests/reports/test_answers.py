"""The answers beside the peak: pools, peaks, growth, source lines, readings, and how it all ended."""

import dataclasses
import json
import re

import make_report_fixture
import numpy as np
import pytest
from allocator_script import AllocatorScript
from synthetic import Category, EventKind, PhaseKind, Script

from memtrack.recording import RecordingData
from memtrack.recording.categories import ReadingKind
from memtrack.reports import build_report, render_html, render_text, window_report
from memtrack.reports.answers import PeaksReport
from memtrack.reports.answertables import PHASE_NAMES, answer_tables
from memtrack.reports.bounded import notebook_payload, payload_bytes
from memtrack.reports.feweranswers import with_fewer_answers
from memtrack.reports.memorymap import with_fewer_blocks
from memtrack.units import format_bytes

MIB = 1 << 20


@pytest.fixture(scope="module")
def report():
    return make_report_fixture.build_fixture()[1]


def snapshot(lines=3, failed=0, evidence="opened"):
    """A trace without steps, layers and categories: blocks of 12, 14, 16 … MiB, each from its line."""
    script = AllocatorScript()
    script.device("cuda", 0, "CUDA device 0")
    script.phase(PhaseKind.OTHER, 0)
    for line in range(lines):
        stack = script.stack(("/home/me/train.py", "step", line + 1))
        script.alloc((12 + 2 * line) * MIB, Category.UNKNOWN, stack=stack)
    if failed:
        script.segment(EventKind.OOM, failed)
    return script.build(label="trace", source="allocator", evidence=evidence)


def training(steps, keeps=0, saved=False):
    """Steps of forward and backward; each keeps `keeps` bytes of activations of one layer."""
    script = AllocatorScript()
    script.device("cuda", 0, "GPU", total=24 << 30)
    model = script.layer("model")
    block = script.layer("block", model)
    stack = script.stack(("train.py", "step", 88))
    script.phase(PhaseKind.OTHER, 0)
    for step in range(steps):
        script.phase(PhaseKind.FORWARD, step)
        with script.call(block):
            made = script.alloc(64 * MIB, layer=block, stack=stack)
            if keeps:
                kept = script.alloc(keeps, layer=block, stack=stack)
                if saved:
                    script.save(kept)
        script.phase(PhaseKind.BACKWARD, step)
        script.free(script.alloc(8 * MIB, Category.TEMPORARY))
        script.free(made)
        script.phase(PhaseKind.OTHER, min(step + 1, steps - 1))
        script.read(ReadingKind.STEP)
    return script.build(source="allocator")


def graphs_kept(lines, sizes, listed=0):
    """Eight steps that keep what the layers of `blocks` saved, each `sizes` bytes at a line of its own.

    `listed` more are kept outside of all layers, with no graph.
    """
    script = AllocatorScript()
    script.device("cuda", 0, "GPU", total=24 << 30)
    blocks = script.layer("blocks", script.layer("model"))
    layers = [script.layer(f"blocks.{number}", blocks) for number in range(len(lines))]
    script.phase(PhaseKind.OTHER, 0)
    for step in range(8):
        script.phase(PhaseKind.FORWARD, step)
        for layer, line, size in zip(layers, lines, sizes, strict=True):
            with script.call(layer):
                stack = script.stack(("train.py", "forward", line))
                script.save(script.alloc(size, layer=layer, stack=stack))
        if listed:
            script.alloc(listed, stack=script.stack(("train.py", "step", 20)))
        script.phase(PhaseKind.BACKWARD, step)
        script.free(script.alloc(8 * MIB, Category.TEMPORARY))
        script.phase(PhaseKind.OTHER, min(step + 1, 7))
    return script.build(source="allocator")


def sentences(data):
    return [str(found.sentence) for found in build_report(data).views[0].growth]


class TestGrowth:
    def test_is_told_with_its_layer_line_steps_and_bytes(self):
        data = training(8, keeps=3 * MIB)
        view = build_report(data).views[0]
        (found,) = view.growth
        assert str(found.sentence) == (
            "Each step keeps 3.00 MiB more, made in block at train.py:88 step;"
            f" {found.steps} steps, {found.bytes // MIB}.0 MiB"
        )
        assert found.step_bytes == 3 * MIB
        assert found.bytes == found.steps * 3 * MIB
        assert (found.layer, found.category, found.site) == (1, "activation", "train.py:88 step")

    def test_a_graph_that_is_held_has_its_cause(self):
        (sentence,) = sentences(training(8, keeps=3 * MIB, saved=True))
        assert sentence.endswith("as by a loss kept without .item() or .detach()")

    @pytest.mark.parametrize("lines", [(7, 7, 7), (7, 8, 9)])
    def test_a_graph_kept_through_many_layers_is_one_finding_of_their_sum(self, lines):
        (sentence,) = sentences(graphs_kept(lines, sizes=(MIB, 2 * MIB, 4 * MIB)))
        where = "at train.py:7 forward" if len(set(lines)) == 1 else "most at train.py:9 forward"
        comma = " " if len(set(lines)) == 1 else ", "
        start = f"Each step keeps 7.00 MiB more, made in 3 layers inside blocks{comma}{where}; "
        assert sentence.startswith(start)
        assert sentence.endswith("as by a loss kept without .item() or .detach()")

    def test_a_graph_and_a_list_are_two_findings(self):
        graph, listed = (
            build_report(graphs_kept((7, 7), sizes=(MIB, 2 * MIB), listed=2 * MIB)).views[0].growth
        )
        assert (graph.step_bytes, listed.step_bytes) == (3 * MIB, 2 * MIB)
        assert graph.layer == 1 and listed.layer == -1
        assert listed.site == "train.py:20 step"

    def test_a_healthy_run_raises_no_alarm(self):
        report = build_report(training(8))
        assert report.views[0].growth == []
        assert "keeps" not in render_text(report)
        assert not re.search("cannot be given back|Out of memory", render_text(report))

    def test_little_is_no_alarm_either(self):
        assert sentences(training(8, keeps=1024)) == []

    def test_stands_in_text_and_html_before_the_ledger(self):
        report = build_report(training(8, keeps=3 * MIB))
        text, page = render_text(report), render_html(report, "zh_CN")
        assert text.index("! Each step keeps 3.00 MiB more") < text.index("activations  ")
        assert page.index("每步多保留 3.00 MiB") < page.index("<table")


def test_a_timeline_shows_itself_in_a_line(report):
    timeline = report.views[0].timeline
    peak = format_bytes(report.views[0].peak.bytes)
    assert repr(timeline) == f"<TimelineReport of {timeline.cuts} events: peak {peak}>"


class TestOutOfMemory:
    def test_tells_what_was_asked_for(self):
        details = [str(line) for line in build_report(snapshot(failed=700 * MIB)).views[0].details]
        assert details[0] == "Out of memory: 700 MiB was asked for with 42.0 MiB in use"

    def test_tells_where_it_was_and_what_the_device_had(self):
        data = snapshot(failed=700 * MIB)
        told = {"failures": {"0": {"stack": 0, "device_free": 3 << 30}}}
        facts = dataclasses.replace(data.facts, extra=told)
        view = build_report(RecordingData(facts, data.strings, data.tables)).views[0]
        assert str(view.details[0]) == (
            "Out of memory at train.py:1 step: 700 MiB was asked for with 42.0 MiB in use, though"
            " the device had 3.00 GiB free, as where this process has a limit"
        )

    def test_a_device_that_was_full_is_not_called_limited(self):
        data = snapshot(failed=700 * MIB)
        told = {"failures": {"0": {"stack": -1, "device_free": 699 * MIB}}}
        facts = dataclasses.replace(data.facts, extra=told)
        view = build_report(RecordingData(facts, data.strings, data.tables)).views[0]
        assert str(view.details[0]) == (
            "Out of memory: 700 MiB was asked for with 42.0 MiB in use; the device had 699 MiB free"
        )

    @pytest.mark.parametrize(
        "failures", [None, [], {"0": 3}, {"0": {"stack": 99}}, {"0": {"stack": "x"}}]
    )
    def test_believes_no_file(self, failures):
        data = snapshot(failed=700 * MIB)
        facts = dataclasses.replace(data.facts, extra={"failures": failures})
        view = build_report(RecordingData(facts, data.strings, data.tables)).views[0]
        assert str(view.details[0]) == "Out of memory: 700 MiB was asked for with 42.0 MiB in use"

    def test_tells_of_memory_that_is_free_in_pieces(self):
        script = AllocatorScript()
        script.device("cuda", 0, "GPU")
        script.phase(PhaseKind.OTHER, 0)
        rows = [script.alloc(16 * MIB, Category.UNKNOWN) for _ in range(8)]
        for row in rows[::2]:
            script.free(row)
        script.segment(EventKind.OOM, 30 * MIB)
        data = script.build(source="allocator", evidence="opened")
        view = build_report(data).views[0]
        reserved, in_use = sum(pool.reserved for pool in view.pools), 64 * MIB
        assert str(view.details[0]).startswith(
            "Out of memory: 30.0 MiB was asked for with 64.0 MiB in use; "
        )
        assert (
            "64.0 MiB was free in its pool of the allocator, but no block of it larger than 16.0 MiB"
            in str(view.details[0])
        )
        assert reserved >= in_use

    def test_is_told_where_nothing_was_allocated_at_all(self):
        data = snapshot(lines=0, failed=16 << 40)
        text = render_text(build_report(data))
        assert text.startswith("Out of memory: 16.0 TiB was asked for with 0 B in use\n")
        assert "▲" not in text

    @pytest.mark.parametrize("asked", [1 << 55, 1 << 62])
    def test_is_told_however_much_was_asked_for(self, asked):
        report = build_report(snapshot(failed=asked))
        line = str(report.views[0].details[0])
        assert line.startswith(f"Out of memory: {format_bytes(asked)} was asked for")

    def test_memory_that_is_held_though_nothing_is_in_use_is_not_called_none(self):
        script = AllocatorScript()
        script.device("cuda", 0, "GPU")
        script.hold(1 << 30, 20 * MIB, older=True)
        script.phase(PhaseKind.OTHER, 0)
        view = build_report(script.build(source="allocator", evidence="opened")).views[0]
        assert str(view.headline) == "Nothing was in use; 20.0 MiB is reserved by the allocator"
        assert not view.details


class TestSnapshots:
    def test_the_first_sentence_says_how_much_and_when(self):
        report = build_report(snapshot())
        assert str(report.views[0].headline) == (
            "Peak 42.0 MiB, 6.00 µs into the recording (event 6 of 6)"
        )
        assert str(report.views[0].details[0]) == (
            "Most of it was allocated at: train.py:3 step 16.0 MiB (38 %),"
            " train.py:2 step 14.0 MiB (33 %), train.py:1 step 12.0 MiB (29 %)"
        )

    def test_a_recording_of_our_own_keeps_its_words(self):
        report = build_report(snapshot(evidence="measured"))
        assert str(report.views[0].headline).startswith("Peak 42.0 MiB outside of forward")

    def test_lines_are_a_table_in_text_and_html(self):
        report = build_report(snapshot(lines=14))
        text, page = render_text(report), render_html(report)
        assert "\nAlive at the peak, by source line\n" in text
        assert "  train.py:14 step  38.0 MiB   11 %       1\n" in text
        assert "  … and 4 more lines, 60.0 MiB" in text
        assert "<caption" in page and "train.py:14 step</th>" in page
        assert "(f forward" not in text

    def test_the_timeline_is_drawn_by_line_and_sums_to_what_is_allocated(self):
        data = snapshot(lines=12)
        timeline = build_report(data).views[0].timeline
        groups = timeline.groups
        assert list(groups.names) == [f"train.py:{line} step" for line in range(12, 5, -1)]
        assert np.array_equal(sum(groups.bytes), timeline.points["allocated"])
        assert groups.bytes[0].max() == 34 * MIB
        page = render_html(build_report(data))
        assert "--memtrack-group-7" in page and "other lines" in page
        window = window_report(data, 0, 2, 9, 100)
        assert window.groups.names == groups.names
        assert np.array_equal(sum(window.groups.bytes), window.points["allocated"])

    def test_with_categories_it_is_drawn_by_them(self, report):
        assert report.views[0].timeline.groups is None

    def test_without_stacks_it_says_so(self):
        script = Script()
        script.device("cuda", 0, "GPU")
        script.phase(PhaseKind.OTHER, 0)
        script.alloc(MIB, Category.UNKNOWN)
        report = build_report(script.build(evidence="opened"))
        assert report.views[0].lines is None
        assert "does not tell which lines of code" in render_text(report)


class TestLines:
    def test_sum_to_the_peak(self, report):
        for view in report.views:
            assert view.lines.columns["bytes"].sum() + view.lines.omitted_bytes == view.peak.bytes
            assert (np.diff(view.lines.columns["bytes"]) <= 0).all()

    def test_many_are_bounded_and_still_sum(self):
        view = build_report(snapshot(lines=250)).views[0]
        assert (len(view.lines.site), view.lines.omitted) == (200, 50)
        assert view.lines.columns["bytes"].sum() + view.lines.omitted_bytes == view.peak.bytes


class TestPools:
    def test_sum_to_what_is_reserved_and_allocated(self, report):
        view = report.views[0]
        reserved = view.timeline.points["reserved"][view.timeline.peak_point]
        assert sum(pool.reserved for pool in view.pools) == reserved
        assert sum(pool.allocated for pool in view.pools) == view.peak.bytes
        for pool in view.pools:
            assert pool.reserved == pool.allocated + pool.pending + pool.free
            assert 0 <= pool.largest_free <= pool.free
            assert 0 <= pool.splinters <= pool.free

    def test_are_told_only_where_much_is_unused(self, report):
        titles = [str(table.title) for table in answer_tables(report, report.views[0])]
        assert "The allocator at the peak, by pool" in titles
        healthy = build_report(training(8))
        titles = [str(table.title) for table in answer_tables(healthy, healthy.views[0])]
        assert titles == ["Peaks by step and phase"]


class TestMap:
    def test_has_every_block_in_its_segment_and_every_byte(self, report):
        view = report.views[0]
        segments, blocks = view.map.segments, view.map.blocks
        assert segments["bytes"].sum() == sum(pool.reserved for pool in view.pools)
        assert blocks["bytes"].sum() == view.peak.bytes
        end = blocks["offset"] + blocks["bytes"]
        assert (end <= segments["bytes"][blocks["segment"]]).all()
        follows = np.diff(blocks["segment"]) == 0
        assert (np.diff(blocks["segment"]) >= 0).all()
        assert (blocks["offset"][1:][follows] >= end[:-1][follows]).all()
        by_pool = np.bincount(segments["pool"], weights=segments["bytes"])
        assert by_pool.tolist() == [pool.reserved for pool in view.pools]
        assert report.views[1].map is None

    def test_with_fewer_blocks_its_segments_are_whole(self, report):
        whole = report.views[0].map
        fewer = with_fewer_blocks(whole, 12)
        assert len(fewer.blocks["bytes"]) + len(fewer.segments["bytes"]) <= 12
        assert fewer.omitted == len(whole.segments["bytes"]) - len(fewer.segments["bytes"])
        assert fewer.omitted_bytes + fewer.segments["bytes"].sum() == whole.segments["bytes"].sum()
        kept = set(fewer.segments["bytes"].tolist())
        for row, size in enumerate(fewer.segments["bytes"].tolist()):
            mine = fewer.blocks["bytes"][fewer.blocks["segment"] == row].tolist()
            before = whole.segments["bytes"].tolist().index(size)
            assert size in kept
            assert mine == whole.blocks["bytes"][whole.blocks["segment"] == before].tolist() or (
                whole.segments["bytes"].tolist().count(size) > 1
            )
        assert max(fewer.blocks["site"].tolist(), default=-1) < len(fewer.sites)
        assert with_fewer_blocks(whole, 0) is None


class TestPeaks:
    def test_are_the_highest_of_each_phase_of_each_step(self, report):
        phases = report.views[0].peaks.phases
        assert phases["bytes"].max() == report.views[0].peak.bytes
        keys = list(zip(phases["step"].tolist(), phases["kind"].tolist(), strict=True))
        assert keys == sorted(set(keys))
        levels = report.views[0].timeline
        for cut, size in zip(phases["cut"].tolist(), phases["bytes"].tolist(), strict=True):
            point = np.searchsorted(levels.points["cut"], cut)
            assert levels.points["allocated"][point] == size

    def test_of_many_steps_the_telling_ones_are_shown(self):
        report = build_report(training(40))
        table = next(
            table
            for table in answer_tables(report, report.views[0])
            if table.head[0].template == "peak in"
        )
        assert [str(row[0]) for row in table.rows] == [
            "step 1", "step 2", "step 3", "step 4", "step 5", "step 40"
        ]  # fmt: skip
        assert [str(note) for note in table.notes] == ["… and 34 more steps"]
        assert [str(title) for title in table.head[1:]] == ["forward", "backward"]

    def test_what_lies_between_is_told_where_it_is_highest(self):
        def table(between):
            step, kind = np.array([0, 0, 0]), np.array([0, 1, 3])
            columns = {"step": step, "kind": kind, "bytes": np.array([5, 9, between])}
            report = build_report(training(2))
            view = dataclasses.replace(report.views[0], peaks=PeaksReport(columns, [], {}))
            return next(iter(answer_tables(report, view)))

        assert PHASE_NAMES[PhaseKind.OTHER] not in table(9).head
        assert PHASE_NAMES[PhaseKind.OTHER] in table(10).head


class TestBounds:
    def test_readings_that_people_ask_for_stay(self, report):
        fewer = with_fewer_answers(report, 100).views[0].summary
        kinds = fewer.readings["kind"].tolist()
        assert len(kinds) == 5
        assert kinds[0] == ReadingKind.START
        assert kinds[-1] == ReadingKind.END
        assert kinds.count(ReadingKind.MARK) == 3
        assert fewer.values.shape == (5, len(fewer.names))
        assert with_fewer_answers(report, 0).views[0].summary is None

    def test_lines_and_steps_still_sum(self, report):
        view = with_fewer_answers(report, 1).views[0]
        assert view.lines.columns["bytes"].sum() + view.lines.omitted_bytes == view.peak.bytes
        whole = with_fewer_answers(report, 4).views[0].peaks.phases
        assert set(whole["step"].tolist()) == {report.views[0].peak.step_index}
        assert len(whole["kind"]) == 4

    def test_a_long_run_with_many_readings_fits(self):
        report = build_report(training(400, keeps=MIB))
        for limit in (250_000, 60_000):
            packed = notebook_payload(report, limit)
            assert payload_bytes(packed) <= limit
            view = packed["report"]["views"][0]
            assert view["growth"][0]["sentence"]["en"].startswith("Each step keeps 1.00 MiB more")
            json.dumps(packed)
