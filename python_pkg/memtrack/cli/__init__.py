"""The command line: `memtrack COMMAND`. Exit codes: 0 fine, 1 a check failed, 2 wrong use or input."""

from memtrack.cli.main import main

__all__ = ["main"]
