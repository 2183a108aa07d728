"""The widget models of a history and of a comparison.

A history answers messages of its view: lists, changes of a run, comparisons of two. It holds a folder's
name alone; each message opens the history anew, so that two kernels never wait for each other.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ipywidgets import DOMWidget
from traitlets import Dict, Unicode

from memtrack._frontend import MODULE_NAME, MODULE_VERSION
from memtrack.reports.comparison import Diff
from memtrack.reports.comparisonpayload import encode_comparison
from memtrack.reports.history import RunList
from memtrack.reports.historypayload import encode_history
from memtrack.widgets.model import receive_where_sent
from memtrack.widgets.runmessages import answer


class HistoryModel(DOMWidget):  # type: ignore[misc] # ipywidgets has no types
    """The first page of a history, as `reports/historypayload.py` lays it out."""

    _model_name = Unicode("HistoryModel").tag(sync=True)
    _model_module = Unicode(MODULE_NAME).tag(sync=True)
    _model_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    _view_name = Unicode("HistoryView").tag(sync=True)
    _view_module = Unicode(MODULE_NAME).tag(sync=True)
    _view_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    history = Dict().tag(sync=True, echo_update=False)

    @classmethod
    def of(cls, listed: RunList) -> HistoryModel:
        """Return a model that shows these runs and changes those of their folder."""
        model = cls(history=encode_history(listed))
        model._folder = Path(listed.folder)
        return model

    def __init__(self, **values: Any) -> None:
        self._folder: Path | None = None
        self._sending = threading.Lock()
        super().__init__(**values)
        receive_where_sent(self.comm)
        self.on_msg(self._received)

    def _received(self, _: Any, content: Any, __: Any) -> None:
        if self._folder is None:
            return
        told = answer(self._folder, content)
        if told is not None:
            message, buffers = told
            with self._sending:
                self.send(message, buffers)


class ComparisonModel(DOMWidget):  # type: ignore[misc] # ipywidgets has no types
    """A comparison, as `reports/comparisonpayload.py` lays it out; nothing comes back."""

    _model_name = Unicode("ComparisonModel").tag(sync=True)
    _model_module = Unicode(MODULE_NAME).tag(sync=True)
    _model_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    _view_name = Unicode("ComparisonView").tag(sync=True)
    _view_module = Unicode(MODULE_NAME).tag(sync=True)
    _view_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    # Buffers are bytes, which ipywidgets sends as binary frames whatever their place in the value.
    comparison = Dict().tag(sync=True, echo_update=False)

    @classmethod
    def of(cls, diff: Diff) -> ComparisonModel:
        """Return a model that shows a whole comparison."""
        payload, buffers = encode_comparison(diff)
        return cls(comparison={"json": payload, "buffers": buffers})
