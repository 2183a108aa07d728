"""Where Jupyter finds the two halves of the extension: hooks that it calls by name."""

from typing import Any


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "memtrack"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from memtrack.server import MemtrackServer

    return [{"module": "memtrack.server", "app": MemtrackServer}]


def _jupyter_nbextension_paths() -> list[dict[str, str]]:
    return [
        {
            "section": "notebook",
            "src": "nbextension",
            "dest": "memtrack",
            "require": "memtrack/extension",
        }
    ]
