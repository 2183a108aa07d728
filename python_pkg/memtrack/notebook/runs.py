"""`%memtrack save`, `history` and `diff`: runs named, listed, changed and compared from a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtrack.api import Presentation, Recording
from memtrack.comparing import (
    BASELINE,
    LAST,
    Diff,
    HistoryRuns,
    Side,
    are_ranks,
    before_of,
    compare_ranks,
    diff_of,
    folder_here,
    names_a_file,
    opened,
    recording_of,
    refuse_without_ranks,
    side_of,
)
from memtrack.comparing import history as runs_in
from memtrack.errors import MemtrackError, UsageError
from memtrack.i18n import Text, text
from memtrack.notebook.grammar import split_words, unquote
from memtrack.notebook.output import say
from memtrack.notebook.targets import evaluate
from memtrack.recording import RecordingData
from memtrack.reports.rankdiffs import RankDiffs
from memtrack.reports.steps import Steps, steps_of
from memtrack.runs import History, Run, history_folder, keeping
from memtrack.runs.surroundings import origin_of, with_origin
from memtrack.units import format_bytes

SAVE_OPTIONS = ("--baseline",)
DIFF_OPTIONS = ("--steps", "--rank")
ACTIONS: Mapping[str, str] = {
    "open": "RUN",
    "name": "RUN NAME",
    "baseline": "RUN",
    "tag": "RUN [TAG …]",
    "note": "RUN TEXT",
    "pin": "RUN",
    "unpin": "RUN",
    "delete": "RUN …",
    "restore": "RUN …",
}
"""Words after `%memtrack history` that open or change a run, and what follows each."""
WORDS = (*ACTIONS, "deleted", "on", "off")
_SEVERAL = ("delete", "restore")
_WITH_WORDS = ("name", "tag", "note")


class RunCommands:
    """The three sub-commands of one notebook. `latest` gives its latest recording, `end` ends it.

    `presentation` says how things are shown at the moment.
    """

    def __init__(
        self,
        shell: Any,
        latest: Callable[[], Recording],
        end: Callable[[], None],
        presentation: Callable[[], Presentation],
    ) -> None:
        self._shell = shell
        self._latest = latest
        self._end = end
        self._presentation = presentation

    def save(self, argument: str) -> None:
        """Give the latest run a name, make it the baseline, or both; one that goes on is ended."""
        words = [unquote(word) for word in split_words(argument)]
        options = [word for word in words if word.startswith("-")]
        names = [word for word in words if not word.startswith("-")]
        for option in options:
            if option not in SAVE_OPTIONS:
                raise UsageError.unknown_word(text("option"), option, SAVE_OPTIONS)
        if len(names) > 1:
            hint = text("In quotes: {usage}", usage=f'%memtrack save "{" ".join(names)}"')
            raise UsageError(text("'{word}' is one word too many.", word=names[1]), hint)
        if not words or "" in names:
            usage = "%memtrack save NAME | --baseline"
            raise UsageError(text("Something is missing: {usage}", usage=usage))
        recording = self._latest()
        if recording.running:
            self._end()
        run = self._saved(recording.data, names[0] if names else "", bool(options))
        self._say(_saved_sentence(run))

    def history(self, argument: str) -> HistoryRuns | Recording | None:
        """List the runs, open or change one, or switch the keeping of runs on and off."""
        words = [unquote(word) for word in split_words(argument)]
        quoted = argument[:1] in "'\"" and bool(argument)
        first = words[0] if words and not quoted else ""
        if first in ("on", "off") and len(words) == 1:
            keeping.turn(first == "on")
            self._say(_KEEPING if first == "on" else _NOT_KEEPING)
            return None
        if first == "open":
            (which,) = _exactly_one(first, words[1:])
            found = recording_of(which, folder_here(self._shell))
            return Recording(found.data, self._presentation())
        if first in ACTIONS:
            self._change(first, words[1:])
            return None
        deleted = first == "deleted"
        return runs_in(
            " ".join(words[deleted:]),
            deleted=deleted,
            folder=folder_here(self._shell),
            presentation=self._presentation(),
        )

    def diff(self, argument: str, names: Mapping[str, Any]) -> Diff | RankDiffs | Steps:
        """Compare two runs, by default the last with its baseline, or the steps of one.

        Two folders of ranks are compared rank by rank, unless one rank is named.
        """
        asked = parse_diff(argument)
        subjects = [self._subject(word, names) for word in asked.runs]
        if asked.steps:
            refuse_without_ranks(asked.rank, *subjects)
            return self._steps(subjects[0] if subjects else LAST, asked.rank)
        before, after = (*subjects, LAST)[:2] if subjects else (BASELINE, LAST)
        refuse_without_ranks(asked.rank, before, after)
        by_rank = compare_ranks(before, after, self._presentation()) if asked.rank is None else None
        if by_rank is not None:
            return by_rank
        there = self._side(after, asked.rank)
        folder = folder_here(self._shell)
        here = (
            self._side(before, asked.rank)
            if before != BASELINE
            else before_of(BASELINE, there, folder)
        )
        return diff_of(here, there, self._presentation())

    def names(self) -> list[str]:
        """Return what runs can be called after `diff` and `history pin`: names, `last`, `baseline`."""
        try:
            with opened(folder_here(self._shell)) as kept:
                found = [run.name for run in kept.runs(limit=1000) if run.name]
        except MemtrackError:
            found = []
        return [LAST, BASELINE, *(f'"{name}"' if " " in name else name for name in found)]

    def _saved(self, data: RecordingData, name: str, baseline: bool) -> Run:
        keeping.wait()
        origin = origin_of(self._shell)
        with History(history_folder(origin.folder)) as kept:
            known = kept.recorded_as(data.facts.identifier)
            run = kept.add(with_origin(data, origin)) if known is None else known
            if name:
                run = kept.name(run, name)
            return kept.make_baseline(run) if baseline else run

    def _subject(self, word: str, names: Mapping[str, Any]) -> Any:
        """Return the recording that a name of the notebook stands for, else the word itself."""
        first = word.partition(".")[0].partition("[")[0]
        if names_a_file(word) or word in (LAST, BASELINE) or first not in names:
            return word
        value = evaluate(word, names)
        return value if isinstance(value, Recording) or are_ranks(value) else word

    def _side(self, subject: Any, rank: int | None) -> Side:
        if subject == LAST:
            try:
                subject = self._latest()
            except MemtrackError:  # nothing was recorded in this notebook yet
                subject = LAST
        return side_of(subject, folder_here(self._shell), rank)

    def _steps(self, subject: Any, rank: int | None) -> Steps:
        if subject == LAST:
            subject = self._latest()
        recording = recording_of(subject, folder_here(self._shell), rank)
        return steps_of(recording.data, self._presentation().language)

    def _change(self, action: str, words: Sequence[str]) -> None:
        if action in _WITH_WORDS:
            _at_least(2 if action != "tag" else 1, action, words)
        elif action in _SEVERAL:
            _at_least(1, action, words)
        else:
            _exactly_one(action, words)
        with opened(folder_here(self._shell)) as kept:
            which = words if action in _SEVERAL else words[:1]
            runs = [kept.run(word, deleted=action == "restore") for word in which]
            for run in runs:
                self._say(_changed(kept, action, run, words[1:]))

    def _say(self, sentence: Text) -> None:
        say(self._shell, sentence, self._presentation().language)


@dataclass(frozen=True, slots=True)
class Compared:
    """What is to be compared: runs as they are written, of folders this rank, or the steps of one run."""

    runs: Sequence[str] = ()
    steps: bool = False
    rank: int | None = None


def parse_diff(argument: str) -> Compared:
    """Return what the words after `%memtrack diff` ask for; raise UsageError in one sentence.

    >>> parse_diff("before.ranks 'after ranks' --rank 1")
    Compared(runs=['before.ranks', 'after ranks'], steps=False, rank=1)
    """
    runs: list[str] = []
    steps, rank = False, None
    rest = iter(split_words(argument))
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--steps":
            steps = True
        elif name == "--rank":
            number = unquote(value if equals else next(rest, ""))
            if not (number.isascii() and number.isdigit()):
                raise UsageError(
                    text("--rank takes the number of a rank, not '{value}'.", value=number)
                )
            rank = int(number)
        elif word.startswith("-"):
            raise UsageError.unknown_word(text("option"), name, DIFF_OPTIONS)
        else:
            runs.append(unquote(word))
    most = 1 if steps else 2
    if len(runs) > most:
        raise UsageError(text("'{word}' is one word too many.", word=runs[most]))
    return Compared(runs, steps, rank)


def _exactly_one(action: str, words: Sequence[str]) -> Sequence[str]:
    _at_least(1, action, words)
    if len(words) > 1:
        raise UsageError(text("'{word}' is one word too many.", word=words[1]))
    return words


def _at_least(count: int, action: str, words: Sequence[str]) -> None:
    if len(words) < count:
        usage = f"%memtrack history {action} {ACTIONS[action]}"
        raise UsageError(text("Something is missing: {usage}", usage=usage))


def _changed(kept: History, action: str, run: Run, words: Sequence[str]) -> Text:
    """Change a run and say what it is now."""
    which = text("Run {run}", run=run.id)
    if action == "delete":
        kept.delete(run)
        undo = f"%memtrack history restore {run.id}"
        return text("Run {run} is deleted; {undo} brings it back.", run=run.id, undo=undo)
    if action == "restore":
        kept.restore(run)
        return text("{run} is back.", run=which)
    if action == "name":
        run = kept.name(run, " ".join(words))
        return text("{run} is called '{name}' now.", run=which, name=run.name)
    if action == "tag":
        run = kept.tag(run, words)
        return text("{run} has the tags: {tags}", run=which, tags=", ".join(run.tags) or "–")
    if action == "note":
        kept.note(run, " ".join(words))
        return text("{run} has its note.", run=which)
    if action == "baseline":
        kept.make_baseline(run)
        return text("{run} is the baseline of {label} now.", run=which, label=run.label)
    kept.pin(run, action == "pin")
    if action == "pin":
        return text("{run} is pinned: its whole recording stays.", run=which)
    return text("{run} is not pinned any more.", run=which)


def _saved_sentence(run: Run) -> Text:
    values = {"run": run.id, "peak": format_bytes(run.peak), "name": run.name, "label": run.label}
    if run.baseline and run.name:
        return text(
            "Run {run}, '{name}', {peak}: the baseline that %memtrack diff compares {label} with.",
            **values,
        )
    if run.baseline:
        return text(
            "Run {run}, {peak}: the baseline that %memtrack diff compares {label} with.", **values
        )
    return text("Run {run} is called '{name}' now: {peak}.", **values)


_KEEPING = text("Recordings that end become runs of the history.")
_NOT_KEEPING = text("Recordings are not kept from now on; %memtrack history on keeps them again.")
