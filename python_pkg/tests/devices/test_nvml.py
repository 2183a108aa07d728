"""What the driver says becomes typed figures; what it refuses, a reason."""

from types import SimpleNamespace

import pynvml
import pytest
from devices.fake_nvml import (
    BUS,
    CUDA_TOTAL,
    H200,
    MISMATCH,
    PROCESS,
    RESERVED,
    TOTAL,
    USED,
    FakeNvml,
    entry,
    error,
    h200,
)

from memtrack.devices import UNKNOWN, DriverError, GpuProcess, Nvml, nvidia_driver


@pytest.mark.parametrize("uuid", [H200, H200.removeprefix("GPU-")])
def test_a_device_is_found_by_its_uuid_with_and_without_prefix(uuid):
    driver = Nvml(h200())
    assert driver.device(uuid).uuid == H200


@pytest.mark.parametrize("uuid", ["", "GPU-of-another-machine"])
def test_a_device_is_found_by_its_place_on_the_bus(uuid):
    assert Nvml(h200()).device(uuid, BUS).uuid == H200
    with pytest.raises(DriverError) as refused:
        Nvml(h200()).device(uuid)
    assert refused.value.reason == "not_found"


def test_memory_sums_and_cudas_total_is_without_what_the_driver_keeps():
    driver = Nvml(h200())
    memory = driver.memory(driver.device(H200))
    assert (memory.total, memory.reserved, memory.used) == (TOTAL, RESERVED, USED)
    assert memory.reserved + memory.used + memory.free == memory.total
    assert memory.total - memory.reserved == CUDA_TOTAL == 150_109_880_320


def test_an_older_driver_counts_its_own_memory_as_used():
    def memory(handle, version=None):
        if version is not None:
            return error("FUNCTION_NOT_FOUND")
        return SimpleNamespace(total=TOTAL, used=USED + RESERVED, free=TOTAL - USED - RESERVED)

    driver = Nvml(h200(nvmlDeviceGetMemoryInfo=memory))
    found = driver.memory(driver.device(H200))
    assert (found.reserved, found.used) == (UNKNOWN, USED + RESERVED)


def test_processes_that_compute_in_one_query():
    library = h200([entry(7, PROCESS), entry(8, None), entry(9, 0), entry(10, 2**64 - 1)])
    driver = Nvml(library)
    device = driver.device(H200)
    library.asked.clear()
    assert driver.compute_processes(device) == [
        GpuProcess(7, PROCESS),
        GpuProcess(8, UNKNOWN),
        GpuProcess(9, UNKNOWN),
        GpuProcess(10, UNKNOWN),
    ]
    assert library.asked == ["nvmlDeviceGetComputeRunningProcesses_v3"]


def test_instances_of_one_process_are_added():
    driver = Nvml(h200([entry(7, 100), entry(7, None), entry(7, 11), entry(8, None), entry(8, 5)]))
    listed = driver.compute_processes(driver.device(H200))
    assert listed == [GpuProcess(7, 111), GpuProcess(8, 5)]


def test_all_processes_each_once_also_those_that_draw_or_share():
    driver = Nvml(
        h200(
            [entry(7, 100), entry(8, None)],
            nvmlDeviceGetGraphicsRunningProcesses_v3=[entry(8, 30), entry(7, 90)],
            nvmlDeviceGetMPSComputeRunningProcesses_v3=[entry(5, 20)],
        )
    )
    listed = driver.processes(driver.device(H200))
    assert listed == [GpuProcess(5, 20), GpuProcess(7, 100), GpuProcess(8, 30)]


def test_older_queries_are_asked_where_the_newest_is_not_there():
    library = h200(nvmlDeviceGetComputeRunningProcesses_v2=[entry(7, 100)])
    del library.answers["nvmlDeviceGetComputeRunningProcesses_v3"]
    driver = Nvml(library)
    assert driver.compute_processes(driver.device(H200)) == [GpuProcess(7, 100)]
    library.answers["nvmlDeviceGetComputeRunningProcesses_v2"] = error("FUNCTION_NOT_FOUND")
    mismatch = MISMATCH("unversioned function called")
    library.answers["nvmlDeviceGetComputeRunningProcesses"] = mismatch
    with pytest.raises(DriverError) as refused:
        driver.compute_processes(driver.device(H200))
    assert refused.value.reason == "function_not_found"


CODES = [name for name in dir(pynvml) if name.startswith("NVML_ERROR_")]


@pytest.mark.parametrize("name", CODES)
def test_every_refusal_has_its_reason(name):
    reason = name.removeprefix("NVML_ERROR_")
    driver = Nvml(h200(nvmlDeviceGetComputeRunningProcesses_v3=error(reason)))
    with pytest.raises(DriverError) as refused:
        driver.compute_processes(driver.device(H200))
    assert refused.value.reason == reason.lower()


def test_a_refusal_this_library_does_not_know_keeps_its_number():
    driver = Nvml(FakeNvml(nvmlInit=pynvml.NVMLError(4711)))
    with pytest.raises(DriverError, match="code_4711"):
        driver.device(H200)


def test_a_library_that_does_not_start_is_asked_again():
    library = h200(nvmlInit=error("DRIVER_NOT_LOADED"))
    driver = Nvml(library)
    for _ in range(2):
        with pytest.raises(DriverError, match="driver_not_loaded"):
            driver.device(H200)
    library.answers["nvmlInit"] = None
    assert driver.device(H200).uuid == H200
    assert library.asked.count("nvmlInit") == 3


def split(instances):
    """A device with MIG on and as many instances."""

    def instance(handle, index):
        return f"instance {index}" if index < instances else error("NOT_FOUND")

    return h200(
        nvmlDeviceGetMigMode=lambda handle: [1, 1],
        nvmlDeviceIsMigDeviceHandle=lambda handle: SimpleNamespace(
            value=int(handle.startswith("instance"))
        ),
        nvmlDeviceGetMaxMigDeviceCount=7,
        nvmlDeviceGetMigDeviceHandleByIndex=instance,
        nvmlDeviceGetUUID=lambda handle: f"MIG-{handle}",
    )


def test_of_a_split_device_its_only_instance_is_ours():
    assert Nvml(split(1)).device(H200).uuid == "MIG-instance 0"
    for instances in (0, 2):
        with pytest.raises(DriverError, match="mig_ambiguous"):
            Nvml(split(instances)).device(H200)


def test_an_instance_is_found_by_its_own_uuid():
    library = split(2)
    library.answers["nvmlDeviceGetHandleByUUID"] = lambda uuid: (
        "instance 1" if uuid == "MIG-abc" else error("NOT_FOUND")
    )
    assert Nvml(library).device("abc").handle == "instance 1"


def test_one_driver_serves_the_process():
    assert nvidia_driver() is nvidia_driver()


def test_a_device_nobody_has_is_refused():
    with pytest.raises(DriverError) as refused:
        nvidia_driver().device("GPU-none")
    assert refused.value.reason in ("library_not_found", "driver_not_loaded", "not_found")


def test_without_the_package_there_is_none(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    assert nvidia_driver.__wrapped__() is None
