"""What the driver says this process holds on each GPU, as long as it says so."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.devices import (
    UNKNOWN,
    Device,
    Driver,
    DriverError,
    nvidia_driver,
    own_bytes,
    own_pids,
)

_NOTICES = {
    "library_not_found": "no_driver",
    "driver_not_loaded": "no_driver",
    "lib_rm_version_mismatch": "driver_mismatch",
    "no_permission": "driver_no_permission",
    "mig_ambiguous": "driver_mig",
    "gpu_is_lost": "device_lost",
}
_OTHERWISE = "driver_failed"
_NOT_TOLD = "driver_no_process"


class OwnMemory:
    """The bytes of this process on every GPU. A device whose driver refuses once is not asked again.

    `notices` receives the id of what is missing, each once. `driver` is looked for when none is given.
    """

    def __init__(self, notices: set[str], driver: Driver | None = None) -> None:
        self._notices = notices
        self._driver = driver
        self._devices: dict[torch.device, Device] = {}
        self._refused: set[torch.device] = set()
        self._pids = own_pids()

    def read(self, device: torch.device, at_least: int, at_most: int) -> int:
        """Return the bytes of this process on a CUDA device, UNKNOWN if not told.

        The truth lies between `at_least`, what the allocator holds, and `at_most`, what is in use.
        """
        if device in self._refused:
            return UNKNOWN
        try:
            found = self._ask(device, at_least, at_most)
        except DriverError as error:
            self._refused.add(device)
            self._notices.add(_NOTICES.get(error.reason, _OTHERWISE))
            return UNKNOWN
        if found == UNKNOWN:
            self._notices.add(_NOT_TOLD)
        return found

    def _ask(self, device: torch.device, at_least: int, at_most: int) -> int:
        driver = self._driver or nvidia_driver()
        if driver is None:
            raise DriverError("library_not_found")
        known = self._devices.get(device)
        if known is None:
            known = self._devices[device] = driver.device(*identity(device))
        found = own_bytes(driver.compute_processes(known), self._pids, at_least, at_most)
        if found == UNKNOWN:  # clients of the multi-process service stand on a list of their own
            found = own_bytes(driver.processes(known), self._pids, at_least, at_most)
        return found


def identity(device: torch.device) -> tuple[str, str]:
    """Return UUID and PCI bus id of a CUDA device, "" for what this torch does not tell.

    Ordinals are no identity: CUDA and the driver count in different orders.
    """
    properties: Any = torch.cuda.get_device_properties(device)
    uuid = str(getattr(properties, "uuid", ""))
    places = ("pci_domain_id", "pci_bus_id", "pci_device_id")
    if not all(hasattr(properties, place) for place in places):
        return uuid, ""
    domain, bus, slot = (getattr(properties, place) for place in places)
    return uuid, f"{domain:08X}:{bus:02X}:{slot:02X}.0"
