"""The widget model of a planner: its payload, which the browser works with by itself."""

from __future__ import annotations

from ipywidgets import DOMWidget
from traitlets import Dict, Unicode

from memtrack._frontend import MODULE_NAME, MODULE_VERSION


class PlanModel(DOMWidget):  # type: ignore[misc] # ipywidgets has no types
    """Holds what `reports/planpayload.py` lays out; nothing comes back."""

    _model_name = Unicode("PlanModel").tag(sync=True)
    _model_module = Unicode(MODULE_NAME).tag(sync=True)
    _model_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    _view_name = Unicode("PlanView").tag(sync=True)
    _view_module = Unicode(MODULE_NAME).tag(sync=True)
    _view_module_version = Unicode(MODULE_VERSION).tag(sync=True)
    plan = Dict().tag(sync=True, echo_update=False)
