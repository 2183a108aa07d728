"""Where GPU memory goes, in the notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memtrack._jupyter import (
    _jupyter_labextension_paths,
    _jupyter_nbextension_paths,
    _jupyter_server_extension_points,
)
from memtrack._version import __version__
from memtrack.errors import (
    MemtrackError,
    NewerFormat,
    PredictionError,
    RecordingStateError,
    UnavailableError,
    UnreadableFile,
    UsageError,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memtrack.api import Recording, advise, explain, export, open  # noqa: A004 - the name users read: memtrack.open
    from memtrack.comparing import compare, history
    from memtrack.planning import plan, plan_kv, plan_loading
    from memtrack.predicting import Prediction, largest_batch, predict
    from memtrack.scripts.hooks import install, uninstall
    from memtrack.tracking import track

__all__ = [
    "MemtrackError",
    "NewerFormat",
    "Prediction",
    "PredictionError",
    "Recording",
    "RecordingStateError",
    "UnavailableError",
    "UnreadableFile",
    "UsageError",
    "__version__",
    "_jupyter_labextension_paths",
    "_jupyter_nbextension_paths",
    "_jupyter_server_extension_points",
    "advise",
    "compare",
    "explain",
    "export",
    "history",
    "install",
    "largest_batch",
    "load_ipython_extension",
    "open",
    "plan",
    "plan_kv",
    "plan_loading",
    "predict",
    "track",
    "uninstall",
    "unload_ipython_extension",
]

_LAZY = ("Recording", "advise", "explain", "export", "open")
_LAZY_COMPARING = ("compare", "history")
_LAZY_PLANNING = ("plan", "plan_kv", "plan_loading")
_LAZY_PREDICTING = ("Prediction", "largest_batch", "predict")
_LAZY_SCRIPTS = ("install", "uninstall")
_LAZY_TRACKING = ("track",)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add `%memtrack` and `%%memtrack`; called by `%load_ext memtrack`."""
    from memtrack.notebook import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take back everything that loading and recording added; called by `%unload_ext memtrack`."""
    from memtrack.notebook import unload

    unload(shell)


def __getattr__(name: str) -> Any:
    """Load the API at its first use, so that `import memtrack` stays cheap."""
    if name in _LAZY_SCRIPTS:
        return getattr(import_module("memtrack.scripts.hooks"), name)
    if name in _LAZY_TRACKING:
        return getattr(import_module("memtrack.tracking"), name)
    if name in _LAZY_COMPARING:
        return getattr(import_module("memtrack.comparing"), name)
    if name in _LAZY_PLANNING:
        return getattr(import_module("memtrack.planning"), name)
    if name in _LAZY_PREDICTING:
        return getattr(import_module("memtrack.predicting"), name)
    if name not in _LAZY:
        raise AttributeError(f"module 'memtrack' has no attribute {name!r}")
    return getattr(import_module("memtrack.api"), name)


def __dir__() -> list[str]:
    lazy = (*_LAZY, *_LAZY_COMPARING, *_LAZY_PLANNING, *_LAZY_PREDICTING, *_LAZY_SCRIPTS)
    return sorted({*globals(), *lazy, *_LAZY_TRACKING})
