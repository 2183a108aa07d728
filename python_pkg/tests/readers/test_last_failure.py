"""Where the last request failed and what the device had free, kept from the trace through files."""

import pytest
from oom_fixtures import snapshot

from memtrack.readers import open_recording
from memtrack.readers.failures import last_failure
from memtrack.readers.stacks import FrameReader
from memtrack.recording import RecordingBuilder, save_recording


@pytest.fixture
def frames():
    return FrameReader(RecordingBuilder().stacks, lambda file: file.endswith(".cpp"), str)


def oom(line, **values):
    frame = {"filename": "train.py", "name": "step", "line": line}
    return {"action": "oom", "size": 512, "frames": [frame], **values}


def test_the_last_of_several_is_told(frames):
    trace = [oom(1, device_free=7), {"action": "alloc"}, oom(2, device_free=9), {"action": "alloc"}]
    first = last_failure(trace[:1], frames)
    assert last_failure(trace, frames) == {"stack": first["stack"] + 1, "device_free": 9}


def test_what_a_trace_does_not_tell_is_unknown(frames):
    assert last_failure([oom(1, frames=[])], frames) == {"stack": -1, "device_free": -1}
    native = [{"filename": "alloc.cpp", "name": "malloc", "line": 3}]
    assert last_failure([oom(1, frames=native)], frames)["stack"] == -1


@pytest.mark.parametrize("trace", [[], [{"action": "alloc"}], ["oom"], [None]])
def test_without_a_failure_nothing_is_told(frames, trace):
    assert last_failure(trace, frames) is None


@pytest.mark.parametrize("free", ["much", None, 1 << 80, -5])
def test_damaged_figures_stay_whole_numbers(frames, free):
    told = last_failure([oom(1, device_free=free)], frames)["device_free"]
    assert 0 <= told < 1 << 63


def test_it_stays_through_a_file(tmp_path):
    data = snapshot("optimizer_first_step")
    told = data.facts.extra["failures"]["0"]
    assert told["device_free"] == 146_166_382_592
    assert data.stack_frames(told["stack"])[0][1] == "_init_group"
    save_recording(data, tmp_path / "oom.memtrack")
    again = open_recording(tmp_path / "oom.memtrack")
    assert again.facts.extra["failures"] == data.facts.extra["failures"]
    assert again.stack_frames(told["stack"]) == data.stack_frames(told["stack"])
