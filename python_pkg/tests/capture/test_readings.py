"""Readings of the allocator's statistics, from a source made by hand."""

from itertools import pairwise

import pytest

torch = pytest.importorskip("torch")

from memtrack.capture import torch_api  # noqa: E402
from memtrack.capture.moments import Moments  # noqa: E402
from memtrack.capture.readings import MOST_MOMENTS, Readings  # noqa: E402
from memtrack.capture.statistics import flat, read_statistics  # noqa: E402
from memtrack.recording import Facts, RecordingBuilder  # noqa: E402
from memtrack.recording.categories import ReadingKind  # noqa: E402

GPU = torch.device("cuda", 0)
OTHER_GPU = torch.device("cuda", 1)


class Source:
    """Counts how often it was read; gives that number as the bytes allocated."""

    def __init__(self, failing=()):
        self.reads = 0
        self._failing = failing

    def __call__(self, device):
        if device in self._failing:
            raise RuntimeError("this allocator has no statistics")
        self.reads += 1
        return {
            "num_ooms": 0,
            "max_split_size": 2**64 - 1,
            "allocated_bytes": {"all": {"current": self.reads, "peak": 0}},
            "reserved_bytes_by_private_pools": {(0, 1): {"all": {"current": 7}}},
        }


class Run:
    """Readings of a recording, and what it says of them once flushed."""

    def __init__(self, source=None, devices=(GPU,), **options):
        self.builder = RecordingBuilder()
        add = self.builder.strings.add
        self.rows = {
            device: self.builder["devices"].add(kind=add("cuda"), index=device.index, name=add("x"))
            for device in devices
        }
        self.source = source or Source()
        moments = Moments(self.builder["events"])
        self.readings = Readings(self.builder, moments, self.source, **options)

    def take(self, kind, label=None):
        string = -1 if label is None else self.builder.strings.add(label)
        self.readings.take(self.rows, kind, string)

    def step(self, phases=3):
        for _ in range(phases):
            self.take(ReadingKind.PHASE)
        self.take(ReadingKind.STEP)

    def data(self):
        self.readings.flush()
        data = self.builder.build(Facts())
        data.self_check()
        return data

    def kinds(self):
        return [ReadingKind(kind) for kind in self.data().readings["kind"]]

    def figures(self):
        """(reading, name, value) of every row."""
        data = self.data()
        columns = data.statistics.columns
        return [
            (int(row), data.string(int(name)), int(value))
            for row, name, value in zip(*columns.values(), strict=True)
        ]


def test_figures_are_flat_whole_and_without_zeros():
    run = Run()
    run.take(ReadingKind.START)
    run.take(ReadingKind.MARK, "here")
    assert run.figures() == [
        (0, "allocated_bytes.all.current", 1),
        (0, "reserved_bytes_by_private_pools.0_1.all.current", 7),
        (1, "allocated_bytes.all.current", 2),
        (1, "reserved_bytes_by_private_pools.0_1.all.current", 7),
    ]
    data = run.data()
    assert [data.string(int(label)) for label in data.readings["label"]] == ["", "here"]
    assert data.readings["time_ns"][0] <= data.readings["time_ns"][1]


def test_flushed_again_and_again_it_says_what_it_says_at_once():
    once, often = Run(most=40), Run(most=40)
    for run in (once, often):
        run.take(ReadingKind.START)
        for _ in range(100):
            run.step()
            if run is often:
                run.readings.flush()
        run.take(ReadingKind.END)
    assert once.figures() == often.figures()
    assert once.kinds() == often.kinds()


def test_every_device_is_read_at_each_moment():
    run = Run(devices=(GPU, OTHER_GPU))
    run.take(ReadingKind.START)
    run.take(ReadingKind.END)
    assert run.data().readings["device"].tolist() == [0, 1, 0, 1]


def test_a_device_that_fails_is_left_alone_and_the_others_are_read():
    run = Run(Source(failing=(GPU,)), devices=(GPU, OTHER_GPU))
    run.step()
    assert run.data().readings["device"].tolist() == [1, 1, 1, 1]
    assert run.source.reads == 4


def test_nothing_to_read_leaves_no_row():
    run = Run(lambda device: {})
    run.step()
    assert (len(run.data().readings), len(run.data().statistics)) == (0, 0)


def test_a_long_run_keeps_whole_steps_evenly_and_start_end_marks():
    run = Run(most=64)
    run.take(ReadingKind.START)
    for step in range(1000):
        run.step()
        if step % 250 == 0:
            run.take(ReadingKind.MARK, f"at {step}")
    run.take(ReadingKind.END)
    kinds = run.kinds()
    assert 32 <= len(kinds) <= 64
    assert kinds[0] is ReadingKind.START
    assert kinds[-1] is ReadingKind.END
    assert kinds.count(ReadingKind.MARK) == 4
    steps = kinds.count(ReadingKind.STEP)
    assert steps >= 8
    assert kinds.count(ReadingKind.PHASE) == 3 * steps
    assert run.source.reads < 64 * 8  # what would not be kept is not read


def test_kept_steps_are_equally_far_apart():
    run = Run(lambda device: {"step": number}, most=32)
    for number in range(500):  # noqa: B007 - the source reads it
        run.step(phases=1)
    values = [value for _, _, value in run.figures() if value]
    gaps = {after - before for before, after in pairwise(values)} - {0}
    assert len(gaps) == 1
    assert values[-1] > 500 - 2 * gaps.pop()


def test_one_endless_step_keeps_phases_evenly():
    run = Run(most=32)
    for _ in range(1000):
        run.take(ReadingKind.PHASE)
    assert 16 <= len(run.kinds()) <= 32
    run.take(ReadingKind.STEP)
    run.take(ReadingKind.END)
    assert run.kinds()[-2:] == [ReadingKind.STEP, ReadingKind.END]


def test_marks_are_bounded_too():
    run = Run(most=32)
    for number in range(1000):
        run.take(ReadingKind.MARK, f"{number}")
    assert run.kinds() == [ReadingKind.MARK] * 16


def test_a_long_run_is_small():
    run = Run()
    for _ in range(2000):
        run.step()
    assert MOST_MOMENTS // 2 <= len(run.kinds()) <= MOST_MOMENTS


def test_a_device_without_statistics_is_not_asked_for_more():
    assert read_statistics(torch.device("cpu")) == {}
    assert read_statistics(torch.device("meta")) == {}
    if not torch.cuda.is_available():
        assert read_statistics(GPU) == {}
        assert not torch.cuda.is_initialized()


def test_mps_gives_what_is_allocated_and_what_is_held(monkeypatch):
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: 5)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 9)
    assert flat(read_statistics(torch.device("mps"))) == {
        "allocated_bytes.all.current": 5,
        "reserved_bytes.all.current": 9,
    }


def test_cuda_statistics_are_those_of_torch(monkeypatch):
    nested = {"active": {"all": {"current": 3, "peak": 4}}, "num_ooms": 1, "segment": {}}
    for module in (torch.cuda, torch.cuda.memory):
        monkeypatch.setattr(module, "is_initialized", lambda: True)
    monkeypatch.setattr(torch_api._C, "_cuda_memoryStats", lambda index: nested, raising=False)
    expected = {"active.all.current": 3, "active.all.peak": 4, "num_ooms": 1}
    assert flat(read_statistics(GPU)) == expected
    assert dict(torch.cuda.memory_stats(0)) == expected


@pytest.mark.gpu
def test_on_a_gpu_every_figure_is_that_of_memory_stats():
    kept = torch.ones(3_000_000, device=GPU)
    figures = flat(read_statistics(GPU))
    expected = {name: value for name, value in torch.cuda.memory_stats(GPU).items() if value}
    assert figures == expected
    assert figures["allocated_bytes.all.current"] >= kept.nbytes
