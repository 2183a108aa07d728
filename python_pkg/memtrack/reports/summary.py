"""`torch.cuda.memory_summary` of any moment of a recording, or of two compared, for every door."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memtrack.analysis.moments import KEYWORDS, grouped
from memtrack.analysis.summary import devices_read, summaries
from memtrack.errors import MemtrackError, UnavailableError, UsageError
from memtrack.i18n import ENGLISH, text
from memtrack.recording import RecordingData
from memtrack.reports.devicesummary import DeviceSummary, device_summary
from memtrack.reports.summaryhtml import summary_html
from memtrack.reports.summarytext import render_summary

_MOST_MOMENTS = 2


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """The allocator's statistics at one moment, or at two; it shows itself as a table.

    `devices` has those of every GPU that was read: `devices[0].first.values` are the figures by
    the names of `torch.cuda.memory_stats`, `devices[0].differences` what changed between two.
    """

    devices: Sequence[DeviceSummary]
    language: str = ENGLISH

    @property
    def text(self) -> str:
        """A table of 75 columns for each device."""
        return "\n\n".join(render_summary(device, self.language) for device in self.devices)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the text to a file and return its path; OSError as the system gives it."""
        target = Path(path)
        target.write_text(self.text + "\n", encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return "".join(summary_html(device, self.language) for device in self.devices)


def summarise(data: RecordingData, words: Sequence[str], language: str = ENGLISH) -> Summary:
    """Return the summary at the one or two moments that `words` name; at none: the latest reading.

    A device that has no reading at such a moment is left out. Raises UsageError where none has,
    UnavailableError for a recording without readings.
    """
    devices = devices_read(data)
    if not devices:
        raise _nothing_read(data)
    moments = _moments_asked(data, words)
    found: list[DeviceSummary] = []
    problems: list[MemtrackError] = []
    for device in devices:
        try:
            found.append(device_summary(data, device, moments))
        except UsageError as problem:
            problems.append(problem)
    if not found:
        raise problems[0]
    return Summary(found, language)


def moment_names(data: RecordingData) -> list[str]:
    """Return the names of all moments that can be asked for, in order; empty where none were read."""
    devices = devices_read(data)
    names = [moment.name for device in devices for moment in summaries(data, device)]
    return list(dict.fromkeys([*names, *KEYWORDS])) if names else []


def _moments_asked(data: RecordingData, words: Sequence[object]) -> list[str]:
    """Return the names of moments that `words` are, two at most."""
    given = [word for word in words if isinstance(word, str)]
    if len(given) < len(words):
        wrong = next(word for word in words if not isinstance(word, str))
        raise UsageError(
            text("A moment is named by a text, not {given}.", given=repr(wrong)),
            text("For example: {usage}", usage="recording.summary('step 3')"),
        )
    known = {
        moment.base_name for device in devices_read(data) for moment in summaries(data, device)
    }
    moments = grouped(given, known.union(moment_names(data)))
    if len(moments) > _MOST_MOMENTS:
        listed = ", ".join(f"'{moment}'" for moment in moments)
        raise UsageError(
            text("One moment or two, not {count}: {words}.", count=len(moments), words=listed),
            text("A label with spaces needs quotes."),
        )
    return moments


def _nothing_read(data: RecordingData) -> UnavailableError:
    """Say why a recording has no statistics, and what to do."""
    if data.facts.evidence == "opened":
        return UnavailableError(
            text("A torch snapshot holds no statistics of the allocator."),
            text("Record the run with memtrack to have them at every step."),
        )
    if data.facts.evidence == "predicted":
        return UnavailableError(
            text("A prediction has no statistics of the allocator."),
            text("Record the run on a GPU to have them at every step."),
        )
    if all(data.string(int(kind)) == "cpu" for kind in data.devices["kind"]):
        return UnavailableError(
            text(
                "There are no allocator statistics: this run used the CPU only, which keeps none."
            ),
            text("Record it on a GPU."),
        )
    return UnavailableError(
        text("There are no allocator statistics in this recording."),
        text("Its allocator gave none, or an older memtrack made it: record the run again."),
    )
