"""One class a route: arguments in, JSON out. What they answer is computed elsewhere."""

import tornado.web
from jupyter_server.base.handlers import APIHandler

from memtrack._version import __version__


class InfoHandler(APIHandler):
    """Tells the front end which version it talks to."""

    @tornado.web.authenticated
    def get(self) -> None:
        """Answer ``{"version": ...}``."""
        self.finish({"version": __version__})


ROUTES: list[tuple[str, type[APIHandler]]] = [("info", InfoHandler)]
"""Paths below ``memtrack/api`` and who answers them."""
