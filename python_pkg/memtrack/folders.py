"""The working folder, which may have been removed while a process stands in it."""

from __future__ import annotations

import os
from pathlib import Path


def working_folder() -> Path:
    """Return the working folder from the root on; `.` where it is gone or may not be read.

    What is looked for below `.` is not found there either, and says so as any other missing file.
    """
    try:
        return Path.cwd()
    except OSError:
        return Path()


def folder_of_imports() -> str:
    """Return the working folder as `sys.path` may have it: "" where it is gone, as Python takes that."""
    folder = working_folder()
    return str(folder) if folder.is_absolute() else ""


def from_the_root(path: str | os.PathLike[str]) -> str:
    """Return a path from the root on, without `.` and `..`; as it is where there is no working folder."""
    try:
        return os.path.abspath(path)
    except OSError:
        return os.path.normpath(path)
