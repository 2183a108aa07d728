"""The live half of a report in the browser, for kernels with ipywidgets; nothing elsewhere.

In: a recording and its report. Out: a widget model that the browser finds by its id.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from memtrack.recording import RecordingData
from memtrack.reports import Report
from memtrack.reports.payload import MIME_TYPE
from memtrack.widgets.frontend import shows_widgets

if TYPE_CHECKING:
    from memtrack.widgets.model import ReportModel

VIEW_MIME_TYPE = "application/vnd.jupyter.widget-view+json"


def new_model(shell: Any) -> ReportModel | None:
    """Return a model for a browser, None without ipywidgets or where `shell` serves no browser."""
    if getattr(shell, "kernel", None) is None or not shows_widgets(shell):
        return None
    try:
        from memtrack.widgets.model import ReportModel
    except ImportError:
        return None
    return ReportModel()


def with_live_view(bundle: dict[str, Any], data: RecordingData, report: Report) -> dict[str, Any]:
    """Return a MIME bundle with a live view added to it where the current shell can show one."""
    ipython = sys.modules.get("IPython")
    model = new_model(ipython.get_ipython()) if ipython is not None else None
    if model is None:
        return bundle
    model.show(data, report)
    return with_view(bundle, model)


def with_view(bundle: dict[str, Any], model: ReportModel) -> dict[str, Any]:
    """Return a MIME bundle that also shows `model`, and whose payload tells its id."""
    shown = dict(bundle)
    if MIME_TYPE in shown:
        shown[MIME_TYPE] = {**shown[MIME_TYPE], "model_id": model.model_id}
    shown[VIEW_MIME_TYPE] = model.get_view_spec()
    return shown


def forget_recordings() -> None:
    """Let go of every recording that a widget holds; reports stay, zooms are no longer answered."""
    module = sys.modules.get("memtrack.widgets.model")
    if module is not None:
        module.forget_recordings()
