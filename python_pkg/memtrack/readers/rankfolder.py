"""A folder with the recordings of several ranks, as `torchrun … -m memtrack run` leaves it.

Which rank a file is of is told by its facts, else by its name (`train.rank3.memtrack`). Its columns are
read when they are asked for. Claims (`.started`) tell of ranks that left no recording.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memtrack.errors import UnreadableFile
from memtrack.i18n import Text, text
from memtrack.rankfacts import MOST_RANKS, RankFacts, rank_from_json
from memtrack.recording import load_recording
from memtrack.recording.data import RecordingData
from memtrack.recording.ranks import KEY

_IN_NAME = re.compile(r"\.rank(\d{1,7})(?:-\d+)?$")
_META = "meta.json"
_DAMAGED = (OSError, ValueError, LookupError, AttributeError, RecursionError, zipfile.BadZipFile)
MOST_CLAIM_BYTES = 10_000
MOST_META_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class RankFile:
    """The recording of one rank; `load` reads it again."""

    facts: RankFacts
    path: Path

    def load(self) -> RecordingData:
        """Return the recording; raises UnreadableFile, or OSError as the system gives it."""
        return load_recording(self.path)


@dataclass(frozen=True, slots=True)
class RankFolder:
    """The files of a folder by rank, and what was left out."""

    label: str
    world_size: int
    files: Sequence[RankFile]
    problems: Sequence[Text]


def read_rank_folder(folder: Path) -> RankFolder:
    """Return what a folder has; UnreadableFile where there is no recording of a rank in it."""
    try:
        # Opening a pipe would wait for a writer.
        paths = sorted(
            path for path in folder.iterdir() if path.suffix == ".memtrack" and not path.is_fifo()
        )
        claims = [_claim(path) for path in folder.glob("*.started") if path.is_file()]
    except OSError as error:
        problem = error.strerror or type(error).__name__
        sentence = text("{path} cannot be read ({problem}).", path=folder, problem=problem)
        raise UnreadableFile(sentence) from error
    found: dict[int, RankFile] = {}
    problems: list[Text] = []
    for path in paths:
        facts = _facts(path)
        if facts is None:
            continue
        if facts.rank in found:
            names = {"file": path.name, "rank": facts.rank, "other": found[facts.rank].path.name}
            problems.append(
                text("{file} is of rank {rank}, as {other} is, and is left out.", **names)
            )
            continue
        found[facts.rank] = RankFile(facts, path)
    if not found:
        raise UnreadableFile(
            text("There is no recording of a rank in the folder {path}.", path=folder),
            text("torchrun … -m memtrack run SCRIPT makes one."),
        )
    started = [claim for claim in claims if claim is not None]
    size = max(one.world_size for one in [*(file.facts for file in found.values()), *started])
    files = [found[rank] for rank in sorted(found)]
    return RankFolder(_label(files), size, files, problems)


def _facts(path: Path) -> RankFacts | None:
    """Return which rank a file is of, without reading its columns."""
    with suppress(*_DAMAGED), zipfile.ZipFile(path) as archive:
        if archive.getinfo(_META).file_size <= MOST_META_BYTES:
            extra = json.loads(archive.read(_META)).get("extra")
            told = rank_from_json(extra.get(KEY))
            if told is not None:
                return told
    number = _IN_NAME.search(path.stem)
    if number is None or int(number[1]) >= MOST_RANKS:
        return None
    return RankFacts(int(number[1]), int(number[1]) + 1)


def _claim(path: Path) -> RankFacts | None:
    with suppress(OSError, ValueError, RecursionError):
        if path.stat().st_size <= MOST_CLAIM_BYTES:
            found = json.loads(path.read_text(encoding="utf-8"))
            return rank_from_json(found if isinstance(found, Mapping) else None)
    return None


def _label(files: Sequence[RankFile]) -> str:
    return _IN_NAME.sub("", files[0].path.stem)
