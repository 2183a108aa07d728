"""Where the recording of a program goes: beside the working folder's files, over none of them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from pathlib import Path

from memtrack.errors import UsageError
from memtrack.i18n import text

SUFFIX = ".memtrack"
_RANKS = ("RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def planned_target(out: str | None, name: str, environment: Mapping[str, str]) -> Path:
    """Return the whole path for a program called `name`, or for what the user has asked for.

    Of one of several processes its rank becomes part of the name. Raises UsageError, before the
    program has run, for a folder that is not there or cannot be written to.
    """
    path = Path(name + SUFFIX if out is None else out)
    if path.is_dir():
        path /= name + SUFFIX
    if path.name in ("", ".."):
        raise UsageError(text("A recording needs the name of a file to be saved to."))
    if path.suffix != SUFFIX:
        path = path.with_name(path.name + SUFFIX)
    rank = rank_of(environment)
    if rank:
        path = path.with_name(f"{path.stem}.rank{rank}{SUFFIX}")
    path = path.absolute()
    if not path.parent.is_dir():
        raise UsageError(text("There is no folder {path}.", path=path.parent))
    if out is not None and not os.access(path.parent, os.W_OK):
        raise UsageError(text("Nothing can be written into the folder {path}.", path=path.parent))
    return path


def rank_of(environment: Mapping[str, str]) -> str:
    """Return this process's rank among those that torchrun or mpirun have started, "" if none have."""
    for name in _RANKS:
        rank = environment.get(name, "")
        if rank.isdigit():
            return rank
    return ""


def free_name(path: Path) -> Path:
    """Return the path, numbered from 2 where there is such a file already."""
    if not path.exists():
        return path
    numbered = (path.with_name(f"{path.stem}-{number}{SUFFIX}") for number in itertools.count(2))
    return next(one for one in numbered if not one.exists())
