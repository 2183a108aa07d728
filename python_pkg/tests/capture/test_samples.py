"""Samples: what allocator, driver and system tell, how often they are asked, and what if they stop."""

import os

import numpy as np
import psutil
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pynvml")
pytest.importorskip("hypothesis")

from capture.fake_cuda import FakeCuda  # noqa: E402
from devices.fake_nvml import (  # noqa: E402
    ALLOCATOR,
    CUDA_TOTAL,
    PROCESS,
    USED,
    entry,
    error,
    h200,
)
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from memtrack.analysis.agreement import agreement  # noqa: E402
from memtrack.capture import Recorder  # noqa: E402
from memtrack.capture.moments import Moments  # noqa: E402
from memtrack.capture.samples import Samples, agreeing_cuts, settled_cuts  # noqa: E402
from memtrack.devices import Nvml  # noqa: E402
from memtrack.recording import RecordingBuilder  # noqa: E402

MS = 1_000_000
CPU = torch.device("cpu")


class Clock(Moments):
    def __init__(self, events):
        super().__init__(events)
        self.now = 0

    def now_ns(self):
        return self.now


class Run:
    """Samples of a run whose clock, CUDA and driver are told what to say."""

    def __init__(self, cuda, library):
        self.cuda, self.nvml = cuda, library
        builder = RecordingBuilder()
        self.samples_table, self.devices = builder["samples"], builder["devices"]
        self.clock = Clock(builder["events"])
        self.samples = Samples(self.samples_table, self.devices, self.clock, Nvml(library))
        for _ in cuda.figures:
            self.devices.add(kind=0, index=0, name=0)

    def at(self, ms, force=False):
        self.clock.now = ms * MS
        self.samples.take(self.cuda.rows(), force)
        return self.rows()[-1] if self.rows() else None

    def rows(self):
        table = self.samples_table.build()
        return [table.row(row) for row in range(len(table))]

    def device(self, row=0):
        return self.devices.build().row(row)

    def lists(self):
        return sum("RunningProcesses" in name for name in self.nvml.asked)


@pytest.fixture
def run(monkeypatch):
    def make(devices=1, processes=None, **answers):
        processes = [entry(os.getpid(), PROCESS)] if processes is None else processes
        return Run(FakeCuda(monkeypatch, devices), h200(processes, **answers))

    return make


def figures(row):
    return row["reserved"], row["process"], row["used"]


def test_one_sample_of_the_measured_run(run):
    one = run()
    assert figures(one.at(0, force=True)) == (ALLOCATOR, PROCESS, USED)
    device = one.device()
    assert device["total"] == CUDA_TOTAL
    assert device["context"] == PROCESS - ALLOCATOR == 799_014_912
    assert USED - PROCESS == 9_240_576
    assert one.samples.notices == set()


def test_processes_are_listed_at_the_ends_and_twice_a_second_at_most(run):
    one = run()
    one.at(0, force=True)
    for ms in range(1, 2000):
        one.at(ms)
    one.at(2000, force=True)
    assert len(one.rows()) == 1 + 39 + 1  # every 50 ms
    known = [row["time_ns"] // MS for row in one.rows() if row["process"] >= 0]
    assert known == [0, 500, 1000, 1500, 2000]
    assert one.lists() == len(known)
    assert all(row["used"] == USED and row["reserved"] == ALLOCATOR for row in one.rows())


def test_the_context_is_that_of_the_last_sample_that_knows_it(run):
    one = run()
    one.at(0, force=True)
    one.nvml.answers["nvmlDeviceGetComputeRunningProcesses_v3"] = [
        entry(os.getpid(), PROCESS + 1000)
    ]
    one.cuda.figures[0]["used"] = USED + 1000
    one.at(600)
    one.at(700)
    assert one.device()["context"] == PROCESS + 1000 - ALLOCATOR


def test_every_gpu_has_its_own(run):
    one = run(devices=2)
    one.cuda.figures[1]["reserved"] = 4096
    one.at(0, force=True)
    assert [figures(row) for row in one.rows()] == [
        (ALLOCATOR, PROCESS, USED),
        (4096, PROCESS, USED),
    ]
    assert one.device(1)["context"] == PROCESS - 4096


def test_cuda_is_never_initialised(run):
    one = run()
    one.cuda.initialised = False
    assert figures(one.at(0, force=True)) == (-1, -1, -1)
    assert set(one.cuda.calls) == {"is_initialized"}
    assert one.nvml.asked == []
    assert one.device()["total"] == -1


def test_the_driver_is_left_alone_while_a_graph_is_captured(run):
    one = run()
    one.cuda.capturing = True
    assert one.at(0, force=True) is None
    assert "mem_get_info" not in one.cuda.calls
    one.cuda.capturing = False
    assert figures(one.at(10, force=True)) == (ALLOCATOR, PROCESS, USED)


def test_a_device_that_vanishes_is_unknown_from_then_on(run):
    one = run()
    one.at(0, force=True)
    one.cuda.figures[0]["used"] = RuntimeError("CUDA error: an illegal memory access")
    assert figures(one.at(100)) == (-1, -1, -1)
    one.cuda.figures[0]["used"] = USED
    assert figures(one.at(200, force=True)) == (-1, -1, -1)
    assert one.samples.notices == {"device_lost"}
    assert one.device()["total"] == CUDA_TOTAL


@pytest.mark.parametrize(
    ("reason", "notice"),
    [
        ("GPU_IS_LOST", "device_lost"),
        ("NO_PERMISSION", "driver_no_permission"),
        ("UNKNOWN", "driver_failed"),
    ],
)
def test_a_driver_that_refuses_is_not_asked_again(run, reason, notice):
    one = run()
    one.at(0, force=True)
    one.nvml.answers["nvmlDeviceGetComputeRunningProcesses_v3"] = error(reason)
    assert figures(one.at(1000)) == (ALLOCATOR, -1, USED)
    asked = one.lists()
    assert figures(one.at(2000, force=True)) == (ALLOCATOR, -1, USED)
    assert one.lists() == asked
    assert one.samples.notices == {notice}
    assert one.device()["context"] == PROCESS - ALLOCATOR


@pytest.mark.parametrize(
    ("reason", "notice"),
    [
        ("LIBRARY_NOT_FOUND", "no_driver"),
        ("DRIVER_NOT_LOADED", "no_driver"),
        ("LIB_RM_VERSION_MISMATCH", "driver_mismatch"),
    ],
)
def test_a_driver_that_does_not_start_leaves_what_cuda_tells(run, reason, notice):
    one = run(nvmlInit=error(reason))
    assert figures(one.at(0, force=True)) == (ALLOCATOR, -1, USED)
    assert one.samples.notices == {notice}
    assert one.device()["context"] == -1


@pytest.mark.parametrize("told", [None, 0, 2**64 - 1, ALLOCATOR - 1, USED + 1])
def test_a_figure_that_cannot_be_is_unknown_but_asked_for_again(run, told):
    one = run(processes=[entry(os.getpid(), told)])
    assert figures(one.at(0, force=True)) == (ALLOCATOR, -1, USED)
    assert one.samples.notices == {"driver_no_process"}
    one.nvml.answers["nvmlDeviceGetComputeRunningProcesses_v3"] = [entry(os.getpid(), PROCESS)]
    assert figures(one.at(1000)) == (ALLOCATOR, PROCESS, USED)


def test_a_process_that_shares_the_device_by_mps_is_found(run):
    shared = [entry(os.getpid(), PROCESS)]
    one = run(processes=[], nvmlDeviceGetMPSComputeRunningProcesses_v3=shared)
    assert figures(one.at(0, force=True)) == (ALLOCATOR, PROCESS, USED)


def test_rocm_is_not_asked_of_nvidias_driver(run, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "6.4", raising=False)
    one = run()
    assert figures(one.at(0, force=True)) == (ALLOCATOR, -1, USED)
    assert one.nvml.asked == []


def test_the_cpu_tells_its_process_each_time():
    builder = RecordingBuilder()
    row = builder["devices"].add(kind=0, index=0, name=0)
    samples = Samples(builder["samples"], builder["devices"], Clock(builder["events"]))
    samples.take({CPU: row}, force=True)
    read = builder["samples"].build().row(0)
    assert read["reserved"] == -1
    resident = psutil.Process().memory_info().rss
    assert abs(read["process"] - resident) < 64 << 20
    assert read["process"] < read["used"] < psutil.virtual_memory().total
    assert builder["devices"].build().row(0)["total"] == psutil.virtual_memory().total
    assert samples.notices == set()


def test_a_sample_moves_to_where_the_history_agrees():
    levels = np.array([0, 10, 10, 20, 20, 10])
    cuts = np.array([1, 1, 2, 4, 3, 0])
    reserved = np.array([10, 20, -1, 10, 99, 20])
    assert agreeing_cuts(cuts, reserved, levels).tolist() == [1, 3, 2, 5, 3, 3]
    assert agreeing_cuts(cuts, reserved, levels, reach=1).tolist() == [1, 1, 2, 5, 3, 0]
    assert cuts.tolist() == [1, 1, 2, 4, 3, 0]


def test_samples_of_each_device_move_by_its_own_segments():
    segments = {
        "device": np.array([0, 0, 1]),
        "bytes": np.array([10, 20, 7]),
        "start": np.array([-1, 2, 4]),  # events 0 to 5; device 0 holds 10, from cut 3 on 30
        "end": np.array([6, 6, 6]),
    }
    samples = {
        "device": np.array([0, 0, 1, 1, 2]),
        "cut": np.array([1, 2, 3, 6, 4]),
        "reserved": np.array([10, 30, 7, 0, 99]),
    }
    assert settled_cuts(samples, segments, 6).tolist() == [1, 3, 5, 4, 4]
    assert samples["cut"].tolist() == [1, 2, 3, 6, 4]
    none = {name: values[:0] for name, values in segments.items()}
    assert settled_cuts(samples, none, 6).tolist() == samples["cut"].tolist()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.data())
def test_the_nearest_cut_that_agrees_is_taken(levels, data):
    cut = data.draw(st.integers(0, len(levels) - 1))
    wanted = data.draw(st.integers(-1, 4))
    reach = data.draw(st.integers(0, 12))
    moved = agreeing_cuts(np.array([cut]), np.array([wanted]), np.array(levels), reach)[0]
    near = [
        (abs(other - cut), other)
        for other, level in enumerate(levels)
        if level == wanted and abs(other - cut) <= reach
    ]
    assert moved == (min(near)[1] if near else cut)


def test_a_run_on_the_cpu_sums_to_what_the_system_said():
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU())
    recorder = Recorder(model)
    recorder.enter()
    for _ in range(2):
        model(torch.randn(64, 512)).sum().backward()
    recorder.leave()
    data = recorder.finish()
    assert [data.string(int(kind)) for kind in data.devices["kind"]] == ["cpu"]
    found = agreement(data, 0)
    assert found.differ == ()
    assert found.compared >= 4
