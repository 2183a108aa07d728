"""What this process holds: nothing is initialised by asking, the driver is asked seldom."""

import pytest

torch = pytest.importorskip("torch")

from memtrack.capture import usage  # noqa: E402
from memtrack.capture.usage import CONTEXT_S, UsageReader  # noqa: E402
from memtrack.devices import Device, DriverError, GpuProcess, own_pids  # noqa: E402

MIB = 1 << 20
BARE = "5f2c6c7e-8f3b-4a43-9d6a-0f1b2c3d4e5f"


class FakeDriver:
    def __init__(self, held=900 * MIB):
        self.held, self.asked = held, 0

    def device(self, uuid, bus_id=""):
        return Device(f"GPU-{uuid}", uuid)

    def compute_processes(self, device):
        self.asked += 1
        if isinstance(self.held, Exception):
            raise self.held
        return [GpuProcess(min(own_pids()), self.held)]

    processes = compute_processes


@pytest.fixture
def cuda(monkeypatch):
    """CUDA as it answers with one device in use and one that was never touched."""
    told = {0: (300 * MIB, 500 * MIB, 450 * MIB), 1: (0, 0, 0)}

    def statistics(device):
        allocated, reserved, peak = told[device.index]
        return {
            "allocated_bytes": {"all": {"current": allocated, "peak": peak}},
            "reserved_bytes": {"all": {"current": reserved, "peak": reserved}},
        }

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(usage, "read_statistics", statistics)
    for module in (usage, usage.OwnMemory.__init__.__globals__):
        target = module if isinstance(module, dict) else vars(module)
        monkeypatch.setitem(target, "identity", lambda device: (BARE, ""))
    return told


def test_before_cuda_is_initialised_nothing_is_told_or_initialised():
    if torch.cuda.is_initialized():
        pytest.skip("another test has initialised CUDA")
    driver = FakeDriver()
    assert UsageReader(driver).read() == []
    assert driver.asked == 0
    assert not torch.cuda.is_initialized()


def test_figures_are_the_allocators_and_the_context_is_the_drivers_beyond_them(cuda):
    driver = FakeDriver()
    first, *_ = UsageReader(driver).read()
    assert (first.uuid, first.index) == (f"GPU-{BARE}", 0)
    assert (first.allocated, first.reserved, first.peak) == (300 * MIB, 500 * MIB, 450 * MIB)
    assert first.context == 400 * MIB


@pytest.mark.parametrize("held", [100 * MIB, DriverError("no_permission")])
def test_a_context_that_the_driver_does_not_tell_is_unknown(cuda, held):
    """Less than what the allocator holds is not credible: a container's numbers are others."""
    first, *_ = UsageReader(FakeDriver(held)).read()
    assert (first.index, first.context) == (0, None)


def test_the_driver_is_asked_every_ten_seconds(cuda):
    now = [0.0]
    driver = FakeDriver()
    reader = UsageReader(driver, lambda: now[0])
    reader.read()
    asked = driver.asked
    for second in range(1, int(CONTEXT_S)):
        now[0] = float(second)
        cuda[0] = (second * MIB, 500 * MIB, 500 * MIB)
        assert reader.read()[0].allocated == second * MIB
    assert driver.asked == asked
    now[0] = CONTEXT_S
    reader.read()
    assert driver.asked > asked


def test_a_device_that_fails_hinders_no_other(cuda, monkeypatch):
    real = usage.read_statistics

    def failing(device):
        if device.index == 0:
            raise RuntimeError("device-side assert")
        return real(device)

    cuda[1] = (MIB, 2 * MIB, MIB)
    monkeypatch.setattr(usage, "read_statistics", failing)
    assert [one.index for one in UsageReader(FakeDriver()).read()] == [1]


@pytest.mark.gpu
def test_on_a_gpu_the_parts_are_those_of_torch_and_the_driver():
    held = torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
    index = torch.cuda.current_device()
    (one,) = [each for each in UsageReader().read() if each.index == index]
    assert one.allocated == torch.cuda.memory_allocated()
    assert one.reserved == torch.cuda.memory_reserved()
    assert one.peak == torch.cuda.max_memory_allocated()
    assert one.uuid.startswith(("GPU-", "MIG-"))
    assert one.context is None or one.context > 64 * MIB
    del held
