"""Exported snapshots: what memory_viz and torch's own tools need of them, and what they keep."""

import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from memory_viz import View
from random_recordings import recordings
from random_tapes import tapes
from synthetic import Script
from tape import Tape

from memtrack.allocator.replay import recorded_reserved
from memtrack.allocator.settings import MIB, Settings
from memtrack.errors import UsageError
from memtrack.exports import snapshot_of, write_snapshot
from memtrack.readers.torch_snapshot import read_snapshot
from memtrack.recording import Category, EventKind, PhaseKind

FIXTURES = Path(__file__).parents[1] / "fixtures" / "snapshots"
OPCODES = {
    *[
        "APPEND",
        "APPENDS",
        "BINFLOAT",
        "BINGET",
        "BININT",
        "BININT1",
        "BININT2",
        "BINPUT",
        "BINUNICODE",
        "DICT",
        "EMPTY_DICT",
    ],
    *[
        "EMPTY_LIST",
        "EMPTY_TUPLE",
        "FRAME",
        "LIST",
        "LONG1",
        "LONG_BINGET",
        "LONG_BINPUT",
        "MARK",
        "MEMOIZE",
        "NEWFALSE",
    ],
    *[
        "NEWTRUE",
        "NONE",
        "PROTO",
        "SETITEM",
        "SETITEMS",
        "SHORT_BINUNICODE",
        "STOP",
        "TUPLE",
        "TUPLE1",
        "TUPLE2",
        "TUPLE3",
    ],
}
"""What the unpickler of MemoryViz.js knows."""


def run_on_the_cpu():
    """Two steps without any segment: a parameter from before, activations, something kept."""
    script = Script()
    script.device("cpu", 0, "CPU")
    layer = script.layer("model")
    stack = script.stack(("train.py", "main", 3), ("model.py", "forward", 9))
    script.older(4000, Category.PARAMETER, name="weight", layer=layer)
    script.phase(PhaseKind.FORWARD, 0)
    first = script.alloc(1000, Category.ACTIVATION, stack=stack, layer=layer)
    empty = script.alloc(0, Category.TEMPORARY)
    script.phase(PhaseKind.BACKWARD, 0)
    script.mark("half")
    script.free(first)
    script.free(empty)
    script.alloc(700, Category.GRADIENT)
    return script.build(started="2026-08-01T10:00:00+00:00")


def run_on_cuda(expandable=False):
    """Blocks of two pools and streams, one waiting for a stream, a private pool, a failure."""
    told = {"expandable_segments": expandable, "PYTORCH_CUDA_ALLOC_CONF": ""}
    tape = Tape(Settings.from_snapshot(told), 200 * MIB, told)
    older = [tape.malloc(size) for size in (1000, 30 * MIB, 5 * MIB)]
    tape.begin()
    waits = tape.malloc(3 * MIB + 5)
    tape.malloc(60 * MIB, pool=None if expandable else "0.3")
    tape.malloc(700, stream=9)
    tape.free_later(waits)
    tape.free(older[1])
    tape.malloc(2 * MIB)
    tape.free(waits)
    tape.malloc(110 * MIB)
    assert tape.malloc(190 * MIB) is None
    return tape.build()


RUNS = [run_on_the_cpu, run_on_cuda, lambda: run_on_cuda(expandable=True)]


@pytest.mark.parametrize("make", RUNS)
def test_the_levels_of_memory_viz_are_those_of_the_recording(make):
    data = make()
    view = View(snapshot_of(data), 0)
    alive = [
        sum(
            int(requested)
            for requested, start, end in zip(
                *(data.allocations[name] for name in ("requested", "start", "end")), strict=True
            )
            if start < cut <= end
        )
        for cut in range(data.cuts + 1)
    ]
    allocated, reserved = zip(*view.levels, strict=True)
    assert (allocated[0], max(allocated), allocated[-1]) == (alive[0], max(alive), alive[-1])
    recorded = recorded_reserved(data, 0)
    if recorded is None:  # made up: what is allocated, each block rounded
        recorded = np.array([4096, 4096 + 1024 + 512, 4096 + 1024])
    assert (max(reserved), reserved[-1]) == (recorded.max(), recorded[-1])


@settings(max_examples=60, deadline=None)
@given(tapes())
def test_every_block_lies_in_a_segment_at_every_event(tape):
    data = tape.build()
    levels = View(snapshot_of(data), 0).levels
    assert levels[-1][1] == tape.allocator.reserved
    assert levels[-1][0] == sum(block.requested for block in tape.allocator.live_blocks())
    assert max(reserved for _, reserved in levels) == _peak(data)


@settings(max_examples=60, deadline=None)
@given(tapes())
def test_read_again_it_is_the_same(tmp_path_factory, tape):
    data = tape.build()
    again = read_snapshot(write_snapshot(data, tmp_path_factory.mktemp("run") / "run.pickle"))
    for table in ("events", "allocations"):
        assert len(data.tables[table]) == len(again.tables[table])
    rows, same = (_lives(one) for one in (data, again))
    assert rows == same
    assert np.array_equal(again.events["kind"], data.events["kind"])
    if len(again.segments):
        assert np.array_equal(recorded_reserved(again, 0), recorded_reserved(data, 0))
    assert again.facts.extra["allocator_settings"] == tape.told


@settings(max_examples=50, deadline=None)
@given(recordings())
def test_where_nothing_is_known_of_segments_each_block_gets_one(data):
    snapshot = snapshot_of(data)
    pickle.dumps(snapshot, 4)
    for device, index in enumerate((0, 1)[: len(data.devices)]):
        if (data.segments["device"] == device).any():
            continue  # these were laid by chance, one over the other
        View(snapshot, index)
        alive = (data.allocations["device"] == device) & (data.allocations["end"] == data.cuts)
        blocks = [b for s in snapshot["segments"] if s["device"] == index for b in s["blocks"]]
        requested = sorted(block["requested_size"] for block in blocks)
        assert requested == sorted(data.allocations["requested"][alive].tolist())


@pytest.mark.parametrize("make", RUNS)
def test_segments_are_filled_without_a_gap(make):
    for segment in snapshot_of(make())["segments"]:
        blocks = segment["blocks"]
        assert blocks[0]["address"] == segment["address"]
        ends = [block["address"] + block["size"] for block in blocks]
        assert [block["address"] for block in blocks[1:]] == ends[:-1]
        assert ends[-1] == segment["address"] + segment["total_size"]


@pytest.mark.parametrize("make", RUNS)
def test_torch_reads_it(make, tmp_path):
    viz = pytest.importorskip("torch.cuda._memory_viz")
    with write_snapshot(make(), tmp_path / "run.pickle").open("rb") as file:
        snapshot = pickle.load(file)
    assert "total_reserved" in viz.segsum(snapshot)
    assert "cudaMalloc" in viz.trace(snapshot) or make is RUNS[2]
    plot = viz.trace_plot(snapshot)
    assert "Active Memory Timeline" in plot and len(plot) > 1000
    flames = viz.memory(snapshot, format_flamegraph=lambda lines: lines)
    assert "active_allocated" in flames
    assert viz.segments(snapshot, format_flamegraph=lambda lines: lines).startswith("stream_")


@pytest.mark.parametrize("make", RUNS)
def test_the_pickle_has_only_what_the_viewer_can_read(make, tmp_path):
    path = write_snapshot(make(), tmp_path / "run.pickle")
    used = {opcode.name for opcode, _, _ in pickletools.genops(path.read_bytes())}
    assert used <= OPCODES
    assert path.read_bytes()[:2] == b"\x80\x04"


def test_entries_say_what_stack_category_and_layer_are():
    entries = snapshot_of(run_on_the_cpu())["device_traces"][0]
    alloc = next(e for e in entries if e["action"] == "alloc" and e["size"] == 1000)
    assert alloc["frames"] == [
        {"name": "forward", "filename": "model.py", "line": 9},
        {"name": "main", "filename": "train.py", "line": 3},
    ]
    assert (alloc["category"], alloc["user_metadata"], alloc["stream"]) == (
        "activation",
        "model",
        0,
    )
    assert alloc["time_us"] == 1_785_578_400_000_001
    # Where there are categories, the viewer stumbles unless `unknown` is one of them.
    assert "unknown" in {entry.get("category") for entry in entries}


def test_without_categories_there_are_none():
    entries = snapshot_of(run_on_cuda())["device_traces"][0]
    assert not any("category" in entry for entry in entries)


def test_a_trace_keeps_its_order_and_its_kinds():
    data = run_on_cuda()
    entries = snapshot_of(data)["device_traces"][0]
    names = {
        EventKind.ALLOC: "alloc",
        EventKind.FREE: "free_requested",
        EventKind.FREE_COMPLETED: "free_completed",
        EventKind.SEGMENT_ALLOC: "segment_alloc",
        EventKind.SEGMENT_FREE: "segment_free",
        EventKind.OOM: "oom",
    }
    recorded = [names[EventKind(kind)] for kind in data.events["kind"]]
    at_once = [
        i
        for i, (entry, before) in enumerate(zip(entries[1:], entries, strict=False), 1)
        if (entry["action"], before["action"]) == ("free_completed", "free_requested")
        and entry["addr"] == before["addr"]
    ]
    assert [e["action"] for i, e in enumerate(entries) if i not in at_once] == [
        *recorded,
        "snapshot",
    ]
    assert (
        recorded.count("free_completed") == 1
        and len(at_once) == recorded.count("free_requested") - 1
    )
    assert next(e for e in entries if e["action"] == "oom")["size"] == 190 * MIB


def test_phases_and_marks_are_annotations():
    notes = snapshot_of(run_on_the_cpu())["external_annotations"]
    names = [(note["name"], note["stage"]) for note in notes]
    assert names[:2] == [("step 1 forward", "START"), ("step 1 forward", "END")]
    assert names[-2:] == [("half", "START"), ("half", "END")]


def test_private_pools_and_settings_are_told():
    snapshot = snapshot_of(run_on_cuda())
    assert {segment["segment_pool_id"] for segment in snapshot["segments"]} == {(0, 0), (0, 3)}
    assert snapshot["allocator_settings"] == {
        "expandable_segments": False,
        "PYTORCH_CUDA_ALLOC_CONF": "",
    }
    assert "allocator_settings" not in snapshot_of(run_on_the_cpu())


def test_devices_other_than_cuda_come_after_those_of_cuda():
    script = Script()
    script.device("cpu", 0, "CPU")
    script.device("cuda", 1, "GPU")
    script.phase(PhaseKind.OTHER, 0)
    script.alloc(100, device=0)
    script.alloc(200, device=1)
    traces = snapshot_of(script.build())["device_traces"]
    sizes = [[e["size"] for e in trace if e["action"] == "alloc"] for trace in traces]
    assert sizes == [[], [200], [100]]


def test_an_ending_is_added_where_there_is_none_and_a_failure_leaves_the_file(
    tmp_path, monkeypatch
):
    data = run_on_the_cpu()
    assert write_snapshot(data, tmp_path / "run").name == "run.pickle"
    before = (tmp_path / "run.pickle").read_bytes()
    monkeypatch.setattr(pickle, "dump", _full)
    with pytest.raises(OSError, match="No space"):
        write_snapshot(data, tmp_path / "run.pickle")
    assert (tmp_path / "run.pickle").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.pickle"]


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zip"])
def test_a_name_that_promises_a_packed_file_is_refused(tmp_path, ending):
    with pytest.raises(UsageError, match=r"unpacked.*run\.pickle'\?$"):
        write_snapshot(run_on_the_cpu(), tmp_path / f"run.pickle{ending}")
    assert not list(tmp_path.iterdir())


def _full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_recording_of_nothing_is_a_snapshot_of_nothing():
    snapshot = snapshot_of(Script().build())
    assert snapshot["segments"] == [] and snapshot["device_traces"] == [[]]
    assert np.size(snapshot["external_annotations"]) == 0


def _lives(data):
    names = ("address", "bytes", "requested", "start", "end", "stream")
    columns = (data.allocations[name].tolist() for name in names)
    return sorted(zip(*columns, strict=True))


@pytest.mark.parametrize("make", RUNS)
def test_stacks_are_read_again(make, tmp_path):
    data = make()
    again = read_snapshot(write_snapshot(data, tmp_path / "run.pickle"))
    stacks = [
        sorted(str(one.stack_frames(stack)) for stack in one.allocations["stack"].tolist())
        for one in (data, again)
    ]
    assert stacks[0] == stacks[1]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.gz")), ids=lambda path: path.name)
def test_failures_are_read_again_with_their_line_and_what_was_free(path, tmp_path):
    data = read_snapshot(path)
    again = read_snapshot(write_snapshot(data, tmp_path / "run.pickle"))
    assert _failures(again) == _failures(data)
    assert bool(_failures(data)) == ((data.events["kind"] == EventKind.OOM).sum() > 0)


def _failures(data):
    told = data.facts.extra.get("failures", {})
    return {
        device: (found["device_free"], data.stack_frames(found["stack"]))
        for device, found in told.items()
    }


def _peak(data):
    reserved = recorded_reserved(data, 0)
    return 0 if reserved is None else reserved.max()
