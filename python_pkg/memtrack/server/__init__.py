"""The server half: what the side panel asks over HTTP."""

from memtrack.server.app import MemtrackServer

__all__ = ["MemtrackServer"]
