"""`%memtrack gpu`: what is on the devices of this kernel's computer, without the server."""

from __future__ import annotations

from typing import Any

from memtrack.devices.alldevices import AllDevices
from memtrack.devices.readings import DeviceSource
from memtrack.notebook.usage import usage_now
from memtrack.reports.gpulook import look_at
from memtrack.reports.gpupage import GpusPage, OwnPart


def show_gpus(shell: Any, language: str, source: DeviceSource | None = None) -> None:
    """Show every device, its parts and the other processes on it. Nothing is initialised for it."""
    page = gpus_page(language, source or AllDevices())
    shell.display_pub.publish({"text/plain": page.text, "text/html": page.html}, {})


def gpus_page(language: str, source: DeviceSource) -> GpusPage:
    """Look at the devices once, with this notebook's own part, and let the driver go."""
    own = {
        one["uuid"]: OwnPart(one["allocated"], one["reserved"], one["context"])
        for one in usage_now()
    }
    try:
        return look_at(source, language, own)
    finally:
        source.close()
