"""One look at the devices of this computer, as a page and as JSON, for every door that has no server.

    {"schema": "memtrack.gpu/1", "explanation": str, "" where there are devices,
     "devices": [{"uuid", "index", "name", "kind": "cuda"|"rocm"|"mps", "total", "used", "free",
        "reserved", "utilisation", "bandwidth", "temperature_c", "power_w", "power_limit_w",
        "flags": [str], "parent": uuid, "refusal": str, "" where it answers,
        "processes": [{"pid", "bytes", "state", "relation", "command", "user", "age_s", …}]}]}

Bytes, percent, °C and W; null is not told. `total` = `reserved` + `used` + `free`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memtrack.devices.environment import look_around
from memtrack.devices.leftovers import describe
from memtrack.devices.readings import MPS, DeviceSource
from memtrack.reports.gpupage import GpusPage, OwnPart

SCHEMA = "memtrack.gpu/1"


def look_at(
    source: DeviceSource, language: str, own: Mapping[str, OwnPart] | None = None
) -> GpusPage:
    """Look at the devices once; waits a tenth of a second to see who works.

    `own` is what this process itself knows of its part, by the UUID of the device.
    """
    look = source.read()
    processes = {
        one.uuid: () if one.kind == MPS else describe(one.processes or ()) for one in look.devices
    }
    return GpusPage(look, look_around(), processes, own or {}, language)


def gpus_json(page: GpusPage) -> dict[str, Any]:
    """Return a page as plain JSON."""
    devices = [
        {
            **asdict(one),
            "processes": [asdict(process) for process in page.processes.get(one.uuid, ())],
        }
        for one in page.look.devices
    ]
    return {
        "schema": SCHEMA,
        "explanation": "" if devices else " ".join(page.text.splitlines()),
        "devices": devices,
    }
