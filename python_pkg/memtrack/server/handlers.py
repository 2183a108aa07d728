"""One class a route: arguments in, JSON out. What they answer is computed elsewhere."""

from __future__ import annotations

import tornado.web
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler

from memtrack._version import __version__
from memtrack.server.stream import RESOURCE, StreamHandler


class InfoHandler(APIHandler):
    """Tells the front end which version it talks to."""

    @tornado.web.authenticated
    def get(self) -> None:
        """Answer ``{"version": ...}``."""
        self.finish({"version": __version__})


class GpusHandler(APIHandler):
    """Tells what is on the devices now."""

    auth_resource = RESOURCE

    @tornado.web.authenticated
    @authorized("read")  # type: ignore[untyped-decorator]
    async def get(self) -> None:
        """Answer the state, ``memtrack.gpus/1``, as fresh as the sampler's interval."""
        state = await self.settings["memtrack_sampler"].state()
        self.set_header("Cache-Control", "no-store")
        self.finish(state)


ROUTES: list[tuple[str, type[JupyterHandler]]] = [
    ("info", InfoHandler),
    ("gpus", GpusHandler),
    ("gpus/stream", StreamHandler),
]
"""Paths below ``memtrack/api`` and who answers them."""
