"""The devices of this computer, whoever makes them, as one source."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.devices.amd import AmdSource
from memtrack.devices.apple import AppleSource
from memtrack.devices.nvmlsource import NvmlSource
from memtrack.devices.readings import DeviceReading, DeviceSource, Readings


class AllDevices:
    """A `DeviceSource` over several; what the first cannot do is told if no other has devices."""

    def __init__(self, sources: Sequence[DeviceSource] | None = None) -> None:
        self._sources = sources or (NvmlSource(), AmdSource(), AppleSource())

    def read(self) -> Readings:
        """Look at all devices now."""
        found: list[DeviceReading] = []
        looks = [source.read() for source in self._sources]
        for look in looks:
            found += look.devices
        if found:
            return Readings(found)
        return Readings(refusal=looks[0].refusal, detail=looks[0].detail)

    def close(self) -> None:
        """Let go of all drivers."""
        for source in self._sources:
            source.close()
