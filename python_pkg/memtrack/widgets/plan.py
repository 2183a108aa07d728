"""The planner as an ipywidgets view, for front ends that know nothing of our MIME type."""

from __future__ import annotations

import sys
from typing import Any

from memtrack.reports.planpayload import PLAN_MIME_TYPE
from memtrack.widgets.frontend import shows_widgets

_VIEW_MIME_TYPE = "application/vnd.jupyter.widget-view+json"


def with_plan_view(bundle: dict[str, Any]) -> dict[str, Any]:
    """Return a MIME bundle of a plan with a view added where the current shell can show one."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None or not shows_widgets(shell):
        return bundle
    try:
        from memtrack.widgets.planmodel import PlanModel
    except ImportError:
        return bundle
    model = PlanModel(plan=bundle[PLAN_MIME_TYPE])
    return {**bundle, _VIEW_MIME_TYPE: model.get_view_spec()}
