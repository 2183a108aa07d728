"""One failure of a run as plain data, gathered while the process that failed still stands.

A diagnosis can be made of it at once, and again when a recording of the run is at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from memtrack.diagnosis.combined import combine
from memtrack.diagnosis.diagnosis import Diagnosis, Place
from memtrack.diagnosis.evidence import LiveFacts, explain_facts, explain_recording
from memtrack.diagnosis.explain import explain_text
from memtrack.diagnosis.raised import text_of
from memtrack.recording import RecordingData

_DEVICE = re.compile(r"\b(?:GPU|device) (\d+)\b")


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of one failure on CUDA device `device`, -1 where it is of none.

    `told` is what its text says. `recording` is the identifier of the recording that was being made,
    "" for none. `state` is the allocator as it was, where it could be had.
    """

    told: Diagnosis
    place: Place
    device: int = -1
    facts: LiveFacts | None = None
    recording: str = ""
    state: RecordingData | None = None

    def diagnosis(self, data: RecordingData | None = None) -> Diagnosis:
        """Return the explanation, with the evidence of a recording of the run where there is one."""
        found = self.told
        row = -1 if data is None else row_of(data, self.device)
        known = self.state if row < 0 else data
        if known is not None and self.facts is not None:
            row = row_of(known, self.device)
            found = combine(found, explain_recording(found, known, row, self.facts))
        elif self.facts is not None:
            found = combine(found, explain_facts(found, self.facts))
        return replace(found, place=merged(found.place, self.place))


def case_of_words(error: BaseException, names: Callable[[str], str] | None = None) -> Case:
    """Return the case of an exception by its words alone, as in a process without torch."""
    return Case(explain_text(text_of(error, names)), Place())


def device_in(message: str) -> int | None:
    """Return the ordinal of the device that a message names, None for none."""
    found = _DEVICE.search(message)
    return int(found[1]) if found else None


def row_of(data: RecordingData, device: int) -> int:
    """Return the row of a CUDA device in a recording, -1 where it is not there."""
    for row in range(len(data.devices)):
        is_cuda = data.string(int(data.devices["kind"][row])) == "cuda"
        if is_cuda and int(data.devices["index"][row]) == device:
            return row
    return -1


def merged(first: Place, second: Place) -> Place:
    """Return one place, each of its parts from the first that knows it."""
    return Place(
        first.phase or second.phase,
        first.layer or second.layer,
        first.step or second.step,
        first.site or second.site,
    )
