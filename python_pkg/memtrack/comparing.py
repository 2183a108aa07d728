"""Runs kept and compared: `memtrack.history`, `memtrack.compare`, and what the other doors ask of them.

torch and a GPU are not needed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtrack.api import Presentation, Recording, running_shell
from memtrack.api import open as open_recording
from memtrack.comparison import RunView, view_of
from memtrack.comparison import compare as compare_views
from memtrack.errors import UnavailableError, UsageError
from memtrack.i18n import text
from memtrack.recording import RecordingData
from memtrack.reports.comparison import Diff
from memtrack.reports.history import RunList, list_runs
from memtrack.reports.rankdiffs import RankDiffs
from memtrack.runs import History, Run, history_folder
from memtrack.runs.keeping import wait
from memtrack.runs.store import BASELINE, LAST
from memtrack.runs.surroundings import origin_of

__all__ = ["BASELINE", "LAST", "Diff", "HistoryRuns", "Side", "compare", "history", "opened"]

Folder = str | os.PathLike[str] | None
_FILES = (".memtrack", ".ranks", ".pickle", ".pkl", ".gz", ".xz")


@dataclass(frozen=True, slots=True)
class Side:
    """One of two runs: what it is compared by, its number in the history and what it is called."""

    view: RunView
    run: int | None = None
    name: str = ""


def compare(
    a: Any = BASELINE, b: Any = LAST, *, folder: Folder = None, rank: int | None = None
) -> Diff | RankDiffs:
    """Return what changed from run `a` to run `b`; of two folders of ranks what changed on each rank.

    Each is a recording or prediction, the path of a `.memtrack` file or of a snapshot, or a run of the
    history: its number, its name, `"last"` or `"baseline"`. `folder` is that of the history; by default
    `MEMTRACK_HISTORY`, or `.memtrack` beside the notebook or in the working folder. With `rank` one rank of
    a folder is compared, as it must be where the other side is a single run.

        found = memtrack.compare("before checkpointing", recording)
        print(found)
        found.peak_change, found.movers[0].where

    Raises UsageError for a run that there is not, and the errors of `memtrack.open` for files.
    """
    by_rank = compare_ranks(a, b) if rank is None else None
    if by_rank is not None:
        return by_rank
    after = side_of(b, folder, rank)
    return diff_of(before_of(a, after, folder, rank), after)


def compare_ranks(a: Any, b: Any, shown: Presentation | None = None) -> RankDiffs | None:
    """Return what changed on each rank, where both are folders of ranks (or `Ranks`); else None."""
    before, after = ranks_of(a), ranks_of(b)
    if before is None or after is None:
        return None
    common = [rank for rank in before if rank in set(after)]
    if not common:
        raise UsageError(text("The two runs have no rank in common."))
    return RankDiffs(
        [(rank, diff_of(side_of(before[rank]), side_of(after[rank]), shown)) for rank in common],
        [rank for rank in before if rank not in common],
        [rank for rank in after if rank not in common],
        "" if shown is None else shown.language,
    )


def history(
    search: str = "",
    *,
    deleted: bool = False,
    folder: Folder = None,
    presentation: Presentation | None = None,
) -> HistoryRuns:
    """Return the runs that were kept, the newest first: those with every word of `search`.

    Words are looked for in label, name, notebook, note, device, commit and tags. With `deleted` the
    runs are those that were deleted in the last 30 days.

        runs = memtrack.history("bf16")
        runs[0].peak, runs[0].steps_per_second
        runs.name(runs[0].id, "with checkpointing")
        runs.to_pandas()
    """
    with opened(folder) as kept:
        listed = list_runs(kept, search=search, deleted=deleted)
    values = {name: getattr(listed, name) for name in RunList.__dataclass_fields__}
    if presentation is not None:
        values |= {"language": presentation.language, "payload_limit": presentation.payload_limit}
    return HistoryRuns(**values)


def opened(folder: Folder = None, *, create: bool = False) -> History:
    """Open a history, once all that is to be added is there; UnavailableError where there is none."""
    wait()
    place = _folder(folder)
    if place.is_file():
        raise UsageError(text("{path} is not a folder.", path=place))
    return History(place, create=create)


def diff_of(before: Side, after: Side, shown: Presentation | None = None) -> Diff:
    """Return what changed from one side to the other, to be shown in a notebook as `shown` says."""
    found = compare_views(before.view, after.view)
    runs, names = (before.run, after.run), (before.name, after.name)
    if shown is None:
        return LiveDiff(found, runs, names)
    return LiveDiff(found, runs, names, shown.language, shown.payload_limit)


def side_of(subject: Any, folder: Folder = None, rank: int | None = None) -> Side:
    """Return what a subject of `compare` stands for; of several ranks the one of that number."""
    if are_ranks(subject):
        return side_of(_one_of(subject, rank, str(subject.ranks_report.label)), folder)
    if isinstance(subject, Recording):
        return side_of(subject.data, folder)
    if isinstance(subject, RecordingData):
        return _of_data(subject, folder)
    if isinstance(subject, Run):
        return _of_run(subject.id, folder)
    if isinstance(subject, bool) or not isinstance(subject, str | int | os.PathLike):
        kind = type(subject).__name__
        raise UsageError(
            text("A run to compare is a recording, a file or a run's name, not {kind}.", kind=kind)
        )
    if isinstance(subject, int) or not names_a_file(subject):
        return _of_run(str(subject), folder)
    found = recording_in(subject, rank)
    return Side(view_of(found.data), name=os.path.basename(found.source or subject))


def before_of(subject: Any, after: Side, folder: Folder = None, rank: int | None = None) -> Side:
    """Return the side that another is compared with; `"baseline"` is the one of its label."""
    if subject != BASELINE:
        return side_of(subject, folder, rank)
    with opened(folder) as kept:
        own = -1 if after.run is None else after.run
        run = kept.baseline_for(after.view.label, own)
        if run is not None:
            return _side(kept, run)
        if own >= 0 and kept.run(own).baseline:
            raise UsageError(
                text("Run {run} is the baseline itself.", run=own),
                text("Record another run, or name the one to compare it with."),
            )
        return _side(kept, kept.run(BASELINE))


def recording_in(path: str | os.PathLike[str], rank: int | None = None) -> Recording:
    """Return the recording in a file, or of one rank in a folder; UsageError where none is named."""
    found: Any = open_recording(path)
    return _one_of(found, rank, os.fspath(path)) if are_ranks(found) else found


def _one_of(ranks: Any, rank: int | None, called: str) -> Recording:
    if rank is None:
        raise UsageError(
            text("{path} has recordings of several ranks.", path=called),
            text("Say which one: --rank N (in Python: rank=N)."),
        )
    found: Recording = ranks[rank]
    return found


def are_ranks(subject: Any) -> bool:
    """Tell whether something is `memtrack.Ranks`."""
    return hasattr(type(subject), "ranks_report")


def refuse_without_ranks(rank: int | None, *subjects: Any) -> None:
    """Raise UsageError for a rank where nothing is a folder of ranks."""
    if rank is not None and not any(are_ranks(one) or _is_folder(one) for one in subjects):
        raise UsageError(text("--rank is for a folder of several ranks."))


def _is_folder(subject: Any) -> bool:
    is_path = isinstance(subject, str | os.PathLike) and bool(os.fspath(subject))
    return is_path and os.path.isdir(os.path.expanduser(subject))


def ranks_of(subject: Any) -> Any:
    """Return the `Ranks` that a subject is or that a folder has; None for anything else."""
    if are_ranks(subject):
        return subject
    is_folder = isinstance(subject, str | os.PathLike) and names_a_file(subject)
    return open_recording(subject) if is_folder and os.path.isdir(subject) else None


def recording_of(subject: Any, folder: Folder = None, rank: int | None = None) -> Recording:
    """Return the whole recording of a file, or of a run of the history where it is still kept.

    A recording is itself; of several ranks it is the one of that number.
    """
    if isinstance(subject, Recording):
        return subject
    if are_ranks(subject):
        return _one_of(subject, rank, str(subject.ranks_report.label))
    if names_a_file(subject):
        return recording_in(subject, rank)
    with opened(folder) as kept:
        return Recording(kept.data(kept.run(subject)))


def names_a_file(subject: str | os.PathLike[str]) -> bool:
    """Tell whether a word is the path of a file rather than the name of a run."""
    if not isinstance(subject, str):
        return True
    known = subject.endswith(_FILES) or os.sep in subject or "/" in subject
    return known or os.path.isfile(subject) or _has_recordings(subject)


def _has_recordings(folder: str) -> bool:
    return os.path.isdir(folder) and any(Path(folder).glob("*.memtrack"))


def _of_run(which: int | str, folder: Folder) -> Side:
    with opened(folder) as kept:
        return _side(kept, kept.run(which))


def _of_data(data: RecordingData, folder: Folder) -> Side:
    """Return a recording's side, with its number where it was added to the history."""
    with suppress(UnavailableError), opened(folder) as kept:
        run = kept.recorded_as(data.facts.identifier)
        if run is not None:
            return Side(view_of(data), run.id, run.name)
    return Side(view_of(data))


def _side(kept: History, run: Run) -> Side:
    return Side(kept.view(run), run.id, run.name)


def folder_here(shell: Any) -> Path:
    """Return the folder of the history of a notebook (`shell` is IPython's) or, with None, a script."""
    return history_folder(origin_of(shell).folder)


def _folder(folder: Folder) -> Path:
    return folder_here(running_shell()) if folder is None else Path(os.path.expanduser(folder))


class LiveDiff(Diff):
    """A comparison that is also an ipywidgets view, for front ends that know nothing of our MIME type."""

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        from memtrack.widgets.runs import with_comparison_view

        return with_comparison_view(super()._repr_mimebundle_(**options), self)


@dataclass(frozen=True)
class HistoryRuns(RunList):
    """Runs of a history, each of which can be changed: by its number or by its name.

    What is changed is so in the history at once; the rows here stay as they were.
    """

    def name(self, which: int | str, name: str) -> Run:
        """Call a run `name`, "" for nothing."""
        with opened(self.folder) as kept:
            return kept.name(kept.run(which), name)

    def make_baseline(self, which: int | str, on: bool = True) -> Run:
        """Make a run the one that others of its label are compared with, or no more."""
        with opened(self.folder) as kept:
            return kept.make_baseline(kept.run(which), on)

    def pin(self, which: int | str, on: bool = True) -> Run:
        """Keep the whole recording of a run whatever the limits say, or no more."""
        with opened(self.folder) as kept:
            return kept.pin(kept.run(which), on)

    def tag(self, which: int | str, *tags: str) -> Run:
        """Give a run these tags and no others."""
        with opened(self.folder) as kept:
            return kept.tag(kept.run(which), tags)

    def note(self, which: int | str, words: str) -> Run:
        """Write a note to a run, in place of the one it had."""
        with opened(self.folder) as kept:
            return kept.note(kept.run(which), words)

    def delete(self, *which: int | str) -> None:
        """Take runs out of the history; `restore` brings them back within 30 days."""
        with opened(self.folder) as kept:
            for run in [kept.run(one) for one in which]:
                kept.delete(run)

    def restore(self, *which: int | str) -> None:
        """Bring deleted runs back, by their numbers."""
        with opened(self.folder) as kept:
            for run in [kept.run(one, deleted=True) for one in which]:
                kept.restore(run)

    def recording(self, which: int | str) -> Recording:
        """Return the whole recording of a run; UnavailableError where it is not kept any more."""
        return recording_of(str(which), self.folder)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        from memtrack.widgets.runs import with_history_view

        return with_history_view(super()._repr_mimebundle_(**options), self)
