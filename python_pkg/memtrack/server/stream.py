"""The websocket that states are sent through, as fast as its reader takes them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from memtrack.server.sampler import FASTEST_MS, SLOWEST_MS, USUAL_MS, Sampler

RESOURCE = "memtrack"
STUCK_S = 60.0
"""A reader that takes nothing for so long is gone, whatever its connection says."""
LONGEST_MESSAGE = 1000


class StreamHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Sends states to one reader. A slow one misses some and delays nobody."""

    auth_resource = RESOURCE
    interval_ms = USUAL_MS
    missed = 0
    _sending: asyncio.Future[Any] | None = None
    _since = 0.0

    @property
    def sampler(self) -> Sampler:
        """The one of this server."""
        found = self.settings["memtrack_sampler"]
        assert isinstance(found, Sampler)
        return found

    @ws_authenticated
    @authorized("read")  # type: ignore[untyped-decorator]
    async def get(self, *arguments: Any, **named: Any) -> None:  # type: ignore[override]
        """Open the websocket for whoever may read."""
        await super().get(*arguments, **named)

    def open(self, *arguments: Any, **named: Any) -> None:
        """Begin to send."""
        super().open(*arguments, **named)
        self.sampler.watch(self)

    def on_message(self, message: str | bytes) -> None:
        """Take `{"interval_ms": n}` and `{"watching": bool}`; what else comes is let pass."""
        wish = _parsed(message)
        interval = wish.get("interval_ms")
        if isinstance(interval, int | float) and not isinstance(interval, bool):
            self.interval_ms = int(min(max(interval, FASTEST_MS), SLOWEST_MS))
        watching = wish.get("watching")
        if watching is False:
            self.sampler.unwatch(self)
        elif watching is True or interval is not None:
            self.sampler.watch(self)

    def on_close(self) -> None:
        """Send no more."""
        self.sampler.unwatch(self)
        super().on_close()

    def offer(self, state: str) -> None:
        """Send a state if the one before has left; the next look brings a newer one."""
        if self._sending is not None and not self._sending.done():
            self.missed += 1
            if time.monotonic() - self._since > STUCK_S:
                self.sampler.unwatch(self)
                self.close()
            return
        try:
            self._sending = self.write_message(state)
        except WebSocketClosedError:
            self.sampler.unwatch(self)
            return
        self._since = time.monotonic()
        self._sending.add_done_callback(_taken)


def _taken(sending: asyncio.Future[Any]) -> None:
    """Look at the outcome, so that nobody else has to: the connection's end is told by `on_close`."""
    if not sending.cancelled():
        sending.exception()


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _parsed(message: str | bytes) -> dict[str, Any]:
    if len(message) > LONGEST_MESSAGE:
        return {}
    try:
        # NaN is no JSON, but Python reads it.
        found = json.loads(message, parse_constant=_refused)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
