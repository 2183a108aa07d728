"""Where the recording of a program goes: beside the working folder's files, over none of them.

Of one of several processes it goes into a folder that all of them find without a word to each other:
the first, numbered, in which this rank has left nothing yet. A claim, written before the program
runs, tells of a rank that leaves no recording.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memtrack.errors import UsageError
from memtrack.folders import working_folder
from memtrack.i18n import text
from memtrack.rankfacts import RankFacts, rank_of_environment

SUFFIX = ".memtrack"
FOLDER_SUFFIX = ".ranks"
CLAIM_SUFFIX = ".started"


def planned_target(out: str | None, name: str, environment: Mapping[str, str]) -> Path:
    """Return the whole path for a program called `name`, or for what the user has asked for.

    Of one of several processes that is in a folder, claimed for this rank. Raises UsageError, before
    the program has run, for a folder that is not there or cannot be written to.
    """
    path = Path(name + SUFFIX if out is None else out)
    if path.is_dir() and path.suffix != FOLDER_SUFFIX:
        path /= name + SUFFIX
    if path.name in ("", ".."):
        raise UsageError(text("A recording needs the name of a file to be saved to."))
    if path.suffix != SUFFIX:
        path = path.with_name(path.name.removesuffix(FOLDER_SUFFIX) + SUFFIX)
    path = working_folder() / path
    if not path.parent.is_dir():
        raise UsageError(text("There is no folder {path}.", path=path.parent))
    if out is not None and not os.access(path.parent, os.W_OK):
        raise UsageError(text("Nothing can be written into the folder {path}.", path=path.parent))
    rank = rank_of_environment(environment)
    return path if rank is None else _claimed(path, rank)


def claim_of(target: Path) -> Path:
    """Return the file that says that the rank of a recording has started."""
    return target.with_name(target.stem + CLAIM_SUFFIX)


def free_name(path: Path) -> Path:
    """Return the path, numbered from 2 where there is such a file already."""
    return next(one for one in _numbered(path) if not one.exists())


def _claimed(path: Path, rank: RankFacts) -> Path:
    file = f"{path.stem}.rank{rank.rank}{SUFFIX}"
    for folder in _numbered(path.with_suffix(FOLDER_SUFFIX)):
        target = folder / file
        try:
            folder.mkdir(exist_ok=True)
            if target.exists():
                continue
            with claim_of(target).open("x", encoding="utf-8") as claim:
                json.dump(rank.to_json(), claim)
        except FileExistsError:
            continue
        except OSError:  # the recording may still find a place at the end
            with suppress(OSError):
                folder.rmdir()
            return target
        return target
    raise AssertionError("numbers do not end")


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    for number in itertools.count(2):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")
