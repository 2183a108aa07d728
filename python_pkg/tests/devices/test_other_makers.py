"""AMD's and Apple's devices, and all makers together."""

from types import SimpleNamespace

import pytest

from memtrack.devices.alldevices import AllDevices
from memtrack.devices.amd import AmdSource
from memtrack.devices.apple import AppleSource
from memtrack.devices.nvml import UNKNOWN, GpuProcess
from memtrack.devices.readings import DeviceReading, Readings

MIB = 1 << 20


class FakeAmd:
    """What `amdsmi` answers for one MI300X, as its documentation has it."""

    AmdSmiTemperatureType = SimpleNamespace(HOTSPOT="hotspot", EDGE="edge")
    AmdSmiTemperatureMetric = SimpleNamespace(CURRENT="current")

    def __init__(self, **answers):
        self.answers = {
            "amdsmi_init": None,
            "amdsmi_shut_down": None,
            "amdsmi_get_processor_handles": ["handle"],
            "amdsmi_get_gpu_vram_usage": {"vram_total": 196_592, "vram_used": 4_096},
            "amdsmi_get_gpu_device_uuid": "1eff74a1-0000-1000-80c8-000000000000",
            "amdsmi_get_gpu_asic_info": {"market_name": "AMD Instinct MI300X"},
            "amdsmi_get_gpu_activity": {
                "gfx_activity": 55,
                "umc_activity": 12,
                "mm_activity": "N/A",
            },
            "amdsmi_get_temp_metric": 61,
            "amdsmi_get_power_info": {"current_socket_power": 310, "average_socket_power": "N/A"},
            "amdsmi_get_power_cap_info": {"power_cap": 750_000_000},
            "amdsmi_get_gpu_total_ecc_count": {"correctable_count": 1, "uncorrectable_count": 0},
            "amdsmi_get_gpu_process_list": [
                {"pid": 42, "name": "python", "memory_usage": {"vram_mem": 3 << 30}},
                {"pid": 43, "name": "N/A", "memory_usage": {"vram_mem": 0}},
            ],
            **answers,
        }

    def __getattr__(self, name):
        if name not in self.answers:
            raise AttributeError(name)

        def asked(*_):
            if isinstance(self.answers[name], Exception):
                raise self.answers[name]
            return self.answers[name]

        return asked


def test_an_amd_device_is_told_in_our_units():
    (one,) = AmdSource(FakeAmd()).read().devices
    assert (one.name, one.kind, one.index) == ("AMD Instinct MI300X", "rocm", 0)
    assert (one.total, one.used) == (196_592 * MIB, 4_096 * MIB)
    assert one.used + one.free == one.total
    assert (one.utilisation, one.bandwidth, one.temperature_c) == (55, 12, 61)
    assert (one.power_w, one.power_limit_w) == (310, 750.0)
    assert one.flags == ()
    # 0 is not told: a process with a context holds something.
    assert one.processes == (GpuProcess(42, 3 << 30), GpuProcess(43, UNKNOWN))


@pytest.mark.parametrize("name", ["activity", "process_list", "asic_info", "total_ecc_count"])
def test_what_amd_does_not_tell_hinders_nothing(name):
    (one,) = AmdSource(FakeAmd(**{f"amdsmi_get_gpu_{name}": RuntimeError("no")})).read().devices
    assert one.total == 196_592 * MIB
    assert (one.processes is None) == (name == "process_list")
    assert (one.utilisation is None) == (name == "activity")


def test_limits_in_watts_of_older_versions_are_watts():
    (one,) = AmdSource(FakeAmd(amdsmi_get_power_cap_info={"power_cap": 750})).read().devices
    assert one.power_limit_w == 750


def test_uncorrected_errors_of_amd_are_told():
    fake = FakeAmd(amdsmi_get_gpu_total_ecc_count={"uncorrectable_count": 2})
    assert AmdSource(fake).read().devices[0].flags == ("ecc_uncorrected",)


def test_amds_driver_that_does_not_begin_is_told_and_tried_again():
    now = [0.0]
    fake = FakeAmd(amdsmi_init=RuntimeError("not loaded"))
    source = AmdSource(fake, lambda: now[0])
    assert source.read() == Readings(refusal="library_not_found", detail="not loaded")
    fake.answers["amdsmi_init"] = None
    assert not source.read().devices
    now[0] += 11
    assert len(source.read().devices) == 1
    source.close()
    assert len(source.read().devices) == 1


def test_without_its_package_amd_has_no_devices():
    assert AmdSource().read().refusal == "package_missing"


def test_apples_device_is_the_computers_memory():
    memory = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(total=100, available=30))
    (one,) = AppleSource(True, memory).read().devices
    assert (one.uuid, one.kind, one.total, one.used, one.free) == ("mps", "mps", 100, 70, 30)
    assert one.processes is None
    assert one.name
    assert AppleSource(False).read().devices == ()


class Fixed:
    def __init__(self, *devices, refusal=""):
        self.look = Readings(devices, refusal)
        self.closed = False

    def read(self):
        return self.look

    def close(self):
        self.closed = True


def test_devices_of_all_makers_stand_together():
    nvidia, amd = DeviceReading("GPU-1", 0, "a"), DeviceReading("2", 0, "b", "rocm")
    look = AllDevices([Fixed(nvidia), Fixed(amd)]).read()
    assert (list(look.devices), look.refusal) == ([nvidia, amd], "")


def test_what_one_maker_lacks_is_not_told_where_another_has_devices():
    amd = DeviceReading("2", 0, "b", "rocm")
    assert AllDevices([Fixed(refusal="library_not_found"), Fixed(amd)]).read().refusal == ""
    sources = [Fixed(refusal="library_not_found"), Fixed(refusal="package_missing")]
    everything = AllDevices(sources)
    assert everything.read().refusal == "library_not_found"
    everything.close()
    assert all(source.closed for source in sources)
