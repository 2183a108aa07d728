"""An exception of this process with what the allocator and the driver can still tell, on a fake CUDA."""

import gc
import weakref

import pytest
import torch

pytest.importorskip("pynvml")

from devices.fake_nvml import FakeNvml, entry
from failing_cuda import FREE, GIB, TOTAL, USED, Cuda, message
from torch import nn

from memtrack.capture import case, livefacts, torch_api
from memtrack.capture.case import case_of
from memtrack.capture.failure import forget_failures, ignore_failures, watch_failures
from memtrack.capture.livefacts import live_facts
from memtrack.devices import Nvml
from memtrack.devices.leftovers import DeviceProcess
from memtrack.diagnosis.case import merged
from memtrack.diagnosis.diagnosis import Place


@pytest.fixture
def cuda(monkeypatch):
    fake = Cuda(monkeypatch)
    watch_failures()
    yield fake
    ignore_failures()
    delattr(torch.cuda, torch_api._TRAMPOLINE)


class Greedy(nn.Module):
    def __init__(self, cuda):
        super().__init__()
        self.mlp = nn.Linear(2, 2)
        self.mlp.register_forward_pre_hook(lambda *_: cuda.fail())

    def forward(self, x):
        return self.mlp(x)


def failure_of(function, *arguments):
    try:
        function(*arguments)
    except torch.cuda.OutOfMemoryError as error:
        return error
    raise AssertionError("nothing failed")


def test_the_state_at_the_failure_is_the_evidence(cuda):
    found = case_of(failure_of(Greedy(cuda), torch.ones(1, 2)))
    assert found.device == 0 and found.recording == ""
    diagnosis = found.diagnosis()
    assert (diagnosis.place.phase, diagnosis.place.layer) == ("forward", "mlp")
    assert "failing_cuda.py:" in diagnosis.place.site
    assert diagnosis.needed.largest_free == GIB
    assert diagnosis.needed.segment == 2 * GIB
    assert diagnosis.needed.device_free == FREE
    assert diagnosis.numbers["allocated"] == USED
    assert sum(part.bytes for part in diagnosis.parts) == TOTAL
    assert cuda.asked == [False]


def test_of_a_failure_that_was_not_seen_the_device_of_now_is_told(cuda):
    error = failure_of(cuda.fail)
    forget_failures()
    diagnosis = case_of(error).diagnosis()
    assert diagnosis.needed.largest_free == GIB and diagnosis.numbers["total"] == TOTAL
    assert diagnosis.kind == "cuda_oom"


def test_a_failure_that_torch_caught_is_not_taken_for_it(cuda):
    error = failure_of(cuda.fail, 3 * GIB)
    failure_of(cuda.fail, 5 * GIB)  # a search for an algorithm, say
    found = case_of(error)
    assert found.facts.segment == 3 * GIB


def test_with_a_short_history_the_moment_is_found_in_it(cuda):
    cuda.history = True
    cuda.trace = [
        {"action": "oom", "device_free": FREE, "size": 2 * GIB - 512, "stream": 0, "time_us": 5},
        {"action": "free_requested", "addr": 0x5000000, "size": 512, "stream": 0, "time_us": 6},
        {"action": "free_completed", "addr": 0x5000000, "size": 512, "stream": 0, "time_us": 6},
    ]
    diagnosis = case_of(failure_of(cuda.fail)).diagnosis()
    assert cuda.asked == [False, True]
    assert diagnosis.needed.requested == 2 * GIB - 512


def test_a_long_history_is_left_alone(cuda, monkeypatch):
    cuda.history = True
    monkeypatch.setattr(case, "MOST_ENTRIES", 8)
    diagnosis = case_of(failure_of(cuda.fail)).diagnosis()
    assert cuda.asked == [False] and diagnosis.needed.largest_free == GIB


def test_words_alone_where_cuda_was_never_used(cuda):
    cuda.is_initialised = False
    found = case_of(RuntimeError(message()))
    assert found.facts is None and found.diagnosis().kind == "cuda_oom"


def test_a_corrupted_context_is_not_asked(cuda):
    found = case_of(RuntimeError("CUDA error: an illegal memory access was encountered"))
    assert found.facts is None and cuda.asked == []
    assert found.diagnosis().device_memory is False


def test_a_library_that_fails_by_itself_is_no_failure_of_the_allocator(cuda):
    failure_of(cuda.fail)
    error = RuntimeError(
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"
    )
    found = case_of(error)
    assert found.facts.segment is None and found.facts.free == FREE
    assert found.diagnosis().device_memory and found.diagnosis().causes


def test_refusals_leave_the_words(cuda, monkeypatch):
    def refuse(*_):
        raise RuntimeError("not supported")

    for where, name in (
        (torch_api, "snapshot_without_history"),
        (torch.cuda, "mem_get_info"),
        (livefacts, "read_statistics"),
    ):
        monkeypatch.setattr(where, name, refuse)
    error = failure_of(cuda.fail)
    forget_failures()
    diagnosis = case_of(error).diagnosis()
    assert diagnosis.numbers["requested"] == 2 * GIB and diagnosis.causes


def test_nothing_of_the_exception_is_kept(cuda):
    model, batch = Greedy(cuda), torch.ones(1, 2)
    error = failure_of(model, batch)
    found = case_of(error)
    alive = weakref.ref(model), weakref.ref(batch), weakref.ref(error)
    del model, batch, error
    gc.collect()
    assert [one() for one in alive] == [None, None, None]
    assert found.place.layer == "mlp"


def test_a_place_is_put_together():
    known, traced = Place("backward", "", 3), Place("", "a.b", 0, "train.py:5")
    assert merged(known, traced) == Place("backward", "a.b", 3, "train.py:5")


# live facts


def test_other_processes_and_this_one(cuda, monkeypatch):
    import os

    listed = [entry(os.getpid(), USED + 2 * GIB), entry(4_000_000, GIB)]
    driver = Nvml(
        FakeNvml(
            nvmlDeviceGetHandleByUUID="handle",
            nvmlDeviceGetUUID="GPU-1",
            nvmlDeviceGetComputeRunningProcesses_v3=listed,
        )
    )
    facts = live_facts(0, driver=driver)
    assert facts.process == USED + 2 * GIB
    assert [(one.pid, one.bytes) for one in facts.processes] == [(4_000_000, GIB)]
    assert (facts.total, facts.free, facts.limit) == (TOTAL, FREE, TOTAL)
    assert (facts.allocated, facts.reserved) == (USED, USED + GIB)


def test_in_a_container_this_process_is_not_called_another():
    hidden = DeviceProcess(31337, USED + 2 * GIB, "hidden")
    small = DeviceProcess(31338, GIB, "hidden")
    ours, others = livefacts._told_apart([hidden, small], USED + GIB, TOTAL - FREE)
    assert ours == USED + 2 * GIB and others == [small]
    twin = DeviceProcess(31339, USED + 2 * GIB, "hidden")
    ours, others = livefacts._told_apart([hidden, twin, small], USED + GIB, TOTAL - FREE)
    assert ours == -1 and others == [small]


def test_a_limit_of_this_process_is_told(cuda, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda _: 0.5)
    assert live_facts(0).limit == TOTAL // 2


def test_nothing_is_asked_of_cuda_before_it_is_used(cuda):
    cuda.is_initialised = False
    facts = live_facts(0)
    assert facts.total is None and not facts.stats and not facts.processes
