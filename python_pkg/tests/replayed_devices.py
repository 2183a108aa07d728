"""Devices from a tape, for a real server: `--MemtrackServer.driver=replayed_devices.ReplayedDevices`.

Environment: MEMTRACK_TEST_TAPE, the tape (two made H200 without one). MEMTRACK_TEST_FAULTS, a JSON
file that is read before every look, so that a test may change it while the server runs:

    {"refuse": {"nvmlInit": "LIBRARY_NOT_FOUND"},  errors of NVML by function or question
     "missing": true,                              the package nvidia-ml-py is not there
     "hang_s": 5,                                  the driver thinks for so long
     "environment": {"is_wsl": true}}              where the server believes to be

The first processes of the tape become the living kernels of this server, in the order they were
started; the others are made up, all of this user but the last, which is of `grace`.
"""

import getpass
import json
import os
import time
from pathlib import Path

import psutil
import pynvml
from devices.fake_system import FakeProcess
from made_tape import made_tape
from nvml_tape import TapedNvml

from memtrack.devices.environment import Environment
from memtrack.devices.nvmlsource import NvmlSource
from memtrack.devices.readings import Readings
from memtrack.devices.watchedprocesses import WatchedProcesses

FIRST_MADE = 4_000_001
"""Above the largest number Linux gives by default in small systems, below its greatest, 2^22."""


class ReplayedDevices:
    """A `DeviceSource` that answers from a tape, one tick a look."""

    def __init__(self, played=None, system=None):
        self.nvml = TapedNvml(played or tape())
        self.source = NvmlSource(self.nvml, clock=self._clock)
        self.system = system or PartlyMadeSystem(self.nvml.pids())
        self.processes = WatchedProcesses(
            self.system, holds=self.system.holds, computing_here=frozenset, clock=self._clock
        )
        self.looks = 0
        self._skipped_s = 0.0
        self._faults = {}

    @property
    def environment(self):
        return Environment(**self._faults.get("environment", {}))

    def read(self):
        faults = read_faults()
        if faults != self._faults:
            # Fault or mending is seen at once, not when the next attempt is due.
            if "nvmlInit" in {**self._faults.get("refuse", {}), **faults.get("refuse", {})}:
                self.source.close()
            self._faults = faults
            self._skipped_s += 60
        time.sleep(faults.get("hang_s", 0))
        self.nvml.refusals = {
            question: getattr(pynvml, f"NVML_ERROR_{name}")
            for question, name in faults.get("refuse", {}).items()
        }
        if faults.get("missing"):
            return Readings(refusal="package_missing", detail="No module named 'pynvml'")
        self.nvml.renumber(self.system.living_kernels())
        self.nvml.go(self.looks)
        self.looks += 1
        return self.source.read()

    def close(self):
        self.source.close()

    def _clock(self):
        return time.monotonic() + self._skipped_s


def tape():
    path = os.environ.get("MEMTRACK_TEST_TAPE")
    return json.loads(Path(path).read_text()) if path else made_tape(first_pid=FIRST_MADE)


def read_faults():
    path = os.environ.get("MEMTRACK_TEST_FAULTS")
    try:
        return json.loads(Path(path).read_text()) if path else {}
    except (OSError, ValueError):  # not there, or half written
        return {}


class PartlyMadeSystem:
    """psutil where the processes of a tape exist as well, made up."""

    def __init__(self, pids):
        self.processes = {}
        user = getpass.getuser()
        for at, pid in enumerate(pids):
            is_last = at == len(pids) - 1
            self.processes[pid] = FakeProcess(
                self,
                pid,
                None,
                username="grace" if is_last and at else user,
                cmdline=["python", f"train-{at}.py", "--lr", "0.1"],
                create_time=time.time() - 3600 * (at + 1),
                is_running=True,
            )

    def Process(self, pid=None):  # noqa: N802 - as psutil has it
        return self.processes[pid] if pid in self.processes else psutil.Process(pid)

    def holds(self, pid):
        return pid in self.processes or pid in self.living_kernels()

    def living_kernels(self):
        """The processes of ipykernel below this one, the oldest first."""
        found = []
        for child in psutil.Process().children():
            try:
                if "ipykernel_launcher" in " ".join(child.cmdline()):
                    found.append((child.create_time(), child.pid))
            except psutil.Error:
                continue
        return [pid for _, pid in sorted(found)]
