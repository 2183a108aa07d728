"""From a run to `recording.summary`, with a CPU that keeps statistics as an allocator would."""

import pytest

import memtrack
from memtrack.reports.summary import moment_names

torch = pytest.importorskip("torch")

from memtrack.capture import statistics  # noqa: E402


@pytest.fixture
def readable_cpu(monkeypatch):
    """Every reading says how many there were before it."""
    reads = []

    def read(device):
        reads.append(device)
        return {"allocated_bytes": {"all": {"current": len(reads), "peak": 0}}}

    monkeypatch.setitem(statistics._READERS, "cpu", read)
    return reads


@pytest.fixture
def train():
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters())

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(16, 32)).square().mean().backward()
            optimizer.step()

    train.model = model
    return train


def test_a_run_is_read_at_its_start_phases_steps_marks_and_end(readable_cpu, train):
    with memtrack.track(train.model) as recording:
        train(2)
        recording.mark("before eval")
    assert moment_names(recording.data) == [
        "start",
        "step 1 forward",
        "step 1 backward",
        "step 1 optimizer",
        "step 1",
        "step 2 forward",
        "step 2 backward",
        "step 2 optimizer",
        "before eval",
        "end",
        "last",
        "peak",
    ]
    assert len(readable_cpu) == 10
    for place, moment in enumerate(("start", "step 1 forward", "step 1 backward"), start=1):
        (device,) = recording.summary(moment).devices
        assert device.first.values == {"allocated_bytes.all.current": place}
    (device,) = recording.summary("start", "end").devices
    assert device.differences == {"allocated_bytes.all.current": 9}


def test_a_running_recording_is_read_too(readable_cpu, train):
    with memtrack.track(train.model) as recording:
        train(1)
        assert "after optimizer of step 1" in recording.summary().text
        train(1)
        assert "after optimizer of step 2" in recording.summary("end").text
    assert "end of the recording" in recording.summary("end").text


def test_saved_and_opened_it_says_the_same(readable_cpu, train, tmp_path):
    with memtrack.track(train.model) as recording:
        train(2)
    opened = memtrack.open(recording.save(tmp_path / "run"))
    for moments in ((), ("step 1 forward",), ("start", "peak")):
        assert repr(opened.summary(*moments)) == repr(recording.summary(*moments))


def test_a_failing_source_of_statistics_does_not_touch_the_run(monkeypatch, train):
    def fail(device):
        raise RuntimeError("no statistics")

    monkeypatch.setitem(statistics._READERS, "cpu", fail)
    with memtrack.track(train.model) as recording:
        train(2)
    assert recording.report().state == "complete"
    with pytest.raises(memtrack.UnavailableError, match="no allocator statistics"):
        recording.summary()
