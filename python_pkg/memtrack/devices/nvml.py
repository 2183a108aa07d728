"""NVIDIA's management library: a device by its identity, its memory, the processes on it.

Nothing here creates a CUDA context or changes a device. All figures are bytes. Whatever the library
refuses becomes a `DriverError` with a reason; the package `nvidia-ml-py` may be missing.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

UNKNOWN = -1
"""Bytes the driver does not tell."""

_ERROR = "NVML_ERROR_"
_OLDER = ("function_not_found", "not_supported", "invalid_argument", "argument_version_mismatch")
"""How a driver refuses a question it does not know in this form."""
_ON = 1
_KINDS = ("Compute", "Graphics", "MPSCompute")
_VERSIONS = ("_v3", "_v2", "")


class DriverError(Exception):
    """The driver does not answer. `reason` is NVML's name of the error in lower case.

    Such as `library_not_found` (no NVIDIA driver), `driver_not_loaded`, `lib_rm_version_mismatch`
    (updated and not yet restarted), `no_permission`, `not_found`, `not_supported`, `gpu_is_lost`,
    `function_not_found` (an older driver), or `mig_ambiguous`: which instance is ours is not known.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Device:
    """One device, or one MIG instance of it; `handle` means something to its driver alone."""

    uuid: str
    handle: Any


@dataclass(frozen=True, slots=True)
class DriverMemory:
    """Memory of a device: `total` = `reserved` (by the driver itself) + `used` + `free`.

    What CUDA calls the total is `total - reserved`. `reserved` is UNKNOWN with drivers before 510,
    which count it as used.
    """

    total: int
    reserved: int
    used: int
    free: int


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process on a device and all its memory there; `bytes` is UNKNOWN where none is told.

    In a container `pid` may be the one outside of it.
    """

    pid: int
    bytes: int


class Driver(Protocol):
    """What is asked of a driver. Every method may raise `DriverError`."""

    def device(self, uuid: str, bus_id: str = "") -> Device:
        """Return a device by its UUID, with or without `GPU-`, else by its PCI bus id."""

    def memory(self, device: Device) -> DriverMemory:
        """Return the memory of a device, all processes together."""

    def compute_processes(self, device: Device) -> Sequence[GpuProcess]:
        """Return the processes that compute on a device: one query, about 70 µs."""

    def processes(self, device: Device) -> Sequence[GpuProcess]:
        """Return all processes on a device, also those that draw or share it by MPS."""


@functools.cache
def nvidia_driver() -> Nvml | None:
    """Return the one driver of this process; None where `nvidia-ml-py` is not installed."""
    try:
        return Nvml(import_module("pynvml"))
    except ImportError:
        return None


class Nvml:
    """A `Driver` over the module `pynvml`, which is initialised when it is first asked.

    It stays so: the library is shared with whoever else uses it in this process.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._names = {
            getattr(library, name): name.removeprefix(_ERROR).lower()
            for name in dir(library)
            if name.startswith(_ERROR)
        }
        # Older libraries have no such error: there a query is just not found.
        self._mismatch = getattr(library, "NVMLLibraryMismatchError", library.NVMLError)
        self._initialised = False

    def device(self, uuid: str, bus_id: str = "") -> Device:
        """Return a device by its UUID, else by its PCI bus id such as `00000000:3B:00.0`."""
        bare = uuid.removeprefix("GPU-").removeprefix("MIG-")
        attempts = [("nvmlDeviceGetHandleByUUID", kind + bare) for kind in ("GPU-", "MIG-") if bare]
        attempts += [("nvmlDeviceGetHandleByPciBusId", bus_id)] if bus_id else []
        refusal = DriverError("not_found")
        for function, identity in attempts:
            try:
                return self._instance(self.ask(function, identity))
            except DriverError as error:
                if error.reason not in ("not_found", "invalid_argument"):
                    raise
                refusal = error
        raise refusal

    def memory(self, device: Device) -> DriverMemory:
        """Return the memory of a device, all processes together."""
        try:
            found = self.ask("nvmlDeviceGetMemoryInfo", device.handle, self._library.nvmlMemory_v2)
            return DriverMemory(found.total, found.reserved, found.used, found.free)
        except AttributeError:  # an older `nvidia-ml-py`
            pass
        except DriverError as error:
            if error.reason not in _OLDER:
                raise
        found = self.ask("nvmlDeviceGetMemoryInfo", device.handle)
        return DriverMemory(found.total, UNKNOWN, found.used, found.free)

    def compute_processes(self, device: Device) -> Sequence[GpuProcess]:
        """Return the processes that compute on a device."""
        return self._listed("Compute", device)

    def processes(self, device: Device) -> Sequence[GpuProcess]:
        """Return all processes on a device, each once with the most any list tells of it."""
        most: dict[int, int] = {}
        for kind in _KINDS:
            with _unless(kind != "Compute"):
                for process in self._listed(kind, device):
                    most[process.pid] = max(process.bytes, most.get(process.pid, UNKNOWN))
        return [GpuProcess(pid, size) for pid, size in sorted(most.items())]

    def _listed(self, kind: str, device: Device) -> Sequence[GpuProcess]:
        """Return one list of processes; several entries of a pid (of MIG instances) are added."""
        sums: dict[int, int] = {}
        for entry in self._entries(kind, device):
            told = entry.usedGpuMemory
            known = UNKNOWN if not told or told >= 1 << 63 else int(told)
            before = sums.get(entry.pid, UNKNOWN)
            sums[entry.pid] = known if before < 0 else before + max(known, 0)
        return [GpuProcess(pid, size) for pid, size in sums.items()]

    def _entries(self, kind: str, device: Device) -> Sequence[Any]:
        """Ask by the newest version of the query that library and driver both have."""
        names = [f"nvmlDeviceGet{kind}RunningProcesses{version}" for version in _VERSIONS]
        refusal = DriverError("function_not_found")
        for name in names:
            if not hasattr(self._library, name):
                continue
            try:
                entries: Sequence[Any] = self.ask(name, device.handle)
            except DriverError as error:
                if error.reason != "function_not_found":
                    raise
                refusal = error
            else:
                return entries
        raise refusal

    def _instance(self, handle: Any) -> Device:
        """Return the device of a handle; of one split by MIG its only instance."""
        if not self._is_split(handle):
            return Device(self._uuid(handle), handle)
        instances = []
        for index in range(self.ask("nvmlDeviceGetMaxMigDeviceCount", handle)):
            with contextlib.suppress(DriverError):
                instances.append(self.ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, index))
        if len(instances) != 1:
            raise DriverError("mig_ambiguous")
        return Device(self._uuid(instances[0]), instances[0])

    def _is_split(self, handle: Any) -> bool:
        """Tell whether MIG is on and this is the whole device rather than an instance."""
        try:
            mode, _ = self.ask("nvmlDeviceGetMigMode", handle)
            return bool(mode == _ON and not self.ask("nvmlDeviceIsMigDeviceHandle", handle).value)
        except DriverError:  # older devices know no MIG, and instances no mode
            return False

    def _uuid(self, handle: Any) -> str:
        uuid = self.ask("nvmlDeviceGetUUID", handle)
        return uuid.decode() if isinstance(uuid, bytes) else str(uuid)

    def ask(self, function: str, *arguments: Any) -> Any:
        """Call a function of the library, having initialised it; refusals become `DriverError`."""
        if not self._initialised:
            self._call(self._library.nvmlInit)
            self._initialised = True
        called = getattr(self._library, function, None)
        if called is None:  # an older `nvidia-ml-py`
            raise DriverError("function_not_found")
        return self._call(called, *arguments)

    def close(self) -> None:
        """Let go of the library; it is initialised anew when it is asked again."""
        if self._initialised:
            self._initialised = False
            with contextlib.suppress(DriverError):
                self._call(self._library.nvmlShutdown)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._library.NVMLError as error:
            code = getattr(error, "value", None)
            raise DriverError(self._names.get(code, f"code_{code}")) from error
        except self._mismatch as error:
            raise DriverError("function_not_found") from error


def _unless(optional: bool) -> contextlib.AbstractContextManager[None]:
    """Return a context in which the refusal of what is optional is nothing."""
    return contextlib.suppress(DriverError) if optional else contextlib.nullcontext()
