"""All NVIDIA devices and MIG instances at one look, through the library `nvidia-ml-py`.

Whatever one device refuses is None there and hinders no other. A device that is lost keeps its last
figures and is looked for anew; so is the driver when it does not answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from memtrack.devices import readings
from memtrack.devices.nvml import Device, DriverError, Nvml
from memtrack.devices.readings import DeviceReading, Readings

RETRY_S = 10.0
"""Between attempts to begin anew, which take the driver up to a second."""
SLOW_S = 30.0
"""Between questions for what hardly changes: limits and counts of failed memory."""

PACKAGE_MISSING = "package_missing"
NO_DEVICES = "no_devices"
_UNANSWERED = ("not_supported", "function_not_found", "no_permission", "invalid_argument")
_WHOLE = ("gpu_is_lost", "uninitialized", "driver_not_loaded", "reset_required", "not_found")
"""Refusals that mean the device or the driver rather than the one question."""

# NVML's bits of "clocks event reasons"; idle and set by the user are no condition to tell.
_REASONS = (
    (0x20 | 0x40, readings.THERMAL),
    (0x04, readings.POWER_CAP),
    (0x80, readings.POWER_BRAKE),
    (0x08, readings.SLOWDOWN),
)
_GPU_SENSOR = 0
_UNCORRECTED, _SINCE_BOOT = 1, 0


@dataclass(slots=True)
class _Known:
    """A device whose handle is known, with what is asked rarely."""

    handle: Any
    last: DeviceReading
    parts: list[_Known] = field(default_factory=list)
    slow_due: float = 0.0
    limit_w: float | None = None
    slow_flags: tuple[str, ...] = ()
    silent: set[str] = field(default_factory=set)
    """Questions this device has refused for good."""


class NvmlSource:
    """A `DeviceSource` over a module like `pynvml`; without one `nvidia-ml-py` is looked for."""

    def __init__(self, library: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._library = library
        self._clock = clock
        self._nvml: Nvml | None = None
        self._known: list[_Known] = []
        self._refused = Readings()
        self._due = float("-inf")

    def read(self) -> Readings:
        """Look at all NVIDIA devices now."""
        now = self._clock()
        lost = any(one.last.refusal in _WHOLE for one in self._known)
        if now >= self._due and (lost or not self._known):
            self._due = now + RETRY_S
            self._begin()
        if not self._known:
            return self._refused
        found: list[DeviceReading] = []
        for one in self._known:
            one.last = self._read(one, now)
            found.append(one.last)
            for part in one.parts:
                part.last = self._read(part, now)
                found.append(part.last)
        return Readings(found)

    def close(self) -> None:
        """Let go of the library."""
        if self._nvml is not None:
            self._nvml.close()
        self._known = []
        self._due = float("-inf")

    def _begin(self) -> None:
        """Find the devices anew, those that are gone with their last figures."""
        before = self._known
        nvml = self._nvml
        try:
            if nvml is None:
                nvml = self._nvml = Nvml(self._library or import_module("pynvml"))
            nvml.close()
            count = int(nvml.ask("nvmlDeviceGetCount"))
        except ImportError as error:
            self._refused = Readings(refusal=PACKAGE_MISSING, detail=str(error))
            return
        except DriverError as error:
            self._refused = Readings(refusal=error.reason, detail=_words(error))
            self._known = [_lost(one, error.reason) for one in before]
            return
        self._refused = Readings(refusal="" if count else NO_DEVICES)
        found = [one for index in range(count) if (one := self._device(nvml, index)) is not None]
        uuids = {one.last.uuid for one in found}
        gone = [_lost(one, "gpu_is_lost") for one in before if one.last.uuid not in uuids]
        self._known = sorted([*found, *gone], key=lambda one: one.last.index)

    def _device(self, nvml: Nvml, index: int) -> _Known | None:
        """Return a device with its MIG instances; None for one that does not even tell its identity."""
        try:
            handle = nvml.ask("nvmlDeviceGetHandleByIndex", index)
            one = _Known(handle, _identity(nvml, handle, index, None))
        except DriverError:
            return None
        with suppress(DriverError):
            if nvml.ask("nvmlDeviceGetMigMode", handle)[0]:
                one.parts = _instances(nvml, one)
        return one

    def _read(self, one: _Known, now: float) -> DeviceReading:
        """Return a device's figures of now; where it does not answer, the last with the reason."""
        nvml = self._nvml
        if nvml is None or one.handle is None:
            return one.last
        try:
            memory = nvml.memory(Device(one.last.uuid, one.handle))
            if now >= one.slow_due:
                one.slow_due = now + SLOW_S
                self._read_slow(one)
            rates = self._told(one, "nvmlDeviceGetUtilizationRates")
            milliwatts = self._told(one, "nvmlDeviceGetPowerUsage")
            return replace(
                one.last,
                total=memory.total,
                used=memory.used,
                free=memory.free,
                reserved=memory.reserved if memory.reserved >= 0 else None,
                utilisation=None if rates is None else int(rates.gpu),
                bandwidth=None if rates is None else int(rates.memory),
                temperature_c=self._told(one, "nvmlDeviceGetTemperature", _GPU_SENSOR),
                power_w=None if milliwatts is None else milliwatts / 1000,
                power_limit_w=one.limit_w,
                flags=self._flags(one) + one.slow_flags,
                # Of a device split by MIG its instances tell, each its own.
                processes=() if one.parts else self._processes(one),
                refusal="",
            )
        except DriverError as error:
            return replace(one.last, refusal=error.reason, processes=None)

    def _read_slow(self, one: _Known) -> None:
        milliwatts = self._told(one, "nvmlDeviceGetEnforcedPowerLimit")
        one.limit_w = None if milliwatts is None else milliwatts / 1000
        flags = []
        if self._told(one, "nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _SINCE_BOOT):
            flags.append(readings.ECC_UNCORRECTED)
        remapped = self._told(one, "nvmlDeviceGetRemappedRows")
        if remapped is not None:
            _, _, pending, failed = remapped
            flags += [readings.ROWS_PENDING] * bool(pending) + [readings.ROWS_FAILED] * bool(failed)
        one.slow_flags = tuple(flags)

    def _flags(self, one: _Known) -> tuple[str, ...]:
        bits = self._told(one, "nvmlDeviceGetCurrentClocksEventReasons")
        if bits is None:  # drivers before 535 know it by its older name
            bits = self._told(one, "nvmlDeviceGetCurrentClocksThrottleReasons")
        return tuple(flag for mask, flag in _REASONS if (bits or 0) & mask)

    def _processes(self, one: _Known) -> Any:
        nvml = self._nvml
        assert nvml is not None
        try:
            return tuple(nvml.processes(Device(one.last.uuid, one.handle)))
        except DriverError as error:
            if error.reason in _WHOLE:
                raise
            return None

    def _told(self, one: _Known, function: str, *arguments: Any) -> Any:
        """Return what a device answers, None where it refuses; for good is not asked again."""
        nvml = self._nvml
        assert nvml is not None
        if function in one.silent:
            return None
        try:
            return nvml.ask(function, one.handle, *arguments)
        except DriverError as error:
            if error.reason in _WHOLE:
                raise
            if error.reason in _UNANSWERED:
                one.silent.add(function)
            return None


def _identity(nvml: Nvml, handle: Any, index: int, parent: str | None) -> DeviceReading:
    uuid = _text(nvml.ask("nvmlDeviceGetUUID", handle))
    return DeviceReading(uuid, index, _text(nvml.ask("nvmlDeviceGetName", handle)), parent=parent)


def _instances(nvml: Nvml, whole: _Known) -> list[_Known]:
    found = []
    for number in range(nvml.ask("nvmlDeviceGetMaxMigDeviceCount", whole.handle)):
        with suppress(DriverError):
            handle = nvml.ask("nvmlDeviceGetMigDeviceHandleByIndex", whole.handle, number)
            last = whole.last
            found.append(_Known(handle, _identity(nvml, handle, last.index, last.uuid)))
    return found


def _lost(one: _Known, reason: str) -> _Known:
    last = replace(one.last, refusal=reason, processes=None, flags=())
    return _Known(None, last, [_lost(part, reason) for part in one.parts])


def _words(error: DriverError) -> str:
    """Return the library's own words for a refusal."""
    return str(error.__cause__ or error.reason)


def _text(told: Any) -> str:
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
