"""All NVIDIA devices at one look: figures, refusals, devices that vanish and come back."""

import pynvml
import pytest
from made_tape import RESERVED, TOTAL, made_tape, uuid_of
from nvml_tape import TapedNvml

from memtrack.devices.nvml import UNKNOWN, GpuProcess
from memtrack.devices.nvmlsource import RETRY_S, SLOW_S, NvmlSource

GIB = 1 << 30


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def nvml():
    return TapedNvml(made_tape(2, ((4 * GIB, 2 * GIB), (3 * GIB,)), first_pid=101))


@pytest.fixture
def source(nvml, clock):
    return NvmlSource(nvml, clock)


def refuse(nvml, question, name):
    nvml.refusals[question] = getattr(pynvml, f"NVML_ERROR_{name}")


def test_every_figure_is_the_drivers(source):
    first, second = source.read().devices
    assert (first.uuid, first.index, first.name) == (uuid_of(0), 0, "NVIDIA H200")
    assert (first.total, first.reserved) == (TOTAL, RESERVED)
    assert first.used == 6 * GIB + (1 << 20)
    assert first.total == first.reserved + first.used + first.free
    assert (first.utilisation, first.bandwidth, first.temperature_c) == (80, 40, 60)
    assert (first.power_w, first.power_limit_w) == (520.0, 700.0)
    assert first.processes == (GpuProcess(101, 4 * GIB), GpuProcess(102, 2 * GIB))
    assert second.processes == (GpuProcess(103, 3 * GIB),)
    assert first.flags == ()
    assert first.refusal == ""


def test_what_a_device_refuses_is_unknown_and_hinders_nothing(source, nvml):
    refuse(nvml, "nvmlDeviceGetUtilizationRates", "NOT_SUPPORTED")
    refuse(nvml, "nvmlDeviceGetPowerUsage", "UNKNOWN")
    first, _ = source.read().devices
    assert first.utilisation is None
    assert first.power_w is None
    assert first.temperature_c == 60
    assert first.used > 0
    nvml.asked.clear()
    source.read()
    assert not [asked for asked in nvml.asked if "Utilization" in asked]
    assert [asked for asked in nvml.asked if "PowerUsage" in asked]


def test_processes_that_are_not_told_are_unknown_rather_than_none(source, nvml):
    refuse(nvml, "nvmlDeviceGetComputeRunningProcesses_v3", "NO_PERMISSION")
    first, _ = source.read().devices
    assert first.processes is None


def test_bytes_that_are_not_told_are_unknown_rather_than_zero(clock):
    tape = made_tape(1, ((GIB,),), ticks=1)
    key = "nvmlDeviceGetComputeRunningProcesses_v3(handle-0)"
    tape["ticks"][0][key] = {"answer": [{"fields": {"pid": 7, "usedGpuMemory": None}}]}
    (device,) = NvmlSource(TapedNvml(tape), clock).read().devices
    assert device.processes == (GpuProcess(7, UNKNOWN),)


@pytest.mark.parametrize(
    ("bits", "flags"),
    [
        (0x1, ()),
        (0x4, ("power_cap",)),
        (0x20, ("throttle_thermal",)),
        (0x40 | 0x8, ("throttle_thermal", "throttle_hardware")),
        (0x80 | 0x4, ("power_cap", "power_brake")),
    ],
)
def test_what_slows_a_device_is_told(clock, bits, flags):
    tape = made_tape(1, ticks=1)
    tape["ticks"][0]["nvmlDeviceGetCurrentClocksEventReasons(handle-0)"] = {"answer": bits}
    (device,) = NvmlSource(TapedNvml(tape), clock).read().devices
    assert device.flags == flags


def test_an_older_driver_is_asked_by_the_older_name(source, nvml):
    refuse(nvml, "nvmlDeviceGetCurrentClocksEventReasons", "FUNCTION_NOT_FOUND")
    nvml.tape["ticks"][0]["nvmlDeviceGetCurrentClocksThrottleReasons(handle-0)"] = {"answer": 0x20}
    nvml.go(1)
    nvml.go(0)
    assert source.read().devices[0].flags == ("throttle_thermal",)


def test_memory_that_failed_is_told(clock):
    tape = made_tape(1, ticks=1)
    tape["ticks"][0]["nvmlDeviceGetTotalEccErrors(handle-0, 1, 0)"] = {"answer": 3}
    tape["ticks"][0]["nvmlDeviceGetRemappedRows(handle-0)"] = {"answer": [0, 1, 1, 1]}
    (device,) = NvmlSource(TapedNvml(tape), clock).read().devices
    assert device.flags == ("ecc_uncorrected", "row_remap_pending", "row_remap_failed")


def test_what_hardly_changes_is_asked_twice_a_minute(source, nvml, clock):
    source.read()
    nvml.asked.clear()
    source.read()
    slow = ("Enforced", "Ecc", "Remapped", "GetName", "GetUUID", "GetCount")
    assert not [asked for asked in nvml.asked if any(word in asked for word in slow)]
    clock.now += SLOW_S
    source.read()
    assert len([asked for asked in nvml.asked if "Enforced" in asked]) == 2


def test_a_lost_device_keeps_its_last_figures_and_comes_back(source, nvml, clock):
    before = source.read().devices[1]
    lost = f"nvmlDeviceGetMemoryInfo(handle-1, {pynvml.nvmlMemory_v2})"
    refuse(nvml, lost, "GPU_IS_LOST")
    whole, gone = source.read().devices
    assert (whole.refusal, gone.refusal) == ("", "gpu_is_lost")
    assert (gone.used, gone.total) == (before.used, before.total)
    assert gone.processes is None
    del nvml.refusals[lost]
    clock.now += RETRY_S
    assert [one.refusal for one in source.read().devices] == ["", ""]


def test_a_device_that_is_gone_after_beginning_anew_stays_in_its_place(source, nvml, clock):
    source.read()
    refuse(nvml, f"nvmlDeviceGetMemoryInfo(handle-0, {pynvml.nvmlMemory_v2})", "GPU_IS_LOST")
    refuse(nvml, "nvmlDeviceGetHandleByIndex(0)", "GPU_IS_LOST")
    clock.now += RETRY_S
    source.read()
    clock.now += RETRY_S
    first, second = source.read().devices
    assert (first.uuid, first.refusal) == (uuid_of(0), "gpu_is_lost")
    assert (second.uuid, second.refusal) == (uuid_of(1), "")
    nvml.refusals.clear()
    clock.now += RETRY_S
    assert [one.refusal for one in source.read().devices] == ["", ""]


@pytest.mark.parametrize(
    "name", ["LIBRARY_NOT_FOUND", "DRIVER_NOT_LOADED", "LIB_RM_VERSION_MISMATCH", "NO_PERMISSION"]
)
def test_a_driver_that_refuses_is_asked_again_but_not_each_time(source, nvml, clock, name):
    refuse(nvml, "nvmlInit", name)
    look = source.read()
    assert (look.devices, look.refusal) == ((), name.lower())
    assert look.detail
    nvml.asked.clear()
    source.read()
    assert not nvml.asked
    nvml.refusals.clear()
    clock.now += RETRY_S
    assert len(source.read().devices) == 2


def test_a_driver_that_is_unloaded_meanwhile_leaves_the_last_figures(source, nvml, clock):
    source.read()
    refuse(nvml, "nvmlDeviceGetMemoryInfo", "UNINITIALIZED")
    refuse(nvml, "nvmlInit", "DRIVER_NOT_LOADED")
    clock.now += RETRY_S
    source.read()
    clock.now += RETRY_S
    assert {one.refusal for one in source.read().devices} == {"driver_not_loaded"}
    nvml.refusals.clear()
    clock.now += RETRY_S
    assert {one.refusal for one in source.read().devices} == {""}


def test_no_device_at_all_is_said(clock):
    assert NvmlSource(TapedNvml(made_tape(0, ())), clock).read().refusal == "no_devices"


def test_closing_lets_go_and_asking_begins_again(source, nvml):
    source.read()
    nvml.asked.clear()
    source.close()
    assert list(nvml.asked) == ["nvmlShutdown()"]
    assert len(source.read().devices) == 2


def test_instances_of_a_split_device_have_their_own_figures_and_processes(clock):
    tape = made_tape(1, ((GIB,),), ticks=1)
    told = tape["ticks"][0]
    told["nvmlDeviceGetMigMode(handle-0)"] = {"answer": [1, 1]}
    told["nvmlDeviceGetMaxMigDeviceCount(handle-0)"] = {"answer": 3}
    for number in (0, 2):
        handle = f"part-{number}"
        told[f"nvmlDeviceGetMigDeviceHandleByIndex(handle-0, {number})"] = {
            "answer": {"handle": handle}
        }
        told[f"nvmlDeviceGetUUID({handle})"] = {"answer": f"MIG-{number}"}
        told[f"nvmlDeviceGetName({handle})"] = {"answer": "NVIDIA H200 MIG 1g.18gb"}
        told[f"nvmlDeviceGetMemoryInfo({handle}, {pynvml.nvmlMemory_v2})"] = {
            "answer": {"fields": {"total": 16 * GIB, "reserved": 0, "free": 15 * GIB, "used": GIB}}
        }
        told[f"nvmlDeviceGetComputeRunningProcesses_v3({handle})"] = {
            "answer": [{"fields": {"pid": 100 + number, "usedGpuMemory": GIB}}]
        }
    whole, first, second = NvmlSource(TapedNvml(tape), clock).read().devices
    assert whole.processes == ()
    assert [one.uuid for one in (first, second)] == ["MIG-0", "MIG-2"]
    assert {one.parent for one in (first, second)} == {whole.uuid}
    assert first.processes == (GpuProcess(100, GIB),)
    assert second.total == 16 * GIB
    assert first.utilisation is None
