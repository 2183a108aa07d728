"""Why a driver gives no devices, or one device no figures: a name, a sentence and the way out."""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.devices.environment import Environment
from memtrack.i18n import Text, text

OK, NO_DRIVER, LIBRARY_MISSING, MISMATCH = "ok", "no_driver", "library_missing", "version_mismatch"
WSL_BLOCKED, PERMISSION, NO_DEVICES = "wsl_blocked", "permission", "no_devices"
CONTAINER, LOST, UNKNOWN = "container", "lost", "unknown"

NO_ANSWER = "no_answer"
"""Our own reason: the driver has not come back from a question."""


@dataclass(frozen=True, slots=True)
class DriverStatus:
    """`id` for programs, `message` and `advice` for people, `detail` in the driver's own words."""

    id: str
    message: Text
    advice: Text
    detail: str = ""


_ABSENT = ("library_not_found", "driver_not_loaded", "no_devices")
_REFUSED = ("no_permission", "in_use", "insufficient_power")
_GONE = (
    "gpu_is_lost",
    "reset_required",
    "gpu_not_found",
    "uninitialized",
    "irq_issue",
    "not_found",
)
_NOTHING = Text("")


def driver_status(reason: str, environment: Environment, detail: str = "") -> DriverStatus:
    """Return what a reason of `DriverError` means to the reader, "" being that all is well."""
    if not reason:
        return DriverStatus(OK, text("The driver answers."), _NOTHING, detail)
    if reason == "package_missing":
        return DriverStatus(
            LIBRARY_MISSING,
            text("The Python package nvidia-ml-py is missing where Jupyter Server runs."),
            text("Install it there: pip install nvidia-ml-py. Then restart the server."),
            detail,
        )
    if reason == "operating_system":
        return _blocked(environment, detail)
    if reason in _ABSENT and environment.is_wsl:
        return _absent_in_wsl(detail)
    if reason in _ABSENT and environment.is_container:
        return _absent_in_container(detail)
    if reason in _ABSENT:
        return _absent(reason, environment, detail)
    if reason == "lib_rm_version_mismatch":
        return _mismatch(environment, detail)
    if reason in _REFUSED:
        return DriverStatus(
            PERMISSION,
            text("The driver is there, but this user may not ask it."),
            text(
                "See who may use /dev/nvidia*: often the groups video and render. Ask whoever runs"
                " this computer."
            ),
            detail,
        )
    if reason in _GONE:
        return DriverStatus(
            LOST,
            text(
                "The GPU does not answer any more: it has fallen off the bus or waits for a reset."
            ),
            text(
                "Save what you can and end what runs on it. A restart of the computer brings it"
                " back; its system log (dmesg, lines with Xid) says why. It is looked for anew all"
                " the while."
            ),
            detail,
        )
    if reason == NO_ANSWER:
        return DriverStatus(
            UNKNOWN,
            text("The driver has not answered for a while."),
            text(
                "What is shown is what it told last. If this goes on, look at the system log (dmesg)"
                " and whether nvidia-smi hangs as well."
            ),
            detail,
        )
    return DriverStatus(
        UNKNOWN,
        text("The driver refuses ({reason}).", reason=reason),
        text(
            "See whether nvidia-smi works in a terminal of the server; it is asked anew all the while."
        ),
        detail,
    )


def _blocked(environment: Environment, detail: str) -> DriverStatus:
    if environment.is_wsl:
        return DriverStatus(
            WSL_BLOCKED,
            text("Windows blocks access to the GPU from this Linux (WSL)."),
            text(
                "The way out is on the side of Windows: install NVIDIA's driver for Windows anew, run"
                " wsl --update and wsl --shutdown in PowerShell, and start WSL again. No driver"
                " belongs into the Linux itself."
            ),
            detail,
        )
    return DriverStatus(
        PERMISSION,
        text("The operating system blocks access to the GPU."),
        text(
            "Often a container whose control groups forbid the device, after systemctl daemon-reload"
            " for example: start the container anew. Else see the permissions of /dev/nvidia*."
        ),
        detail,
    )


def _absent_in_wsl(detail: str) -> DriverStatus:
    return DriverStatus(
        NO_DRIVER,
        text("No NVIDIA driver is to be found in this Linux (WSL)."),
        text(
            "It comes from Windows: install NVIDIA's driver for Windows, then wsl --update and"
            " wsl --shutdown in PowerShell. /usr/lib/wsl/lib must have libnvidia-ml.so.1."
        ),
        detail,
    )


def _absent_in_container(detail: str) -> DriverStatus:
    return DriverStatus(
        CONTAINER,
        text("This container was started without a GPU."),
        text(
            "Start it with one: docker run --gpus all (with the NVIDIA Container Toolkit), or"
            " resources.limits nvidia.com/gpu: 1 in Kubernetes. NVIDIA_DRIVER_CAPABILITIES must have"
            " utility and compute."
        ),
        detail,
    )


def _absent(reason: str, environment: Environment, detail: str) -> DriverStatus:
    if reason == "no_devices":
        return DriverStatus(
            NO_DEVICES,
            text("NVIDIA's driver runs, but finds no GPU."),
            text(
                "See lspci and the system log (dmesg): a card may be off, lost, or given to a guest."
            ),
            detail,
        )
    if environment.has_card:
        return DriverStatus(
            NO_DRIVER,
            text("There is a card of NVIDIA in this computer, but its driver does not run."),
            text(
                "Install NVIDIA's driver, or after an update of the system restart the computer."
                " With Secure Boot the module must be signed."
            ),
            detail,
        )
    return DriverStatus(
        NO_DRIVER,
        text("No NVIDIA driver on this computer, and no card of NVIDIA that it would be for."),
        text(
            "Models can be recorded on the processor here; a GPU elsewhere is seen where its Jupyter"
            " Server runs."
        )
        if environment.has_card is False
        else text("If there is a card, install NVIDIA's driver for it; nvidia-smi must work."),
        detail,
    )


def _mismatch(environment: Environment, detail: str) -> DriverStatus:
    advice = (
        text("The driver of the host was updated: start this container anew, or restart the host.")
        if environment.is_container
        else text(
            "It was updated while it ran: restart the computer (or reload the nvidia modules)."
        )
    )
    return DriverStatus(
        MISMATCH,
        text("NVIDIA's driver and its library are of different versions."),
        advice,
        detail,
    )
