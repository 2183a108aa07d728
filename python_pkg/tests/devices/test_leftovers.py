"""Whose the processes on a device are, what they run, and whether they were left behind."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from devices.fake_nvml import H200, PROCESS, entry, error, h200
from devices.fake_system import ME, FakeSystem, Times, growing

from memtrack.devices import UNKNOWN, DriverError, GpuProcess, Nvml
from memtrack.devices.leftovers import describe, processes_on
from memtrack.devices.openfiles import holds_device

GIB = 1 << 30
DAY = 86_400


def described(system, *listed, pause_s=0.001, uses_device=lambda pid: None):
    """Describe processes of (pid, bytes) as this process, number ME, sees them."""
    processes = [GpuProcess(*one) for one in listed]
    found = describe(
        processes, pause_s=pause_s, system=system, uses_device=uses_device, own=frozenset({ME})
    )
    return {one.pid: one for one in found}


def test_the_largest_comes_first_and_unknown_sizes_last():
    system = FakeSystem()
    system.add(200, 50)
    listed = [GpuProcess(200, UNKNOWN), GpuProcess(ME, GIB), GpuProcess(300, 2 * GIB)]
    found = describe(listed, pause_s=0, system=system, own=frozenset({ME}))
    assert [(one.pid, one.bytes) for one in found] == [(300, 2 * GIB), (ME, GIB), (200, None)]


def test_a_process_of_this_user_is_told_with_its_command_line():
    system = FakeSystem()
    system.add(
        200, 50, cmdline=["python", "train.py", "--lr", "3e-4"], create_time=time.time() - 90
    )
    found = described(system, (200, GIB))[200]
    assert (found.command, found.user, found.is_own_users) == (
        "python train.py --lr 3e-4",
        "ada",
        True,
    )
    assert (found.parent, found.folder) == (50, "/home/ada/runs")
    assert found.age_s == pytest.approx(90, abs=2)
    assert (found.state, found.relation, found.role) == ("running", "other", "")


def test_of_another_users_process_only_the_name_is_told():
    system = FakeSystem()
    system.add(200, 1, username="bob", cmdline=["python", "secret-project.py"])
    found = described(system, (200, GIB))[200]
    assert (found.command, found.user, found.is_own_users) == ("python", "bob", False)
    assert found.folder == ""


def test_what_the_system_refuses_stays_unknown():
    system = FakeSystem()
    no = psutil.AccessDenied(200)
    refusals = dict.fromkeys(("cmdline", "username", "create_time", "cpu_times", "cwd"), no)
    system.add(200, 50, **refusals)
    found = described(system, (200, UNKNOWN))[200]
    assert (found.bytes, found.command, found.user, found.age_s) == (None, "python", "", None)
    assert (found.is_own_users, found.is_busy, found.left) == (False, None, "")


def test_this_process_and_its_workers_are_known():
    system = FakeSystem()
    system.add(101, ME, cmdline=["python", "train100.py"])
    system.add(102, ME, cmdline=["python", "-c", "from multiprocessing.spawn import spawn_main"])
    system.add(103, 102, cmdline=["nvcc", "kernel.cu"])
    found = described(system, (ME, GIB), (101, 1), (102, 1), (103, 1))
    assert {pid: (one.relation, one.role) for pid, one in found.items()} == {
        ME: ("self", ""),
        101: ("child", "worker"),
        102: ("child", "worker"),
        103: ("child", ""),
    }


def test_a_kernel_is_known_by_its_connection_file_and_its_notebook_by_its_server(tmp_path):
    (tmp_path / "jpserver-60.json").write_text(
        json.dumps({"pid": 60, "url": "http://localhost:8888/", "token": "hidden"})
    )
    (tmp_path / "jpserver-61.json").write_text("{")
    connection = str(tmp_path / "kernel-3f6c0a52-1c2b.json")
    system = FakeSystem()
    system.add(60, 50, cmdline=["jupyter-lab"])
    environment = {"JPY_SESSION_NAME": "/home/ada/runs/train.ipynb", "JPY_PARENT_PID": "60"}
    command = ["python", "-m", "ipykernel_launcher", "-f", connection]
    system.add(200, 60, cmdline=command, environ=environment)
    system.add(201, 60, cmdline=["python", "-m", "ipykernel_launcher", f"--f={connection}"])
    system.add(202, 50, cmdline=command, environ={"JPY_PARENT_PID": "9999"})
    found = described(system, (200, 3), (201, 2), (202, 1))
    assert (found[200].role, found[200].kernel) == ("kernel", "3f6c0a52-1c2b")
    assert found[200].notebook == "/home/ada/runs/train.ipynb"
    assert found[200].server_url == found[201].server_url == "http://localhost:8888/"
    assert (found[201].notebook, found[201].kernel) == ("", "3f6c0a52-1c2b")
    assert (found[202].kernel, found[202].server_url) == ("3f6c0a52-1c2b", "")
    assert "hidden" not in repr(found)


@pytest.mark.parametrize(
    "command",
    [
        ["/opt/env/bin/python", "/opt/env/bin/torchrun", "--nproc-per-node", "2", "train.py"],
        ["/opt/env/bin/torchrun", "train.py"],
        ["python", "-m", "torch.distributed.run", "train.py"],
        ["python", "-u", "-m", "accelerate.commands.launch", "train.py"],
        ["python", "/opt/env/bin/accelerate", "launch", "train.py"],
    ],
)
def test_a_rank_is_known_by_what_started_it(command):
    system = FakeSystem()
    system.add(150, 50, cmdline=command)
    system.add(200, 150, environ={"RANK": "1", "LOCAL_RANK": "0"})
    found = described(system, (200, 1))[200]
    assert (found.role, found.rank, found.launcher) == ("rank", "1", 150)


def test_a_script_of_a_name_like_a_launchers_is_none():
    system = FakeSystem()
    system.add(150, 50, cmdline=["python", "job.py", "torchrun"])
    system.add(200, 150)
    assert described(system, (200, 1))[200].role == ""


def test_left_behind_is_what_has_no_parent_and_does_nothing():
    system = FakeSystem()
    system.add(200, 1)
    system.add(201, 1, cpu_times=growing(1.0))
    system.add(202, None)
    system.add(203, 50)
    found = described(system, (200, 4), (201, 3), (202, 2), (203, 1))
    assert [(one.pid, one.left, one.is_busy) for one in found.values()] == [
        (200, "orphan", False),
        (201, "", True),
        (202, "orphan", False),
        (203, "idle", False),
    ]
    assert [one.left for one in described(system, (200, 1), pause_s=0).values()] == [""]


def test_the_first_process_of_a_container_is_a_parent_like_any_other():
    system = FakeSystem()
    system.add(1, name="jupyter-lab", cmdline=["jupyter-lab"])
    system.add(200, 1, create_time=time.time())
    assert described(system, (200, 1))[200].left == ""


@pytest.mark.parametrize(
    ("age_s", "spent_s", "left"),
    [(DAY, 60.0, "idle"), (DAY, 0.02 * DAY, ""), (600, 0.1, ""), (3_700, 36.0, "idle")],
)
def test_idle_for_long_is_hardly_a_second_of_work_in_more_than_an_hour(age_s, spent_s, left):
    system = FakeSystem()
    times = Times(spent_s, 0.0)
    system.add(200, 50, create_time=time.time() - age_s, cpu_times=times)
    assert described(system, (200, 1))[200].left == left


def test_a_number_of_the_host_is_not_visible():
    system = FakeSystem()
    system.add(200, 50)
    found = described(system, (4_000_000, GIB), (200, 7), uses_device=lambda pid: False)
    assert (found[4_000_000].state, found[4_000_000].command) == ("hidden", "")
    # The number belongs to somebody here, but not to one that has a GPU open.
    assert (found[200].state, found[200].command, found[200].bytes) == ("hidden", "", 7)


def test_a_zombie_has_nothing_open_and_is_still_itself():
    system = FakeSystem()
    system.add(200, 50, status=psutil.STATUS_ZOMBIE, cmdline=psutil.ZombieProcess(200))
    found = described(system, (200, 7), uses_device=lambda pid: False)[200]
    assert (found.state, found.command, found.parent) == ("zombie", "python", 50)


def test_processes_are_those_the_driver_lists():
    driver = Nvml(h200([entry(os.getpid(), PROCESS), entry(1 << 22, None)]))
    found = processes_on(driver, H200, pause_s=0)
    assert [(one.pid, one.bytes, one.relation) for one in found] == [
        (os.getpid(), PROCESS, "self"),
        (1 << 22, None, "other"),
    ]
    assert found[1].state == "hidden"
    refusing = Nvml(h200(nvmlDeviceGetComputeRunningProcesses_v3=error("NO_PERMISSION")))
    with pytest.raises(DriverError, match="no_permission"):
        processes_on(refusing, H200)


@pytest.fixture
def sleeper():
    """A real process of ours that sleeps."""
    program = [sys.executable, "-c", "import time; time.sleep(60)", "--token", "abc", "--lr=1"]
    with subprocess.Popen(program) as process:
        yield process
        process.terminate()
        process.wait(10)


def real(pid):
    return describe([GpuProcess(pid, 5)], pause_s=0.02, uses_device=lambda pid: None)[0]


def test_a_real_process_has_an_age_a_user_and_no_secret(sleeper):
    time.sleep(0.2)
    found = real(sleeper.pid)
    assert found.relation == "child"
    assert (found.parent, found.is_own_users) == (os.getpid(), True)
    assert found.user == psutil.Process().username()
    assert 0.1 < found.age_s < 30
    assert found.command.endswith("--token … --lr=1")
    assert "abc" not in found.command
    assert found.is_busy is False


def test_a_real_process_that_is_stopped_or_has_ended_is_told(sleeper):
    sleeper.send_signal(signal.SIGSTOP)
    wait_for(lambda: psutil.Process(sleeper.pid).status() == psutil.STATUS_STOPPED)
    assert real(sleeper.pid).state == "stopped"
    sleeper.send_signal(signal.SIGCONT)
    sleeper.terminate()
    wait_for(lambda: psutil.Process(sleeper.pid).status() == psutil.STATUS_ZOMBIE)
    found = real(sleeper.pid)
    assert (found.state, found.parent) == ("zombie", os.getpid())
    sleeper.wait(10)
    assert real(sleeper.pid).state == "hidden"


def test_a_real_process_that_works_is_busy():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        time.sleep(0.3)
        found = describe([GpuProcess(process.pid, 1)], pause_s=0.3, uses_device=lambda pid: None)
        process.terminate()
    assert found[0].is_busy is True


def test_a_device_that_is_open_is_seen(tmp_path):
    folder = tmp_path / "7" / "fd"
    folder.mkdir(parents=True)
    assert holds_device(7, tmp_path) is False
    (folder / "0").symlink_to("/dev/null")
    assert holds_device(7, tmp_path) is False
    (folder / "5").symlink_to("/dev/nvidia0")
    assert holds_device(7, tmp_path) is True
    assert holds_device(8, tmp_path) is None


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_this_test_has_no_device_open():
    assert holds_device(os.getpid()) in (False, None)


def wait_for(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it never came")
