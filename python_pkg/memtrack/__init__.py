"""Where GPU memory goes, in the notebook."""

from memtrack._jupyter import (
    _jupyter_labextension_paths,
    _jupyter_nbextension_paths,
    _jupyter_server_extension_points,
)
from memtrack._version import __version__

__all__ = [
    "__version__",
    "_jupyter_labextension_paths",
    "_jupyter_nbextension_paths",
    "_jupyter_server_extension_points",
]
