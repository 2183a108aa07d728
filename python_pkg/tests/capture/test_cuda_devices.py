"""On a CUDA device the ledger's parts are what allocator and driver say, at every sample."""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pynvml = pytest.importorskip("pynvml")

from torch import nn  # noqa: E402

from memtrack.analysis import ledger  # noqa: E402
from memtrack.analysis.agreement import agreement  # noqa: E402
from memtrack.capture import Recorder  # noqa: E402
from memtrack.capture.backends import describe, figures  # noqa: E402
from memtrack.capture.moments import Moments  # noqa: E402
from memtrack.capture.ownmemory import identity  # noqa: E402
from memtrack.capture.samples import Samples  # noqa: E402
from memtrack.devices import nvidia_driver, own_bytes, own_pids  # noqa: E402
from memtrack.recording import RecordingBuilder  # noqa: E402

pytestmark = pytest.mark.gpu
MB = 1_000_000


@pytest.fixture(autouse=True)
def clean_device():
    gc.collect()
    torch.cuda.empty_cache()
    torch.zeros(1, device="cuda")
    yield
    gc.collect()


def cuda():
    return torch.device("cuda", torch.cuda.current_device())


def recorded(pause=0.0):
    """Record three steps of a small network, long enough apart for several samples."""
    model = nn.Sequential(*(nn.Linear(2048, 2048) for _ in range(6))).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    recorder = Recorder(model, optimizer)
    recorder.enter()
    for _ in range(3):
        model(torch.randn(4096, 2048, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(pause)
    recorder.leave()
    return recorder.finish()


def device_row(data):
    kinds = [data.string(int(kind)) for kind in data.devices["kind"]]
    return kinds.index("cuda")


def test_the_driver_knows_the_device_torch_means():
    uuid, bus_id = identity(cuda())
    assert uuid or bus_id, "this torch identifies no device"
    driver = nvidia_driver()
    device = driver.device(uuid, bus_id)
    if uuid:
        assert device.uuid.endswith(uuid)
        if bus_id:
            assert driver.device("", bus_id).uuid == device.uuid
    memory = driver.memory(device)
    _, total = torch.cuda.mem_get_info()
    assert memory.total == memory.reserved + memory.used + memory.free
    assert memory.total - memory.reserved == total


def test_what_this_process_holds_is_found_and_grows_with_it():
    driver = nvidia_driver()
    device = driver.device(*identity(cuda()))

    def own():
        reserved = figures(cuda()).reserved
        return own_bytes(driver.compute_processes(device), own_pids(), reserved)

    before = own()
    assert before > 0
    block = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    assert own() - before == 256 << 20
    del block
    assert {process.pid for process in driver.processes(device)} & own_pids()


def test_a_sample_is_what_allocator_and_driver_say():
    builder = RecordingBuilder()
    row = builder["devices"].add(kind=0, index=0, name=0)
    samples = Samples(builder["samples"], builder["devices"], Moments(builder["events"]))
    samples.take({cuda(): row}, force=True)
    read = builder["samples"].build().row(0)
    free, total = torch.cuda.mem_get_info()
    assert read["reserved"] == torch.cuda.memory_reserved()
    assert read["used"] == total - free
    assert read["reserved"] < read["process"] <= read["used"]
    device = builder["devices"].build().row(row)
    assert device["total"] == total
    assert 100 * MB < device["context"] < 2000 * MB
    assert samples.notices == set()


def test_the_backend_is_told():
    found = describe("cuda")
    assert found.kind in ("native", "async", "rocm", "uncached", "pluggable")
    assert found.has_history == (found.kind in ("native", "rocm"))


def test_parts_are_the_drivers_totals_at_every_sample():
    data = recorded(pause=0.6)
    device = device_row(data)
    samples = data.samples
    found = agreement(data, device)
    assert found.differ == ()
    known = np.flatnonzero((samples["device"] == device) & (samples["process"] >= 0))
    assert len(known) >= 3, "the process was not found often enough"
    assert found.compared >= 3 * len(known)
    for cut in samples["cut"][known]:
        parts = {part.id: part for part in ledger(data, device, int(cut)).parts}
        rest = parts["context"].bytes + (parts["process"].bytes if "process" in parts else 0)
        assert 100 * MB < rest < 2000 * MB
        assert parts["free"].certainty == "measured"
    assert 100 * MB < int(data.devices["context"][device]) < 2000 * MB


def test_parts_sum_to_the_device_at_every_cut_and_details_to_their_part():
    data = recorded()
    device = device_row(data)
    for cut in range(0, data.cuts + 1, max(1, data.cuts // 200)):
        found = ledger(data, device, cut)
        assert sum(part.bytes for part in found.parts) == data.devices["total"][device]
        assert found.rounding >= 0
        for part in found.parts:
            if part.id in ("cache", "temporary"):
                assert sum(detail.bytes for detail in part.details) == part.bytes, part.id


def test_several_gpus_have_their_own_figures():
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    builder = RecordingBuilder()
    devices = [torch.device("cuda", index) for index in range(2)]
    held = [torch.empty(64 << 20, dtype=torch.uint8, device=device) for device in devices]
    rows = {device: builder["devices"].add(kind=0, index=0, name=0) for device in devices}
    samples = Samples(builder["samples"], builder["devices"], Moments(builder["events"]))
    samples.take(rows, force=True)
    table = builder["samples"].build()
    for row, device in enumerate(devices):
        assert table["reserved"][row] == torch.cuda.memory_reserved(device)
        assert table["process"][row] > table["reserved"][row]
    assert len({identity(device) for device in devices}) == len(held)
