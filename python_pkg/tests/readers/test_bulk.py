"""Reading a trace from the bytes of its pickle gives what loading it gives, entry by entry."""

import gzip
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_writer import MIB, WritingAllocator, check_any

from memtrack.readers import open_recording, unpickle
from memtrack.readers.bulk import CUT, Unexpected, load_in_bulk
from memtrack.readers.lookalikes import NUMBERS

FIXTURES = Path(__file__).parents[1] / "fixtures" / "snapshots"
ORDINARY = ("backward_peak", "fragmentation", "gpt2_tail", "optimizer_first_step", "other_process")


def load(file):
    return pickle.Unpickler(file).load()


def unpacked(name):
    return gzip.decompress((FIXTURES / f"{name}.pickle.gz").read_bytes())


def entries_of(trace):
    """Return the entries of a mixed trace as dictionaries; frees without their frames."""
    cut, found = trace.cut, []
    for i, code in enumerate(cut.action.tolist()):
        fields = {name: int(getattr(cut, name)[i]) for name in NUMBERS}
        frames = {"frames": cut.frames[cut.frame[i]]} if code == 0 else {}
        found.append({"action": CUT[code], **fields, **frames})
    for row, (entry, before) in enumerate(zip(trace.others, trace.before, strict=True)):
        found.insert(before + row, entry)
    return found


def same_entries(content):
    """Check a pickle read in bulk against itself loaded; return how many entries were cut out."""
    mixed, plain = load_in_bulk(content, load), pickle.loads(content)
    for trace, expected in zip(mixed["device_traces"], plain["device_traces"], strict=True):
        found = entries_of(trace)
        assert len(found) == len(expected)
        for entry, whole in zip(found, expected, strict=True):
            is_free = whole["action"] in CUT[1:]
            for field in ("action", *NUMBERS, *(() if is_free else ("frames",))):
                assert entry.get(field) == whole.get(field)
    for key in plain.keys() - {"device_traces"}:
        assert mixed[key] == plain[key]
    return sum(len(trace.cut.action) for trace in mixed["device_traces"])


@pytest.mark.parametrize("name", ORDINARY)
def test_real_traces_are_the_same(name):
    content = unpacked(name)
    cut = same_entries(content)
    total = sum(map(len, pickle.loads(content)["device_traces"]))
    assert cut > 0
    assert name != "gpt2_tail" or cut > 0.9 * total


def as_written(entries, shares_frames=False):
    """Return a pickle of entries whose names and frames are shared objects, as torch writes them."""
    frames = [{"name": f"f{i}", "filename": "train.py", "line": i} for i in range(300)]
    stacks = [frames[i : i + i % 9] for i in range(200)]
    trace = []
    for i, entry in enumerate(entries):
        stack = stacks[i % 200]
        trace.append(
            {**entry, "user_metadata": "", "frames": stack if shares_frames else list(stack)}
        )
    snapshot = {"segments": [], "device_traces": [trace], "allocator_settings": {"a": 1}}
    return pickle.dumps(snapshot, protocol=4)


def run_entries(count):
    allocator = WritingAllocator()
    for i in range(count):
        block = allocator.malloc(1 + i * 700 % (30 * MIB), stream=i % 3)
        if i % 4:
            allocator.free(block, waits=False)
    return [{k: v for k, v in e.items() if k != "frames"} for e in allocator.trace]


@pytest.mark.parametrize("shares_frames", [True, False])
def test_frames_of_any_depth_and_numbers_of_any_width(shares_frames):
    widths = (0, 1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**47, 2**55, 2**62, 2**63 - 1)
    entries = run_entries(1500)
    for i, entry in enumerate(entries):
        entry["addr"], entry["stream"] = entry["addr"] + i, widths[i % len(widths)]
        entry["time_us"] = widths[-1 - i % len(widths)]
    try:
        assert same_entries(as_written(entries, shares_frames)) > len(entries) // 3
    except Unexpected:
        assert shares_frames  # lists of frames that were cut out with another entry


def test_ids_of_pools_and_texts_that_are_written_out_are_stepped_over():
    entries = run_entries(1500)
    for i, entry in enumerate(entries):
        entry["pool_id"] = (0, i % 3)  # a new object each time, as torch makes them
        entry["compile_context"] = "".join(["N/", "A"][: 1 + i % 2])
    assert same_entries(as_written(entries)) > 0.9 * len(entries)


def test_what_is_odd_stays_in_its_place():
    entries = run_entries(1500)
    entries[700]["addr"] = 2**64 - 1
    entries[800]["extra"] = "field"
    entries[900] = {"action": "oom", "device_free": 5, "size": 7, "stream": 0}
    entries[1000]["size"] = 1.5
    entries[1100]["time_us"] = -5
    assert same_entries(as_written(entries)) > len(entries) // 2


@pytest.mark.parametrize("protocol", [0, 2, 3])
def test_older_protocols_are_left_to_the_unpickler(protocol):
    snapshot = pickle.loads(unpacked("gpt2_tail"))
    with pytest.raises(Unexpected):
        load_in_bulk(pickle.dumps(snapshot, protocol=protocol), load)


def contents(data):
    """Return the columns of a recording, its stacks by their frames."""
    columns = {}
    for table in ("events", "allocations", "segments", "marks", "phases"):
        columns |= {(table, n): v.tolist() for n, v in data.tables[table].columns.items()}
    columns["marks", "label"] = [data.string(label) for label in data.marks["label"]]
    for table in ("allocations", "segments"):
        stacks = data.tables[table]["stack"].tolist()
        columns[table, "stack"] = [data.stack_frames(stack) for stack in stacks]
    return columns


@pytest.mark.parametrize("name", ORDINARY)
def test_a_recording_is_the_same_either_way(name, monkeypatch):
    path = FIXTURES / f"{name}.pickle.gz"
    usual = open_recording(path)
    monkeypatch.setattr(unpickle, "SMALLEST_BULK", 0)
    assert contents(open_recording(path)) == contents(usual)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


SEED = as_written(run_entries(40))


@settings(max_examples=300, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(SEED) - 1), st.binary(min_size=1, max_size=4)), max_size=4
    )
)
def test_no_damage_gets_past(folder, edits):
    content = bytearray(SEED)
    for place, piece in edits:
        content[place : place + len(piece)] = piece
    before = unpickle.SMALLEST_BULK
    try:
        unpickle.SMALLEST_BULK = 0
        check_any(bytes(content), folder)
    finally:
        unpickle.SMALLEST_BULK = before


def test_most_of_a_long_trace_is_cut_out():
    trace = load_in_bulk(as_written(run_entries(3000)), load)["device_traces"][0]
    assert len(trace.cut.action) > 0.9 * len(trace)
