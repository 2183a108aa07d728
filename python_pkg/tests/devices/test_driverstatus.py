"""What a driver's refusal means to the reader, and what tells it from others."""

import pynvml
import pytest

from memtrack.devices.driverstatus import driver_status
from memtrack.devices.environment import Environment, look_around

BARE = Environment(has_card=False)
CARD = Environment(has_card=True)
WSL = Environment(is_wsl=True)
CONTAINER = Environment(is_container=True)


@pytest.mark.parametrize(
    ("reason", "environment", "status", "says"),
    [
        ("", BARE, "ok", ""),
        ("package_missing", BARE, "library_missing", "pip install nvidia-ml-py"),
        ("library_not_found", BARE, "no_driver", "a GPU elsewhere"),
        ("library_not_found", CARD, "no_driver", "Install NVIDIA's driver"),
        ("driver_not_loaded", CARD, "no_driver", "restart the computer"),
        ("library_not_found", WSL, "no_driver", "comes from Windows"),
        ("library_not_found", CONTAINER, "container", "docker run --gpus all"),
        ("driver_not_loaded", CONTAINER, "container", "nvidia.com/gpu"),
        ("no_devices", CONTAINER, "container", "--gpus all"),
        ("no_devices", CARD, "no_devices", "lspci"),
        ("lib_rm_version_mismatch", CARD, "version_mismatch", "restart the computer"),
        ("lib_rm_version_mismatch", CONTAINER, "version_mismatch", "start this container anew"),
        ("operating_system", WSL, "wsl_blocked", "on the side of Windows"),
        ("operating_system", CONTAINER, "permission", "start the container anew"),
        ("no_permission", BARE, "permission", "video and render"),
        ("gpu_is_lost", BARE, "lost", "Xid"),
        ("reset_required", BARE, "lost", "Xid"),
        ("no_answer", BARE, "unknown", "nvidia-smi hangs"),
        ("something_new", BARE, "unknown", "nvidia-smi works"),
    ],
)
def test_each_refusal_has_its_name_and_its_way_out(reason, environment, status, says):
    found = driver_status(reason, environment, "words of the driver")
    assert found.id == status
    assert says in found.advice.render()
    assert found.message.render()
    assert found.detail == "words of the driver"


def test_every_error_of_nvml_has_words_in_every_language():
    reasons = [
        name.removeprefix("NVML_ERROR_").lower()
        for name in dir(pynvml)
        if name.startswith("NVML_ERROR_")
    ]
    assert len(reasons) > 20
    for reason in reasons:
        for environment in (BARE, CARD, WSL, CONTAINER):
            found = driver_status(reason, environment)
            for sentence in (found.message, found.advice):
                assert sentence.render("zh_CN") != sentence.render("en")


def write(path, words):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words)


def test_wsl_is_told_by_its_kernel(tmp_path):
    write(tmp_path / "proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2")
    assert look_around(tmp_path, {}).is_wsl
    write(tmp_path / "proc/version", "Linux version 6.8.0-45-generic")
    assert not look_around(tmp_path, {}).is_wsl


@pytest.mark.parametrize(
    ("file", "words", "environ"),
    [
        (".dockerenv", "", {}),
        ("run/.containerenv", "", {}),
        ("proc/1/cgroup", "0::/kubepods/burstable/pod1", {}),
        ("proc/version", "Linux", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
        ("proc/version", "Linux", {"container": "podman"}),
    ],
)
def test_a_container_is_told_by_what_made_it(tmp_path, file, words, environ):
    write(tmp_path / file, words)
    assert look_around(tmp_path, environ).is_container
    assert not look_around(tmp_path / "elsewhere", {}).is_container


@pytest.mark.parametrize(
    ("vendor", "kind", "has_card"),
    [("0x10de", "0x030200", True), ("0x10de", "0x040300", False), ("0x8086", "0x030000", False)],
)
def test_a_card_is_told_without_a_driver(tmp_path, vendor, kind, has_card):
    write(tmp_path / "sys/bus/pci/devices/0000:3b:00.0/vendor", f"{vendor}\n")
    write(tmp_path / "sys/bus/pci/devices/0000:3b:00.0/class", f"{kind}\n")
    assert look_around(tmp_path, {}).has_card is has_card


def test_where_no_bus_is_to_be_seen_nothing_is_said_of_a_card(tmp_path):
    assert look_around(tmp_path, {}).has_card is None
