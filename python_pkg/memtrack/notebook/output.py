"""The one output of a recording: shown where it was asked for, then updated in place.

A front end that takes updates gets a MIME bundle; a terminal gets a line at the beginning and the
text report at the end.
"""

from __future__ import annotations

import html
import uuid
from typing import TYPE_CHECKING, Any

from memtrack.api import Presentation
from memtrack.i18n import Text
from memtrack.recording import RecordingData
from memtrack.reports import build_report, bundle
from memtrack.widgets import with_view

if TYPE_CHECKING:
    from memtrack.widgets.model import ReportModel


class Output:
    """Publishes through `shell`, with the widget `model` in it where there is one."""

    def __init__(self, shell: Any, presentation: Presentation, model: ReportModel | None) -> None:
        self._publisher = shell.display_pub
        self._language = presentation.language
        self._payload_limit = presentation.payload_limit
        self._model = model
        self._display_id = uuid.uuid4().hex
        self.in_place = takes_updates(shell)
        """Whether what was shown can be replaced; if not, the report is printed once at the end."""

    def show_waiting(self, sentence: Text) -> None:
        """Show in one line what is being watched."""
        self._publish(self._with_view(self._line(sentence)), update=False)

    def show_line(self, sentence: Text) -> None:
        """Replace what is shown by one line, without a live view."""
        self._publish(self._line(sentence), update=self.in_place)

    def update(self, data: RecordingData) -> None:
        """Replace what is shown by the report of a recording that goes on."""
        if self.in_place:
            self._show(data, update=True)

    def close(self, data: RecordingData) -> None:
        """Show the report of a recording that has ended."""
        self._show(data, update=self.in_place)

    def _show(self, data: RecordingData, *, update: bool) -> None:
        report = build_report(data)
        model = self._open_model()
        if model is not None:
            model.show(data, report)
        shown = bundle(report, language=self._language, limit_bytes=self._payload_limit)
        self._publish(self._with_view(shown), update=update)

    def _line(self, sentence: Text) -> dict[str, Any]:
        line = sentence.render(self._language)
        return {"text/plain": line, "text/html": f"<p>{html.escape(line)}</p>"}

    def _with_view(self, shown: dict[str, Any]) -> dict[str, Any]:
        model = self._open_model()
        return shown if model is None else with_view(shown, model)

    def _open_model(self) -> ReportModel | None:
        """Return the model unless its user closed it, as `Widget.close_all()` does."""
        if self._model is not None and self._model.comm is None:
            self._model = None
        return self._model

    def _publish(self, shown: dict[str, Any], *, update: bool) -> None:
        transient = {"display_id": self._display_id}
        self._publisher.publish(shown, {}, transient=transient, update=update)


def say(shell: Any, sentence: Text, language: str) -> None:
    """Show one line."""
    shell.display_pub.publish({"text/plain": sentence.render(language)}, {})


def takes_updates(shell: Any) -> bool:
    """Tell whether the front end of `shell` can replace what it shows; a terminal cannot."""
    from IPython.core.displaypub import DisplayPublisher

    return type(shell.display_pub) is not DisplayPublisher
