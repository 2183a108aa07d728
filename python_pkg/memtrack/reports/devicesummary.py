"""What the allocator of one device said at one moment, or at two to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memtrack.analysis.moments import PEAK, Moment, find_moment
from memtrack.analysis.summary import offered, summaries, summary
from memtrack.i18n import Text, text
from memtrack.recording import RecordingData
from memtrack.recording.categories import ReadingKind
from memtrack.reports.words import PHASES, literal

_PHASES: Mapping[str, Text] = {**PHASES, "optimizer": text("optimizer")}


@dataclass(frozen=True, slots=True)
class Reading:
    """One moment: its `title` in words, and its statistics, zeros left out."""

    moment: Moment
    title: Text
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DeviceSummary:
    """The statistics of a device at `first`, compared with `second` where there is one.

    `offered` are the statistics its allocator keeps at all; None for all of them.
    """

    kind: str
    index: int
    name: str
    first: Reading
    second: Reading | None = None
    offered: frozenset[str] | None = field(default=None, repr=False)

    @property
    def latest(self) -> Mapping[str, int]:
        """The statistics of the last of its moments."""
        return (self.second or self.first).values

    @property
    def differences(self) -> Mapping[str, int]:
        """What has changed from the first moment to the second, by statistic; empty for one moment."""
        if self.second is None:
            return {}
        before, after = self.first.values, self.second.values
        changes = {
            name: after.get(name, 0) - before.get(name, 0) for name in sorted({*before, *after})
        }
        return {name: change for name, change in changes.items() if change}


def device_summary(data: RecordingData, device: int, moments: Sequence[str]) -> DeviceSummary:
    """Return a device's statistics at the one or two `moments` named; at none: the latest.

    Raises UsageError for a moment that is not there.
    """
    wanted: Sequence[str | Moment] = moments or [summaries(data, device)[-1]]
    readings = [_reading(data, device, one) for one in wanted]
    row = data.devices.row(device)
    return DeviceSummary(
        kind=data.string(row["kind"]),
        index=row["index"],
        name=data.string(row["name"]),
        first=readings[0],
        second=readings[1] if len(readings) > 1 else None,
        offered=offered(data, device),
    )


def _reading(data: RecordingData, device: int, wanted: str | Moment) -> Reading:
    moment = find_moment(data, device, wanted) if isinstance(wanted, str) else wanted
    title = moment_title(moment)
    if isinstance(wanted, str) and wanted.lower() == PEAK and moment.base_name != wanted:
        title = text("{moment}, the first reading since the peak", moment=title)
    return Reading(moment, title, summary(data, device, moment.row))


def moment_title(moment: Moment) -> Text:
    """Return a moment in words: `after forward of step 3`."""
    title = _title(moment)
    if moment.number:
        return text("{moment} (no. {number})", moment=title, number=moment.number)
    return title


def _title(moment: Moment) -> Text:
    step = moment.step + 1
    match moment.kind:
        case ReadingKind.START:
            return text("start of the recording")
        case ReadingKind.END:
            return text("end of the recording")
        case ReadingKind.STEP:
            return text("after step {step}", step=step)
        case ReadingKind.PHASE:
            phase = _PHASES.get(moment.phase) or literal(moment.phase)
            return text("after {phase} of step {step}", phase=phase, step=step)
        case _:
            return text("mark '{label}'", label=moment.label)
