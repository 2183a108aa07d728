"""What a look at all devices gives: plain figures, the same for every maker of devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memtrack.devices.nvml import GpuProcess

CUDA, ROCM, MPS = "cuda", "rocm", "mps"

THERMAL, POWER_CAP, POWER_BRAKE, SLOWDOWN = (
    "throttle_thermal",
    "power_cap",
    "power_brake",
    "throttle_hardware",
)
ECC_UNCORRECTED, ROWS_PENDING, ROWS_FAILED = (
    "ecc_uncorrected",
    "row_remap_pending",
    "row_remap_failed",
)
FLAGS = (THERMAL, POWER_CAP, POWER_BRAKE, SLOWDOWN, ECC_UNCORRECTED, ROWS_PENDING, ROWS_FAILED)
"""Conditions of a device that its user should know of: slowed down, or memory that has failed."""


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """One device or MIG instance at one moment. Bytes, percent, °C and W; None is not told.

    `total` = `reserved` (by the driver) + `used` + `free`; where `reserved` is None, `used` has it.
    `parent` is the UUID of the device that an instance is part of. `processes` is None where the
    driver lists none. `refusal` is a reason of `DriverError` where the device does not answer; then
    the figures are the last known ones.
    """

    uuid: str
    index: int
    name: str
    kind: str = CUDA
    total: int = 0
    used: int = 0
    free: int = 0
    reserved: int | None = None
    utilisation: int | None = None
    bandwidth: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    flags: tuple[str, ...] = ()
    parent: str | None = None
    processes: tuple[GpuProcess, ...] | None = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """A look at all devices. `refusal` is why there are none or not all, `detail` in what words."""

    devices: Sequence[DeviceReading] = ()
    refusal: str = ""
    detail: str = ""


class DeviceSource(Protocol):
    """Whoever can be asked for devices. It never raises; after `close` it may be asked again."""

    def read(self) -> Readings:
        """Look at all devices now. Waits for the driver: milliseconds, seconds for a sick one."""

    def close(self) -> None:
        """Let go of the driver, so that it can be updated while nobody looks."""
