"""What a text tells of one failure, and of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from memtrack.diagnosis.diagnosis import Process


class Severity(IntEnum):
    """How much a wording weighs when a text holds several: what ended the run comes first."""

    SYMPTOM = 0
    """Told in prose; there is no error line."""
    WARNING = 1
    """The run may have gone on after it."""
    FATAL = 2


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback, as the text prints it."""

    path: str
    line: int
    function: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One error as its words tell it.

    `kind` is the part before the dot in the contract (`cuda_oom`, `cpu_oom`, …); `wording` names the
    sentence that was recognised. `numbers` are bytes under the contract's names, only those the text
    has; figures of 2^64 bytes stand for "not known" and are in `sentinels` instead. `status` is a
    code or detail the library gave (`CUBLAS_STATUS_ALLOC_FAILED`, `xid 79`), `signs` are the ids of
    what else the text around it mentions, with its words. `line` counts from 1; `count` is how often it was found.
    """

    kind: str
    wording: str
    device_memory: bool
    severity: Severity = Severity.FATAL
    numbers: Mapping[str, int] = field(default_factory=dict)
    processes: Sequence[Process] = ()
    sentinels: Sequence[str] = ()
    device: int | None = None
    ratio: float | None = None
    """The share of the device that was asked for, where the text tells one (serving engines)."""
    status: str = ""
    exception: str = ""
    message: str = ""
    line: int = 1
    frames: Sequence[Frame] = ()
    signs: Mapping[str, str] = field(default_factory=dict)
    count: int = 1

    def retells(self, other: Failure) -> bool:
        """Tell whether this is the other failure with the same figures, and perhaps more."""
        return self.kind == other.kind and other.numbers.items() <= self.numbers.items()


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was found in a text.

    `failures` are in the order of the text, equal ones once; a very long text keeps the first ones
    and the last one, `left_out` counts the rest. `last_error` is the last line that looks like any
    error at all.
    """

    failures: Sequence[Failure] = ()
    last_error: str = ""
    lines: int = 0
    left_out: int = 0

    @property
    def first(self) -> Failure | None:
        """The failure that the others follow from: the first of those that weigh most.

        Where a text tells it twice, as in a title and in full, it is the fuller one.
        """
        first = max(self.failures, key=lambda one: (one.severity, -one.line), default=None)
        if first is None:
            return None
        told = [
            one for one in self.failures if one.retells(first) and one.severity >= first.severity
        ]
        fuller = max(told, key=lambda one: (len(one.numbers), -one.line), default=first)
        # A check that fails prints its line before the traceback of the error that it raises.
        frames = next((one.frames for one in (fuller, first, *told) if one.frames), ())
        return replace(fuller, frames=frames)
