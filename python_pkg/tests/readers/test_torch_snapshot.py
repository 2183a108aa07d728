"""Snapshots open, whichever torch wrote them; anything else is one clear line, whatever the bytes."""

import collections
import gc
import gzip
import io
import lzma
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from checks import check_recording
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_writer import MIB, WritingAllocator, check_any

from memtrack.analysis import allocated
from memtrack.cli import main
from memtrack.errors import UnreadableFile
from memtrack.readers import open_recording, unpickle
from memtrack.recording import EventKind
from memtrack.reports import build_report

FIXTURES = Path(__file__).parents[1] / "fixtures" / "snapshots"
PEAKS = {  # allocated_bytes.all.peak of the process that wrote the file
    "absurd_shape": 0,
    "backward_peak": 2_081_653_760,
    "fragmentation": 4_026_531_840,
    "optimizer_first_step": 3_155_918_848,
    "other_process": 5_368_709_120,
}


def written(tmp_path, snapshot, protocol=4):
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(snapshot, protocol=protocol))
    return path


def refusal(path):
    with pytest.raises(UnreadableFile) as caught:
        open_recording(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def a_run():
    allocator = WritingAllocator()
    allocator.malloc(512)
    block = allocator.malloc(20 * MIB)
    allocator.free(block)
    allocator.malloc(19 * MIB)
    return allocator


# ---------------------------------------------------------------------------- what was written


@pytest.mark.parametrize("name", sorted(PEAKS))
def test_peak_is_max_memory_allocated_of_the_process(name):
    data = open_recording(FIXTURES / f"{name}.pickle.gz")
    assert allocated(data, 0).max() == PEAKS[name]
    assert (data.facts.label, data.facts.evidence, data.facts.source) == (
        name,
        "opened",
        "allocator",
    )


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.gz")), ids=lambda path: path.name)
def test_every_law_holds_and_the_end_is_what_the_segments_say(path):
    data = open_recording(path)
    data.self_check()
    with gzip.open(path) as file:
        segments = pickle.load(file)["segments"]
    assert allocated(data, 0)[-1] == sum(segment["allocated_size"] for segment in segments)
    held = data.segments["end"] == data.cuts
    assert data.segments["bytes"][held].sum() == sum(s["total_size"] for s in segments)
    assert data.facts.extra["allocator_settings"]["max_split_size"] == -1


def test_stacks_and_settings_and_clock_are_told():
    data = open_recording(FIXTURES / "fragmentation.pickle.gz")
    row = int(np.flatnonzero(data.allocations["start"] >= 0)[0])
    stack = data.stack_frames(int(data.allocations["stack"][row]))
    assert [function for _, function, _ in stack] == ["fragmentation", "run_one", "<module>"]
    assert data.facts.started == "2026-11-29T20:22:49+00:00"
    assert data.events["time_ns"][0] == 0
    assert data.events["kind"][-1] == EventKind.OOM


def test_a_ring_buffer_that_lost_its_start_is_told():
    data = open_recording(FIXTURES / "gpt2_tail.pickle.gz")
    assert [notice.id for notice in data.facts.notices] == ["trace_late"]
    assert (data.allocations["start"] < 0).sum() > 400
    check_recording(data)


# ---------------------------------------------------------------------------- every torch since 2.0


def quirk(change):
    snapshot = a_run().snapshot()
    change(snapshot)
    return snapshot


def drop_from_entries(*fields):
    def change(snapshot):
        for entry in snapshot["device_traces"][0]:
            for field in fields:
                entry.pop(field, None)

    return change


def drop_from_segments(*fields):
    def change(snapshot):
        for segment in snapshot["segments"]:
            for field in fields:
                segment.pop(field, None)

    return change


def as_torch_2_0(snapshot):
    """Blocks have a history and no address; nothing has a time."""
    drop_from_entries("time_us")(snapshot)
    drop_from_segments("segment_pool_id", "is_expandable", "frames")(snapshot)
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            asked = block.pop("requested_size")
            del block["address"], block["frames"]
            if block["state"] != "inactive":
                frames = [{"filename": "old.py", "name": "f", "line": 3}]
                block["history"] = [{"addr": 0, "real_size": asked, "frames": frames}]
    del snapshot["allocator_settings"]


def with_unknown_actions(snapshot):
    trace = snapshot["device_traces"][0]
    for action in ("annotate", "user_defined", "snapshot", "from_the_future"):
        trace.insert(2, {"action": action, "addr": 0, "size": 5, "stream": 0})
    trace.insert(4, {"action": ["not", "a", "word"]})


def with_wide_numbers(snapshot):
    for segment in snapshot["segments"]:
        segment["stream"] = 2**64 - 8
    for entry in snapshot["device_traces"][0]:
        entry["stream"] = 2**64 - 8
        entry["compile_context"] = None


def with_negative_addresses(snapshot):
    """As signed 64-bit numbers, beyond the middle of the address space."""
    for things in (snapshot["segments"], snapshot["device_traces"][0]):
        for thing in things:
            for field in ("addr", "address"):
                if field in thing:
                    thing[field] -= 2**62 + 2**47
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            block["address"] -= 2**62 + 2**47


QUIRKS = {
    "torch 2.0": as_torch_2_0,
    "no times": drop_from_entries("time_us"),
    "no frames": drop_from_entries("frames"),
    "no streams": drop_from_entries("stream"),
    "no pool, type or flag": drop_from_segments(
        "segment_pool_id", "segment_type", "is_expandable", "allocated_size"
    ),
    "no device": drop_from_segments("device"),
    "unknown actions": with_unknown_actions,
    "numbers past 2^63": with_wide_numbers,
    "negative addresses": with_negative_addresses,
    "host memory": lambda s: s.update(host_segments=[{"x": 1}], host_traces=[[1], 2]),
    "no settings": lambda s: s.update(allocator_settings=None),
    "annotations of all kinds": lambda s: s.update(
        external_annotations=[1, {}, {"stage": "START"}]
    ),
}


@pytest.mark.parametrize("name", sorted(QUIRKS))
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_quirk_gives_the_same_bytes(tmp_path, name, protocol):
    plain = open_recording(written(tmp_path, a_run().snapshot()))
    data = open_recording(written(tmp_path, quirk(QUIRKS[name]), protocol))
    data.self_check()
    for column in ("bytes", "requested", "start", "end"):
        assert np.array_equal(data.allocations[column], plain.allocations[column]), column
    for column in ("bytes", "start", "end"):
        assert np.array_equal(data.segments[column], plain.segments[column])


def test_the_oldest_blocks_have_their_size_and_stack(tmp_path):
    snapshot = quirk(as_torch_2_0)
    snapshot["device_traces"] = [[]]
    data = open_recording(written(tmp_path, snapshot))
    assert data.allocations["requested"].tolist() == [512, 19 * MIB]
    assert data.stack_frames(int(data.allocations["stack"][1])) == [("old.py", "f", 3)]
    assert [notice.id for notice in data.facts.notices] == ["trace_missing"]


def test_blocks_that_wait_for_a_stream_count_as_freed(tmp_path):
    for state in ("active_pending_free", "active_awaiting_free"):
        segment = {"address": 1 << 40, "total_size": 2 * MIB, "blocks": []}
        segment["blocks"] = [
            {"size": MIB, "requested_size": MIB, "state": state},
            {"size": MIB, "requested_size": MIB, "state": "active_allocated"},
        ]
        data = open_recording(written(tmp_path, [segment]))
        assert data.allocations["address"].tolist() == [(1 << 40) + MIB]


def test_several_devices_share_one_clock(tmp_path):
    one, other = WritingAllocator(device=0), WritingAllocator(device=2)
    for i in range(20):
        (one, other)[i % 2].malloc(512 * (i + 1))
        other.clock = one.clock = max(one.clock, other.clock)
    snapshot = one.snapshot()
    snapshot["segments"] += other.snapshot()["segments"]
    snapshot["device_traces"] = [one.trace, [], other.trace]
    data = open_recording(written(tmp_path, snapshot))
    check_recording(data)
    assert data.devices["index"].tolist() == [0, 2]
    assert [data.string(name) for name in data.devices["name"]] == [
        "CUDA device 0",
        "CUDA device 2",
    ]
    for device, allocator in enumerate((one, other)):
        levels = allocated(data, device)
        mine = np.flatnonzero(data.events["device"] == device) + 1
        assert levels[mine].tolist() == [level for level, _ in allocator.levels[1:]]
    order = data.events["device"].tolist()
    assert order == sorted(order, key=lambda _: 0) and len(set(order[:8])) == 2


def test_marks_are_the_labels_of_record_function(tmp_path):
    allocator = a_run()
    times = [entry["time_us"] for entry in allocator.trace]
    snapshot = allocator.snapshot()
    snapshot["external_annotations"] = [
        {"stage": stage, "name": "evaluate", "device": 0, "time_us": times[3] + offset}
        for stage, offset in (("START", 0), ("END", 5))
    ] + [{"stage": "START", "name": f"step{i % 2}", "time_us": times[1]} for i in range(999)]
    data = open_recording(written(tmp_path, snapshot))
    assert [data.string(label) for label in data.marks["label"]] == ["evaluate"]
    assert data.marks["cut"].tolist() == [3]


def test_frames_of_cpp_are_left_out(tmp_path):
    snapshot = a_run().snapshot()
    cpp = [{"filename": name, "name": "at::empty", "line": 0} for name in ("??", "", "Empty.cpp")]
    for entry in snapshot["device_traces"][0]:
        entry["frames"] = [*cpp, {"filename": "train.py", "name": "step", "line": 8}]
    data = open_recording(written(tmp_path, snapshot))
    assert data.stack_frames(int(data.allocations["stack"][0])) == [("train.py", "step", 8)]


# ---------------------------------------------------------------------------- what is no snapshot


class _Evil:
    def __reduce__(self):
        return (print, ("run",))


REFUSED = {
    "builtins.print": pickle.dumps({"segments": [_Evil()]}),
    "collections.OrderedDict": pickle.dumps(collections.OrderedDict(weight=1)),
    "persistent_load": b"\x80\x02X\x03\x00\x00\x00abcQ.",
    "os.system": b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR.",
    "numpy": pickle.dumps(np.arange(3)),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_whatever_asks_for_more_is_refused_with_its_name(tmp_path, capsys, name):
    (tmp_path / "x.pickle").write_bytes(REFUSED[name])
    sentence = refusal(tmp_path / "x.pickle")
    assert f" asks for {name}" in sentence
    assert sentence.endswith("which no torch snapshot needs. Nothing of it was run.")
    assert capsys.readouterr().out == ""


def test_a_name_from_the_file_cannot_write_to_the_terminal(tmp_path):
    (tmp_path / "x.pickle").write_bytes(b"\x80\x02c\x1b[31mos\n" + b"y" * 300 + b"\n.")
    assert "asks for ?[31mos.yyy" in refusal(tmp_path / "x.pickle")


NOT_SNAPSHOTS = {
    "a list": [1, 2],
    "a tuple": (1,),
    "a dictionary": {"weight": 1.0},
    "a number": 5,
    "text": "hello",
    "segments of numbers": {"segments": [1]},
    "segments of other things": {"segments": [{"colour": 1}]},
    "segments that are no list": {"segments": 3},
    "traces that are no list": {"device_traces": {"a": 1}},
    "traces of numbers": {"device_traces": [[1, 2]]},
    "traces of traces": {"device_traces": [[[{}]]]},
    "blocks of numbers": {"segments": [{"total_size": 1, "blocks": [1]}]},
    "a device that is none": {"segments": [{"total_size": 1, "device": "cuda:0"}]},
    "a device beyond all": {"segments": [{"total_size": 1, "device": 10**9}]},
    "one trace many times": {"device_traces": [[{"action": "alloc"}]] * 3},
}


@pytest.mark.parametrize("name", sorted(NOT_SNAPSHOTS))
def test_other_peoples_pickles_are_told_apart(tmp_path, name):
    sentence = refusal(written(tmp_path, NOT_SNAPSHOTS[name]))
    assert sentence.endswith("is a pickle, but not of a torch allocator snapshot.")


@pytest.mark.parametrize(
    "empty", [{"segments": []}, {"segments": [], "device_traces": [[], []]}, []]
)
def test_an_empty_snapshot_says_how_to_get_a_full_one(tmp_path, empty):
    sentence = refusal(written(tmp_path, empty))
    assert "without any event or segment. Record first: torch.cuda.memory." in sentence


@pytest.mark.parametrize("field", ["device_traces", "segments"])
def test_more_devices_than_torch_is_built_for_are_refused_at_once(tmp_path, field):
    segments = [{"device": i, "address": 1 << 30, "total_size": 2 * MIB} for i in range(129)]
    traces = [[{"action": "alloc", "addr": 0, "size": 1}] for _ in range(129)]
    found = {"device_traces": traces, "segments": segments}[field]
    assert "not of a torch allocator snapshot" in refusal(written(tmp_path, {field: found}))
    data = open_recording(written(tmp_path, {field: found[:120]}))
    assert len(data.devices) == 120


def test_sizes_beyond_all_memory_are_refused(tmp_path):
    entries = [{"action": "alloc", "addr": i, "size": 2**61, "stream": 0} for i in range(4)]
    assert "beyond all memory" in refusal(written(tmp_path, {"device_traces": [entries]}))


@pytest.mark.parametrize("asked", [2**40, 2**56, 2**62 - 512, 2**62, 2**63 - 1, 2**70])
def test_a_request_for_more_than_any_memory_is_a_failure_like_others(tmp_path, asked):
    snapshot = a_run().snapshot()
    allocated_before = allocated(open_recording(written(tmp_path, snapshot)), 0)
    failed = {"action": "oom", "device_free": 1 << 30, "size": asked, "stream": 0}
    snapshot["device_traces"][0] += [dict(failed), dict(failed)]
    data = open_recording(written(tmp_path, snapshot))
    check_recording(data)
    events = data.events
    assert events["bytes"][events["kind"] == EventKind.OOM].tolist() == [min(asked, 2**62)] * 2
    assert allocated(data, 0).tolist() == [*allocated_before.tolist(), *[allocated_before[-1]] * 2]
    build_report(data)


@pytest.mark.parametrize("action", ["alloc", "free_requested", "free_completed", "segment_map"])
def test_a_trace_of_a_single_event_has_a_report(tmp_path, action):
    entry = {"action": action, "addr": 1 << 30, "size": 512, "stream": 0, "time_us": 1}
    data = open_recording(written(tmp_path, {"device_traces": [[entry]]}))
    assert data.cuts == 1
    check_recording(data)
    assert len(build_report(data).views) == 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_file_that_is_cut_short_is_told(tmp_path, pack):
    whole = pack(pickle.dumps(a_run().snapshot()))
    for length in range(len(whole) // 2, len(whole) - 1, 97):
        (tmp_path / "cut.pickle").write_bytes(whole[:length])
        assert refusal(tmp_path / "cut.pickle").endswith("is cut short or damaged.")


def test_deep_nesting_is_no_crash(tmp_path):
    (tmp_path / "deep.pickle").write_bytes(b"\x80\x04" + b"(" * 200_000 + b"t" * 200_000 + b".")
    refusal(tmp_path / "deep.pickle")
    deep = []
    for _ in range(100_000):
        deep = [deep]
    frames = b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b"."
    (tmp_path / "deep.pickle").write_bytes(frames)
    refusal(tmp_path / "deep.pickle")


def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(unpickle, "LARGEST_UNPACKED", 3 * MIB)
    content = pickle.dumps({"segments": [], "note": "0" * 4 * MIB})
    for pack in (gzip.compress, lzma.compress):
        (tmp_path / "bomb").write_bytes(pack(content))
        assert refusal(tmp_path / "bomb").endswith("bomb unpacks to more than 3.00 MiB.")


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02]r\xff\xff\xff\x7f.",  # a place for two thousand million things
        b"\x80\x02]p99999999999\n.",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b".",
        b"\x80\x04\x95" + struct.pack("<Q", 2**63) + b".",
        b"\x80\x05\x96" + struct.pack("<Q", 2**50) + b".",
    ],
)
def test_sizes_that_a_pickle_only_claims_are_not_believed(tmp_path, content):
    (tmp_path / "x.pickle").write_bytes(content)
    assert refusal(tmp_path / "x.pickle").endswith("x.pickle is cut short or damaged.")


def test_large_files_come_through_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(unpickle, "SMALLEST_BULK", 1000)
    content = pickle.dumps(a_run().snapshot(), protocol=2)
    for pack in (bytes, gzip.compress, lzma.compress):
        (tmp_path / "x.pickle").write_bytes(pack(content))
        assert open_recording(tmp_path / "x.pickle").cuts == 6


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(tmp_path, enabled):
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        open_recording(written(tmp_path, a_run().snapshot()))
        assert gc.isenabled() is enabled
        refusal(written(tmp_path, [1]))
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_the_command_line_tells_in_one_line_and_ends_with_2(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    assert main(["open", str(FIXTURES / "fragmentation.pickle.gz")]) == 0
    assert "3.75 GiB" in capsys.readouterr().out
    assert main(["open", str(written(tmp_path, _Evil()))]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


# ---------------------------------------------------------------------------- any bytes at all


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def _plain(name):
    return gzip.decompress((FIXTURES / f"{name}.pickle.gz").read_bytes())


SEEDS = (
    _plain("other_process"),
    _plain("absurd_shape"),
    pickle.dumps(a_run().snapshot(), protocol=2),
    (FIXTURES / "other_process.pickle.gz").read_bytes(),
)


@settings(max_examples=400, deadline=None)
@given(
    seed=st.sampled_from(SEEDS),
    edits=st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(max_size=6)), max_size=4),
    keep=st.floats(0, 1.5),
)
def test_no_damage_gives_anything_but_a_recording_or_one_line(folder, seed, edits, keep):
    content = bytearray(seed)
    for place, piece in edits:
        place %= len(content)
        content[place : place + len(piece)] = piece
    check_any(bytes(content[: int(len(content) * keep) + 2]), folder)


_value = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=3),
    st.just([]),
)


@settings(max_examples=200, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 500), st.integers(0, 9), _value), max_size=6),
    moves=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=3),
)
def test_no_odd_value_breaks_the_reader(folder, changes, moves):
    snapshot = a_run().snapshot()
    trace, segments = snapshot["device_traces"][0], snapshot["segments"]
    for source, target in moves:
        trace.insert(target % len(trace), dict(trace[source % len(trace)]))
    blocks = [block for segment in segments for block in segment["blocks"]]
    things = [*trace, *segments, *blocks, snapshot]
    for thing, field, value in changes:
        owner = things[thing % len(things)]
        owner[sorted(owner)[field % len(owner)]] = value
    file = io.BytesIO()
    pickle.dump(snapshot, file, protocol=4)
    check_any(file.getvalue(), folder)
