"""Histories and comparisons as ipywidgets views, for front ends that know nothing of our MIME types."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from memtrack.reports.comparison import Diff
from memtrack.reports.historypayload import MIME_TYPE as HISTORY_MIME_TYPE
from memtrack.widgets import VIEW_MIME_TYPE
from memtrack.widgets.frontend import shows_widgets

if TYPE_CHECKING:
    from memtrack.reports.history import RunList


def with_history_view(bundle: dict[str, Any], listed: RunList) -> dict[str, Any]:
    """Return a MIME bundle of runs with a view that can change them, where the shell can show one.

    The payload tells its id, so that our own renderer can change runs too.
    """
    if not _shows_widgets():
        return bundle
    try:
        from memtrack.widgets.runmodels import HistoryModel
    except ImportError:
        return bundle
    model = HistoryModel.of(listed)
    payload = {**bundle[HISTORY_MIME_TYPE], "model_id": model.model_id}
    return {**bundle, HISTORY_MIME_TYPE: payload, VIEW_MIME_TYPE: model.get_view_spec()}


def with_comparison_view(bundle: dict[str, Any], diff: Diff) -> dict[str, Any]:
    """Return a MIME bundle of a comparison with a view, where the shell can show one."""
    if not _shows_widgets():
        return bundle
    try:
        from memtrack.widgets.runmodels import ComparisonModel
    except ImportError:
        return bundle
    return {**bundle, VIEW_MIME_TYPE: ComparisonModel.of(diff).get_view_spec()}


def _shows_widgets() -> bool:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None and shows_widgets(shell)
