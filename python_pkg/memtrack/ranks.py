"""The Python door to several ranks: `memtrack.open(FOLDER)` and `memtrack.gather`, and what they give."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from memtrack.api import Presentation, Recording
from memtrack.errors import UsageError
from memtrack.exports.write import refuse_existing
from memtrack.i18n import Text, preferred_language, text
from memtrack.rankfacts import RankFacts
from memtrack.readers.rankfolder import read_rank_folder
from memtrack.recording import RecordingData, load_recording, save_recording
from memtrack.recording.ranks import rank_of, with_rank
from memtrack.reports.ranks import RanksReport, build_ranks_report
from memtrack.reports.rankspayload import MIME_TYPE, encode_ranks
from memtrack.reports.rankstable import ranks_html, render_ranks

if TYPE_CHECKING:
    import pandas as pd

Load = Callable[[], RecordingData]


class Ranks:
    """The recordings of several ranks: `ranks[1]` is that of rank 1, `ranks.imbalance` max / mean.

    A file is read when its rank is asked for, so that a thousand ranks fit into memory.
    """

    def __init__(
        self,
        label: str,
        world_size: int,
        members: Sequence[tuple[RankFacts, str, Load]],
        problems: Sequence[Text] = (),
        presentation: Presentation | None = None,
        folder: str = "",
    ) -> None:
        self._members = {facts.rank: (facts, file, load) for facts, file, load in members}
        self._presentation = presentation
        self._folder = folder
        self.world_size = world_size
        self._made: RanksReport | None = None
        self._label, self._problems = label, problems

    def __getitem__(self, rank: int) -> Recording:
        if rank not in self._members:
            known = ", ".join(map(str, self._members))
            raise UsageError(
                text("There is no recording of rank {rank}.", rank=rank),
                text("Known: {words}.", words=known),
            )
        _, file, load = self._members[rank]
        recording = Recording(load(), self._presentation)
        return recording.opened_from(Path(self._folder) / file) if file else recording

    def __iter__(self) -> Iterator[int]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def ranks_report(self) -> RanksReport:
        """Everything a reader is shown, as data."""
        if self._made is None:
            members = list(self._members.values())
            self._made = build_ranks_report(self._label, self.world_size, members, self._problems)
        return self._made

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that left no recording, or one that cannot be read."""
        return tuple(self.ranks_report.missing)

    @property
    def peaks(self) -> dict[int, int]:
        """The most allocated bytes of each rank."""
        rows = self.ranks_report.rows
        return {row.facts.rank: row.peak.bytes for row in rows if row.peak is not None}

    @property
    def imbalance(self) -> float:
        """The highest peak over the mean of all: 1.0 where all are the same."""
        found = self.ranks_report.imbalance
        return 1.0 if found is None else found.ratio

    def to_pandas(self) -> pd.DataFrame:
        """Return a row a rank: `peak_bytes`, `reserved_bytes`, `steps`, `step_ns`, `state`, `host`.

        Raises UnavailableError where pandas is not installed.
        """
        from memtrack.exports.ranks import ranks_table

        return ranks_table(self.ranks_report).to_pandas()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a file a rank into a new or empty folder, which `memtrack.open` opens; return it."""
        target = Path(folder)
        if target.exists() and any(target.iterdir()):
            raise UsageError(text("The folder {path} is not empty.", path=target))
        target.mkdir(parents=True, exist_ok=True)
        for rank, (facts, _, load) in self._members.items():
            save_recording(with_rank(load(), facts), target / f"{self._label}.rank{rank}.memtrack")
        return target

    @property
    def data(self) -> NoReturn:
        """Nothing: an answer is about one rank. Raises UsageError, as what asks for it does."""
        raise self._several()

    def report(self) -> NoReturn:
        """Raise what `data` raises."""
        raise self._several()

    def export(
        self, path: str | os.PathLike[str], *, table: str = "", force: bool = False
    ) -> list[Path]:
        """Write a file a rank, `run.rank0.csv` for `run.csv`, and return their paths.

        As `Recording.export` does; a file that is there stays, and then none is written, unless `force`.
        """
        wanted = Path(path).expanduser()
        targets = {rank: wanted.with_name(_of_rank(wanted, rank)) for rank in self}
        for target in () if force else targets.values():
            refuse_existing(target)
        return [
            self[rank].export(target, table=table, force=force) for rank, target in targets.items()
        ]

    def summary(self, *_: object) -> NoReturn:
        """Raise what `data` raises."""
        raise self._several()

    def _several(self) -> UsageError:
        facts, file, _ = next(iter(self._members.values()))
        example = str(Path(self._folder) / file) if file else f"ranks[{facts.rank}]"
        return UsageError(
            text("These are the recordings of several ranks."),
            text("Name one of them: {example}", example=example),
        )

    def __str__(self) -> str:
        shown = self._presentation
        return render_ranks(self.ranks_report, shown.language if shown else preferred_language())

    def __repr__(self) -> str:
        return f"<memtrack.Ranks of {self._label}: {len(self)} of {self.world_size}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        shown = self._presentation or Presentation(preferred_language())
        return {
            "text/plain": render_ranks(self.ranks_report, shown.language),
            "text/html": ranks_html(self.ranks_report, shown.language),
            MIME_TYPE: encode_ranks(self.ranks_report),
        }


def _of_rank(wanted: Path, rank: int) -> str:
    return f"{wanted.stem}.rank{rank}{wanted.suffix}"


def open_ranks(folder: Path, presentation: Presentation | None = None) -> Ranks:
    """Open a folder with the recordings of several ranks; UnreadableFile where there is none."""
    found = read_rank_folder(folder)
    members = [(file.facts, file.path.name, file.load) for file in found.files]
    return Ranks(found.label, found.world_size, members, found.problems, presentation, str(folder))


def gather(recording: Recording | None, *, timeout_s: float = 60.0) -> Ranks | None:
    """Bring the recordings of all ranks to rank 0, through `torch.distributed`; None on the others.

    To be called on every rank, with the recording that it has made, ended, or None. Goes through a
    group of its own on the CPU, so that nothing lands on a GPU. Raises RecordingStateError without an
    initialised process group, UnavailableError where not all ranks answer in `timeout_s` seconds.

        with memtrack.track(model, optimizer) as recording:
            train(model)
        ranks = memtrack.gather(recording)
        if ranks is not None:
            print(ranks)
    """
    from memtrack.capture.gathering import gather_bytes, own_rank

    facts = own_rank()
    with tempfile.TemporaryDirectory(prefix="memtrack-") as folder:
        packed = b""
        if recording is not None:
            path = save_recording(with_rank(recording.data, facts), Path(folder) / "own")
            packed = path.read_bytes()
        gathered = gather_bytes(packed, timeout_s)
        if gathered is None:
            return None
        found = [_unpacked(one, Path(folder)) for one in gathered if one]
    known = [(rank_of(data) or facts, data) for data in found]
    label = known[0][1].facts.label if known else "run"
    members = [(one, "", lambda data=data: data) for one, data in known]
    return Ranks(label, facts.world_size, members)


def _unpacked(packed: bytes, folder: Path) -> RecordingData:
    path = folder / "other.memtrack"
    path.write_bytes(packed)
    return load_recording(path)
