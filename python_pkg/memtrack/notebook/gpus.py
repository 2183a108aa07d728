"""`%memtrack gpu`: what is on the devices of this kernel's computer, without the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtrack.devices.alldevices import AllDevices
from memtrack.devices.environment import look_around
from memtrack.devices.leftovers import DeviceProcess, describe
from memtrack.devices.readings import MPS, DeviceReading, DeviceSource, Readings
from memtrack.notebook.usage import usage_now
from memtrack.reports.gpupage import GpusPage, OwnPart


def show_gpus(shell: Any, language: str, source: DeviceSource | None = None) -> None:
    """Show every device, its parts and the other processes on it. Nothing is initialised for it."""
    page = gpus_page(language, source or AllDevices())
    shell.display_pub.publish({"text/plain": page.text, "text/html": page.html}, {})


def gpus_page(language: str, source: DeviceSource) -> GpusPage:
    """Look at the devices once and return the page; waits a tenth of a second to see who works."""
    try:
        look: Readings = source.read()
    finally:
        source.close()
    own = {
        one["uuid"]: OwnPart(one["allocated"], one["reserved"], one["context"])
        for one in usage_now()
    }
    processes = {one.uuid: _processes(one) for one in look.devices}
    return GpusPage(look, look_around(), processes, own, language)


def _processes(one: DeviceReading) -> Sequence[DeviceProcess]:
    return () if one.kind == MPS else describe(one.processes or ())
