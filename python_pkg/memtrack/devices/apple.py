"""Apple's GPUs: one device that shares the computer's memory. Its system tells no more than that.

What a process holds there only PyTorch in it knows; kernels tell it themselves.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import sys
from typing import Any

import psutil

from memtrack.devices.readings import MPS, DeviceReading, Readings

UUID = "mps"
"""The one there is; no UUID is told."""


class AppleSource:
    """A `DeviceSource` of computers with Apple's chips; elsewhere it has no devices."""

    def __init__(self, is_apple: bool | None = None, system: Any = psutil) -> None:
        here = sys.platform == "darwin" and platform.machine() == "arm64"
        self._is_apple = here if is_apple is None else is_apple
        self._system = system
        self._name = ""

    def read(self) -> Readings:
        """Return the device with the memory of the whole computer, which it shares."""
        if not self._is_apple:
            return Readings(refusal="no_devices")
        self._name = self._name or _chip()
        memory = self._system.virtual_memory()
        total, free = int(memory.total), int(memory.available)
        device = DeviceReading(UUID, 0, self._name, MPS, total, total - free, free, processes=None)
        return Readings([device])

    def close(self) -> None:
        """Nothing is held."""


def _chip() -> str:
    """Return such as `Apple M3 Max`: sysctl(3) of machdep.cpu.brand_string."""
    name, size = ctypes.create_string_buffer(256), ctypes.c_size_t(256)
    try:
        library = ctypes.CDLL(ctypes.util.find_library("c"))
        failed = library.sysctlbyname(
            b"machdep.cpu.brand_string", name, ctypes.byref(size), None, 0
        )
    except (OSError, AttributeError, TypeError):
        failed = 1
    return "Apple GPU" if failed else name.value.decode(errors="replace")
