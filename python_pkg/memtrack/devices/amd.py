"""AMD's devices, through the package `amdsmi` that comes with ROCm. Nothing is asked without it.

Units as its documentation has them: memory of a device in MiB, of a process in bytes, power in W
(limits in µW), temperatures in °C. What it does not know it calls "N/A" or leaves out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from memtrack.devices import readings
from memtrack.devices.nvml import UNKNOWN, GpuProcess
from memtrack.devices.readings import ROCM, DeviceReading, Readings
from memtrack.units import MIB

RETRY_S = 10.0
_MICROWATTS = 10**5
"""A limit above this is in µW: older versions give W."""


class AmdSource:
    """A `DeviceSource` over a module like `amdsmi`; without one that is looked for."""

    def __init__(self, library: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._library = library
        self._clock = clock
        self._handles: Sequence[Any] = ()
        self._refused = Readings(refusal="package_missing")
        self._due = float("-inf")

    def read(self) -> Readings:
        """Look at all AMD devices now."""
        if not self._handles and self._clock() >= self._due:
            self._due = self._clock() + RETRY_S
            self._begin()
        found = [
            device
            for index, handle in enumerate(self._handles)
            if (device := self._device(index, handle)) is not None
        ]
        return Readings(found) if found else self._refused

    def close(self) -> None:
        """Let go of the driver."""
        if self._handles:
            self._ask("amdsmi_shut_down")
        self._handles = ()
        self._due = float("-inf")

    def _begin(self) -> None:
        try:
            self._library = self._library or import_module("amdsmi")
            self._library.amdsmi_init()
            self._handles = list(self._library.amdsmi_get_processor_handles())
            self._refused = Readings(refusal="" if self._handles else "no_devices")
        except ImportError as error:
            self._refused = Readings(refusal="package_missing", detail=str(error))
        except Exception as error:  # noqa: BLE001 - it has errors of its own, and raises KeyError where ROCm is not whole
            self._refused = Readings(refusal="library_not_found", detail=str(error))

    def _device(self, index: int, handle: Any) -> DeviceReading | None:
        memory = self._ask("amdsmi_get_gpu_vram_usage", handle)
        uuid = self._ask("amdsmi_get_gpu_device_uuid", handle)
        if not isinstance(memory, Mapping) or not uuid:
            return None
        total, used = (_number(memory, name) or 0 for name in ("vram_total", "vram_used"))
        activity = self._ask("amdsmi_get_gpu_activity", handle)
        errors = self._ask("amdsmi_get_gpu_total_ecc_count", handle)
        cap = self._ask("amdsmi_get_power_cap_info", handle)
        limit = _number(cap, "power_cap")
        return DeviceReading(
            uuid=str(uuid),
            index=index,
            name=str(_entry(self._ask("amdsmi_get_gpu_asic_info", handle), "market_name") or "AMD"),
            kind=ROCM,
            total=total * MIB,
            used=used * MIB,
            free=(total - used) * MIB,
            utilisation=_number(activity, "gfx_activity"),
            bandwidth=_number(activity, "umc_activity"),
            temperature_c=self._temperature(handle),
            power_w=self._power(handle),
            power_limit_w=limit / 1e6 if limit and limit > _MICROWATTS else limit,
            flags=(readings.ECC_UNCORRECTED,) if _number(errors, "uncorrectable_count") else (),
            processes=self._processes(handle),
        )

    def _temperature(self, handle: Any) -> int | None:
        """Return the hottest spot's temperature, else that of the edge."""
        types = getattr(self._library, "AmdSmiTemperatureType", None)
        metrics = getattr(self._library, "AmdSmiTemperatureMetric", None)
        for name in ("HOTSPOT", "EDGE"):
            with suppress(AttributeError):
                kind, now = getattr(types, name), metrics.CURRENT  # type: ignore[union-attr]
                told = self._ask("amdsmi_get_temp_metric", handle, kind, now)
                if isinstance(told, int) and told > 0:
                    return told
        return None

    def _power(self, handle: Any) -> float | None:
        told = self._ask("amdsmi_get_power_info", handle)
        names = ("current_socket_power", "socket_power", "average_socket_power")
        return next((power for name in names if (power := _number(told, name))), None)

    def _processes(self, handle: Any) -> tuple[GpuProcess, ...] | None:
        listed = self._ask("amdsmi_get_gpu_process_list", handle)
        if listed is None:
            return None
        found = []
        for entry in listed:
            # Before ROCm 6 these are handles, to be asked one by one.
            told = (
                entry
                if isinstance(entry, Mapping)
                else self._ask("amdsmi_get_gpu_process_info", handle, entry)
            )
            pid = _number(told, "pid")
            size = _number(_entry(told, "memory_usage"), "vram_mem")
            if pid:
                found.append(GpuProcess(pid, size or UNKNOWN))
        return tuple(found)

    def _ask(self, function: str, *arguments: Any) -> Any:
        """Return the library's answer, None where it has none; it raises what it likes."""
        with suppress(Exception):
            return getattr(self._library, function)(*arguments)
        return None


def _entry(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, Mapping) else None


def _number(told: Any, name: str) -> int | None:
    value = _entry(told, name)
    return int(value) if isinstance(value, int | float) else None
