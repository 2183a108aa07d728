"""The server extension: its name, its options and its routes."""

from jupyter_server.extension.application import ExtensionApp

from memtrack.server.handlers import ROUTES


class MemtrackServer(ExtensionApp):
    """Answers the memtrack front end below ``memtrack/api``."""

    name = "memtrack"
    app_name = "memtrack"
    description = "Shows where GPU memory goes."
    load_other_extensions = True

    def initialize_handlers(self) -> None:
        """Add the routes; Jupyter Server puts its base URL before them."""
        self.handlers.extend((rf"/memtrack/api/{path}", handler) for path, handler in ROUTES)
