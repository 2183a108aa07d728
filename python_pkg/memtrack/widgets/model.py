"""The widget model of a report: its payload as one trait, ticks and zooms as messages.

Messages may arrive on a subshell's thread while the main thread trains. ipywidgets takes no lock,
so everything sent goes through one lock a widget; whatever is computed is computed outside of it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ipywidgets import DOMWidget
from traitlets import Dict, Unicode

from memtrack._frontend import MODULE_NAME, MODULE_VERSION
from memtrack.recording import RecordingData
from memtrack.reports import Report
from memtrack.reports.payload import encode_report
from memtrack.widgets.advice import answer_advice
from memtrack.widgets.window import answer_window

KEPT_RECORDINGS = 8
"""Widgets that still answer zooms. ipywidgets never drops a widget, so older ones let their data go."""


class ReportModel(DOMWidget):  # type: ignore[misc] # ipywidgets has no types
    """The live report of one recording. Holds columns of numbers and strings, never a tensor."""

    _model_name = Unicode("ReportModel").tag(sync=True)
    _model_module = Unicode(MODULE_NAME).tag(sync=True)
    _model_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    _view_name = Unicode("ReportView").tag(sync=True)
    _view_module = Unicode(MODULE_NAME).tag(sync=True)
    _view_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    # Buffers are bytes, which ipywidgets sends as binary frames whatever their place in the value.
    report = Dict().tag(sync=True, echo_update=False)

    def __init__(self) -> None:
        self._sending = threading.Lock()
        self._data: RecordingData | None = None
        self.on_seen: Callable[[], None] | None = None
        """Called, perhaps on another thread, when a browser shows that it is looking."""
        super().__init__()
        receive_where_sent(self.comm)
        self.on_msg(self._received)

    def show(self, data: RecordingData, report: Report) -> None:
        """Give the browser a whole report, and answer its zooms from `data` from now on."""
        payload, buffers = encode_report(report)
        _keep(self)
        with self._sending:
            self._data = data
            self.report = {"json": payload, "buffers": buffers}

    def send_if_free(self, content: dict[str, Any]) -> bool:
        """Send a message that may be dropped; False when another thread sends or it was closed.

        Never waits: the caller may be inside a send already, through the garbage collector.
        """
        if not self._sending.acquire(blocking=False):
            return False
        try:
            if self.comm is None:
                return False
            self.send(content)
        finally:
            self._sending.release()
        return True

    def forget(self) -> None:
        """Let the recording go."""
        self._data = None

    def _received(self, _: Any, content: Any, __: Any) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        if kind in ("seen", "window", "advice") and self.on_seen is not None:
            self.on_seen()
        data = self._data
        if kind == "window" and data is not None:
            answer = answer_window(data, content)
            if answer is not None:
                self._answer(*answer)
        elif kind == "advice":
            advice = answer_advice(data, content)
            if advice is not None:
                self._answer(advice, [])

    def _answer(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        with self._sending:
            if self.comm is not None:
                self.send(message, buffers)


def receive_where_sent(comm: Any) -> None:
    """Let a browser's messages come to the subshell that it sent them to.

    ipykernel 7.4 brings them to the shell that last sent on the comm: for us the main shell, which
    is busy training, so a zoom would wait for the end of the cell and every browser seem silent.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _, asked: asked


_recent: deque[ReportModel] = deque()


def _keep(model: ReportModel) -> None:
    if model in _recent:
        return
    _recent.append(model)
    if len(_recent) > KEPT_RECORDINGS:
        _recent.popleft().forget()


def forget_recordings() -> None:
    """Let the recordings of all widgets go."""
    while _recent:
        _recent.popleft().forget()
