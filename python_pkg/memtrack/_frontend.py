"""What widgets tell the browser of the JavaScript that draws them."""

from memtrack._version import __version__

MODULE_NAME = "memtrack"
"""Name of the npm package and of its AMD module."""

MODULE_VERSION = f"^{__version__}"
"""Range of versions of that package which can draw what this package sends."""
