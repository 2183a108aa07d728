"""What the driver says of devices and of the processes on them. No torch, and nothing is changed."""

from memtrack.devices.nvml import (
    UNKNOWN,
    Device,
    Driver,
    DriverError,
    DriverMemory,
    GpuProcess,
    Nvml,
    nvidia_driver,
)
from memtrack.devices.processes import other_processes, own_bytes, own_pids

__all__ = [
    "UNKNOWN",
    "Device",
    "Driver",
    "DriverError",
    "DriverMemory",
    "GpuProcess",
    "Nvml",
    "nvidia_driver",
    "other_processes",
    "own_bytes",
    "own_pids",
]
