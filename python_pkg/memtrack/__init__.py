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

    from memtrack.advising import advise
    from memtrack.api import Recording, open  # noqa: A004 - the name users read: memtrack.open
    from memtrack.comparing import compare, history
    from memtrack.explaining import explain
    from memtrack.exports import export
    from memtrack.planning import plan, plan_kv, plan_loading
    from memtrack.predicting import Prediction, largest_batch, predict
    from memtrack.ranks import Ranks, gather
    from memtrack.scripts.hooks import install, uninstall
    from memtrack.tracking import track

__all__ = [
    "MemtrackError",
    "NewerFormat",
    "Prediction",
    "PredictionError",
    "Ranks",
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
    "gather",
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

_LAZY = {
    **dict.fromkeys(("Recording", "open"), "memtrack.api"),
    **dict.fromkeys(("compare", "history"), "memtrack.comparing"),
    **dict.fromkeys(("plan", "plan_kv", "plan_loading"), "memtrack.planning"),
    **dict.fromkeys(("Prediction", "largest_batch", "predict"), "memtrack.predicting"),
    **dict.fromkeys(("Ranks", "gather"), "memtrack.ranks"),
    **dict.fromkeys(("install", "uninstall"), "memtrack.scripts.hooks"),
    "advise": "memtrack.advising",
    "explain": "memtrack.explaining",
    "export": "memtrack.exports",
    "track": "memtrack.tracking",
}
"""Where each name comes from at its first use."""


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
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'memtrack' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
