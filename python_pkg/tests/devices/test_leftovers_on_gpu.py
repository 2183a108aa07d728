"""Processes that really are on a device, as the driver lists them."""

import os
import subprocess
import sys

import pytest

from memtrack.devices import nvidia_driver
from memtrack.devices.leftovers import processes_on

pytestmark = pytest.mark.gpu

MIB = 1 << 20
PROGRAM = (
    "import torch\nheld = torch.ones(64 << 20, dtype=torch.uint8, device='cuda:0')\n"
    "torch.cuda.synchronize()\nprint('ready', flush=True)\ninput()\n"
)


def test_a_process_with_memory_on_the_device_is_listed_and_this_one_is_known():
    import torch

    held = torch.ones(MIB, device="cuda:0")
    uuid = str(torch.cuda.get_device_properties(0).uuid)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "ready\n"
        found = processes_on(nvidia_driver(), uuid)
        child.communicate("\n", timeout=60)
    if not found:
        pytest.skip("the driver lists no processes here")
    assert len(found) >= 2
    by_pid = {one.pid: one for one in found}
    if os.getpid() not in by_pid:
        # In a container the driver tells numbers of the host: none of them is anybody's here.
        assert {one.state for one in found} == {"hidden"}
        return
    assert by_pid[os.getpid()].relation == "self"
    listed = by_pid[child.pid]
    assert (listed.relation, listed.state, listed.is_own_users) == ("child", "running", True)
    assert listed.bytes is None or listed.bytes > 64 * MIB
    del held
