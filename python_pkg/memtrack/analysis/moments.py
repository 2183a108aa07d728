"""The moments at which statistics were read, as a person names them: `step 3 forward`, `start`.

Steps are numbered from 1 here, as every report shows them; in the columns they count from 0.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memtrack.analysis.peak import peak
from memtrack.errors import UsageError
from memtrack.i18n import Text, text
from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.categories import ReadingKind
from memtrack.recording.tables import Array

START, END, LAST, PEAK = "start", "end", "last", "peak"
KEYWORDS = (START, END, LAST, PEAK)
"""Names of moments that need no number; any other is a step or a mark."""
_STEP = re.compile(r"step (\d+)( (?:forward|backward|optimizer|other))?( \d+)?", re.IGNORECASE)
_MOST_LISTED = 12
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading (a row of `readings`) and where in the run it was.

    `step` counts from 0 and `phase` is the id of a PhaseKind: those that have just ended where
    `kind` is STEP or PHASE, else those under way. `number` counts, from 1, the moments that would
    have the same name; 0 where the name is the only one. `label` is a mark's.
    """

    row: int
    kind: ReadingKind
    cut: int
    time_ns: int
    step: int
    phase: str
    label: str = ""
    number: int = 0

    @property
    def base_name(self) -> str:
        """The name without its number."""
        if self.kind is ReadingKind.MARK:
            return " ".join(self.label.split())
        if self.kind in (ReadingKind.START, ReadingKind.END):
            return self.kind.name.lower()
        step = f"step {self.step + 1}"
        return step if self.kind is ReadingKind.STEP else f"{step} {self.phase}"

    @property
    def name(self) -> str:
        """What finds this moment: `start`, `step 3`, `step 3 forward`, a label; `eval 2`."""
        return f"{self.base_name} {self.number}" if self.number else self.base_name


def moments_of(data: RecordingData, device: int) -> list[Moment]:
    """Return the moments at which a device was read, in order."""
    rows = np.flatnonzero(data.readings["device"] == device)
    columns = data.readings
    kind, time_ns = columns["kind"][rows], columns["time_ns"][rows]
    phases = _phases_behind(data, kind, time_ns)
    found = [
        Moment(
            row=int(row),
            kind=ReadingKind(columns["kind"][row]),
            cut=int(columns["cut"][row]),
            time_ns=int(columns["time_ns"][row]),
            step=int(data.phases["step"][phase]) if phase >= 0 else 0,
            phase=PhaseKind(data.phases["kind"][phase] if phase >= 0 else PhaseKind.OTHER).id,
            label=data.string(int(columns["label"][row])),
        )
        for row, phase in zip(rows, phases.tolist(), strict=True)
    ]
    return _numbered(found)


def _phases_behind(data: RecordingData, kind: Array, time_ns: Array) -> Array:
    """Return for each reading the row of the phase it belongs to; -1 without phases.

    The reading of a phase or step is taken as it ends, a few µs before its end is written down or
    after: of all ends, the nearest is its own.
    """
    phases = data.phases
    if not len(phases):
        return np.full(len(time_ns), -1)
    under_way = np.searchsorted(phases["start_ns"], time_ns, side="right") - 1
    behind = np.maximum(under_way, 0)
    named = np.flatnonzero(phases["kind"] != PhaseKind.OTHER)
    steps = phases["step"]
    last_of_step = np.flatnonzero(np.append(steps[1:] != steps[:-1], True))
    for reading_kind, candidates in ((ReadingKind.PHASE, named), (ReadingKind.STEP, last_of_step)):
        rows = kind == reading_kind
        if len(candidates):
            ends = phases["end_ns"][candidates]
            behind[rows] = candidates[_nearest(ends, time_ns[rows])]
    return behind


def _nearest(ends: Array, times: Array) -> Array:
    """Return for each time the place of the nearest of the sorted `ends`."""
    after = np.clip(np.searchsorted(ends, times), 0, len(ends) - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(times - ends[before]) <= np.abs(ends[after] - times)
    return np.where(is_before, before, after)


def _numbered(moments: Sequence[Moment]) -> list[Moment]:
    """Number the moments whose names would be the same."""
    names = Counter(moment.base_name for moment in moments)
    seen: Counter[str] = Counter()
    numbered = []
    for moment in moments:
        name = moment.base_name
        seen[name] += 1
        numbered.append(replace(moment, number=seen[name]) if names[name] > 1 else moment)
    return numbered


def find_moment(data: RecordingData, device: int, words: str) -> Moment:
    """Return the moment that `words` name: a label, `step 3`, `step 3 forward`, one of KEYWORDS.

    `last` is the latest reading, and so is `end` while the run goes on; `peak` the first reading
    after the peak. Raises UsageError, with the closest name and those there are, for any other.
    """
    moments = moments_of(data, device)
    wanted = " ".join(words.split())
    found = _named(moments, wanted) or _named(moments, wanted.lower())
    if found is None and wanted.lower() in (END, LAST) and moments:
        return moments[-1]
    if found is None and wanted.lower() == PEAK:
        found = _after_peak(data, device, moments)
    if found is None:
        found = _end_of_step(data, moments, wanted)
    if found is None:
        raise _unknown(wanted, moments)
    return found


def _named(moments: Sequence[Moment], name: str) -> Moment | None:
    same = [moment for moment in moments if moment.base_name == name]
    if len(same) > 1:
        names = [moment.name for moment in same]
        hint = text("Which one? {words}.", words=_listed(names))
        sentence = text("'{name}' names {count} moments.", name=_spoken(name), count=len(same))
        raise UsageError(sentence, hint)
    return next((moment for moment in moments if moment.name == name), None)


def _after_peak(data: RecordingData, device: int, moments: Sequence[Moment]) -> Moment | None:
    cut = peak(data, device).cut
    found = next((moment for moment in moments if moment.cut >= cut), None)
    if found is None and moments:
        raise UsageError(text("Nothing was read after the peak."), _there_is(moments))
    return found


def _end_of_step(data: RecordingData, moments: Sequence[Moment], wanted: str) -> Moment | None:
    """Return what stands for a step without a reading of its own.

    The last step lasts until the recording ends; of any other it is the last reading there is.
    """
    match = _STEP.fullmatch(wanted)
    if match is None or match[2] or match[3]:
        return None
    step = int(match[1]) - 1
    if step == data.steps - 1 and moments and moments[-1].kind is ReadingKind.END:
        return moments[-1]
    of_step = [one for one in moments if one.kind is ReadingKind.PHASE and one.step == step]
    return of_step[-1] if of_step else None


def _unknown(wanted: str, moments: Sequence[Moment]) -> UsageError:
    sentence = text("There is no {kind} '{word}'.", kind=text("moment"), word=_spoken(wanted))
    close = _closest(wanted, moments)
    there_is = _there_is(moments)
    if not close:
        return UsageError(sentence, there_is)
    hint = text("Did you mean '{word}'? {known}", word=_spoken(close), known=there_is)
    return UsageError(sentence, hint)


def _closest(wanted: str, moments: Sequence[Moment]) -> str:
    """Return the name nearest to `wanted`: of a step by its number, for a long run keeps only some."""
    match = _STEP.fullmatch(wanted)
    ends = [moment for moment in moments if moment.kind in (ReadingKind.STEP, ReadingKind.PHASE)]
    if match is not None and ends:
        step, phase = int(match[1]) - 1, (match[2] or "").strip().lower()
        alike = [one for one in ends if one.phase == phase and one.kind is ReadingKind.PHASE]
        nearest = min(alike or ends, key=lambda one: abs(one.step - step))
        return nearest.name if alike else f"step {nearest.step + 1}"
    names = [moment.name for moment in moments]
    close = difflib.get_close_matches(wanted, [*names, *KEYWORDS], n=1, cutoff=0.5)
    return close[0] if close else ""


def _there_is(moments: Sequence[Moment]) -> Text:
    return text("There are: {words}.", words=_listed([moment.name for moment in moments]))


def _listed(names: Sequence[str]) -> str:
    """Return the names in a row; of many the first and the last."""
    short = [_spoken(name) for name in names]
    if len(short) <= _MOST_LISTED:
        return ", ".join(short)
    half = _MOST_LISTED // 2
    return f"{', '.join(short[:half])}, …, {', '.join(short[-half:])}"


def _spoken(name: str) -> str:
    """Return a name as it fits a sentence: labels are the user's, as long and odd as they like."""
    spelled = "".join(one if one.isprintable() else "\ufffd" for one in name)
    return spelled if len(spelled) <= _LONGEST_NAME else spelled[: _LONGEST_NAME - 1] + "…"


def grouped(words: Iterable[str], known: Collection[str]) -> list[str]:
    """Put words together to names of moments: `step 3 forward end` is two of them.

    `known` are names of moments. A word with spaces in it, as quotes make it, is a name by itself.
    """
    rest, names = list(words), []
    while rest:
        lengths = range(len(rest), 0, -1)
        length = next(n for n in lengths if n == 1 or _is_name(" ".join(rest[:n]), known))
        names.append(" ".join(rest[:length]))
        del rest[:length]
    return names


def _is_name(words: str, known: Collection[str]) -> bool:
    return words in known or _STEP.fullmatch(words) is not None
