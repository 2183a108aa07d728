"""The server extension: its name, its options and its routes."""

from __future__ import annotations

from typing import Any

from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Unicode
from traitlets.utils.importstring import import_item

from memtrack.devices.alldevices import AllDevices
from memtrack.devices.watchedprocesses import WatchedProcesses
from memtrack.server.handlers import ROUTES
from memtrack.server.kernels import ServerKernels
from memtrack.server.sampler import Sampler


class MemtrackServer(ExtensionApp):
    """Answers the memtrack front end below ``memtrack/api``."""

    name = "memtrack"
    app_name = "memtrack"
    description = "Shows where GPU memory goes."
    load_other_extensions = True

    show_commands_of_others = Bool(
        False,
        help="Show whole command lines of other users' processes, rather than only program and user.",
    ).tag(config=True)
    driver = Unicode(
        "",
        help=(
            "Import string of a callable that returns what is asked for devices, with the methods of"
            " memtrack.devices.readings.DeviceSource; empty for the drivers of this computer."
        ),
    ).tag(config=True)

    def initialize_settings(self) -> None:
        """Make the sampler, which asks nothing before somebody looks."""
        server = self.serverapp
        assert server is not None
        source = import_item(self.driver)() if self.driver else AllDevices()
        self.settings["memtrack_sampler"] = Sampler(
            source,
            ServerKernels(server.kernel_manager, server.session_manager),
            _processes_of(source),
            shows_others=self.show_commands_of_others,
        )

    def initialize_handlers(self) -> None:
        """Add the routes; Jupyter Server puts its base URL before them."""
        self.handlers.extend((rf"/memtrack/api/{path}", handler) for path, handler in ROUTES)

    async def stop_extension(self) -> None:
        """Let go of the driver when the server ends."""
        sampler = self.settings.get("memtrack_sampler")
        if isinstance(sampler, Sampler):
            sampler.close()


def _processes_of(source: Any) -> WatchedProcesses:
    """Return who knows the processes of a source; one with a system of its own brings it along."""
    made: WatchedProcesses | None = getattr(source, "processes", None)
    return WatchedProcesses() if made is None else made
