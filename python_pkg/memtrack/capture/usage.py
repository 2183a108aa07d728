"""What this process holds on its devices at a moment, for a panel beside the notebook.

Nothing is initialised for it: before CUDA is, there is nothing to tell. It may be asked on a thread of
its own, once a second: 40 µs a device, and the driver every `CONTEXT_S` seconds only, 0.1 to 0.3 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch

from memtrack.capture.ownmemory import OwnMemory, identity
from memtrack.capture.statistics import read_statistics
from memtrack.devices import UNKNOWN, Driver, DriverError, nvidia_driver

CONTEXT_S = 10.0
"""How long the size of a context holds: it changes with libraries that are loaded, seldom."""
_REFUSALS = (RuntimeError, AssertionError, AttributeError, KeyError, TypeError, ValueError)
MPS_UUID = "mps"


@dataclass(frozen=True, slots=True)
class DeviceUsage:
    """What this process holds on a device, in bytes.

    `uuid` is the driver's, `index` is torch's. `peak` is the most allocated since torch counts it.
    `context` is what the driver counts beyond `reserved`: CUDA's context, NCCL, other libraries; None
    where the driver does not tell.
    """

    uuid: str
    index: int
    allocated: int
    reserved: int
    peak: int
    context: int | None = None


class UsageReader:
    """Reads what this process holds. `driver` is NVIDIA's unless another is given."""

    def __init__(
        self, driver: Driver | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._driver = driver
        self._clock = clock
        self._own = OwnMemory(set(), driver)
        self._uuids: dict[int, str] = {}
        self._contexts: dict[int, int | None] = {}
        self._due = float("-inf")
        self._mps_peak = 0

    def read(self) -> Sequence[DeviceUsage]:
        """Return the devices that this process holds memory on; none before they are initialised."""
        now = self._clock()
        asks_driver = now >= self._due
        if asks_driver:
            self._due = now + CONTEXT_S
        found: list[DeviceUsage] = []
        if torch.cuda.is_initialized():
            for index in range(torch.cuda.device_count()):
                with suppress(*_REFUSALS):
                    one = self._cuda(index, asks_driver)
                    if one.reserved or one.context:
                        found.append(one)
        with suppress(*_REFUSALS):
            found += self._mps()
        return found

    def _cuda(self, index: int, asks_driver: bool) -> DeviceUsage:
        statistics = read_statistics(torch.device("cuda", index))
        allocated = statistics["allocated_bytes"]["all"]
        reserved = int(statistics["reserved_bytes"]["all"]["current"])
        if asks_driver:
            own = self._own.read(torch.device("cuda", index), reserved, UNKNOWN)
            self._contexts[index] = own - reserved if own >= 0 else None
        return DeviceUsage(
            self._uuid(index),
            index,
            int(allocated["current"]),
            reserved,
            int(allocated["peak"]),
            self._contexts.get(index),
        )

    def _uuid(self, index: int) -> str:
        """Return the UUID as the driver spells it, with `GPU-` or `MIG-`."""
        if index not in self._uuids:
            uuid, bus_id = identity(torch.device("cuda", index))
            driver = self._driver or nvidia_driver()
            spelled = uuid if uuid.startswith(("GPU-", "MIG-")) or not uuid else f"GPU-{uuid}"
            if driver is not None:
                with suppress(DriverError):
                    spelled = driver.device(uuid, bus_id).uuid
            self._uuids[index] = spelled
        return self._uuids[index]

    def _mps(self) -> list[DeviceUsage]:
        """Return Apple's device once it is used; torch keeps no peak there, so it is the most seen."""
        if not torch.backends.mps.is_available():
            return []
        allocated = int(torch.mps.current_allocated_memory())
        reserved = int(torch.mps.driver_allocated_memory())
        self._mps_peak = max(self._mps_peak, allocated)
        used = [DeviceUsage(MPS_UUID, 0, allocated, reserved, self._mps_peak)]
        return used if allocated else []
