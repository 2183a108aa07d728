"""What a prediction says besides its recording: totals with an interval, a verdict, what was assumed.

Kept in the recording's facts as plain JSON, so that a saved prediction reopens as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memtrack.i18n import Text
from memtrack.recording import RecordingData

KEY = "prediction"
FITS, TOO_LARGE, CLOSE, UNASKED = "fits", "too_large", "close", ""


@dataclass(frozen=True, slots=True)
class Assumed:
    """One thing taken for granted: what asked, where, and what was said, in every language."""

    operation: str
    site: str
    english: str
    chinese: str

    def said(self, language: str) -> str:
        """Return what was assumed, in a language."""
        return self.chinese if language.startswith("zh") else self.english


@dataclass(frozen=True, slots=True)
class Shortage:
    """Where the simulated allocator would have run out: sizes in bytes, the step from 1."""

    phase: str
    layer: str
    step: int
    requested: int
    event: int


@dataclass(frozen=True, slots=True)
class Predicted:
    """Bytes: `process` and `context` are intervals (low, high), `capacity` is -1 where none was asked.

    `verdict` is `fits`, `too_large`, `close` or "" (nothing to fit into). `limiting` is the phase,
    layer and step (from 1) of the peak.
    """

    gpu: str
    capacity: int
    verdict: str
    peak_allocated: int
    peak_reserved: int
    process: tuple[int, int]
    context: tuple[int, int]
    uncertain: int
    assumptions: Sequence[Assumed]
    shortage: Shortage | None
    calls: int
    """How many steps were run."""
    named: bool = True
    """Whether the GPU was named, rather than its size given, or nothing."""
    kernels: str = ""
    """The GPU whose kernels were assumed; that of `gpu` where they are modelled."""
    unmodelled: Sequence[str] = ()
    """Operations whose kernels are not modelled, the most uncertain first."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON, as kept in the recording's facts."""
        return asdict(self)


def predicted_of(data: RecordingData) -> Predicted | None:
    """Return what a prediction says, None for a recording of another kind or a damaged one."""
    told = data.facts.extra.get(KEY)
    if data.facts.evidence != "predicted" or not isinstance(told, Mapping):
        return None
    try:
        shortage = told["shortage"]
        return Predicted(
            gpu=str(told["gpu"]),
            capacity=int(told["capacity"]),
            verdict=str(told["verdict"]),
            peak_allocated=int(told["peak_allocated"]),
            peak_reserved=int(told["peak_reserved"]),
            process=_pair(told["process"]),
            context=_pair(told["context"]),
            uncertain=int(told["uncertain"]),
            assumptions=[Assumed(**one) for one in told["assumptions"]],
            shortage=None if shortage is None else Shortage(**shortage),
            calls=int(told["calls"]),
            named=bool(told.get("named", True)),
            kernels=str(told.get("kernels", told["gpu"])),
            unmodelled=[str(name) for name in told.get("unmodelled", ())],
        )
    except (KeyError, TypeError, ValueError):
        return None


def assumed(operation: str, site: str, said: str | Text) -> Assumed:
    """Return an assumption with its sentence in every language."""
    if isinstance(said, Text):
        return Assumed(operation, site, said.render("en"), said.render("zh_CN"))
    return Assumed(operation, site, said, said)


def _pair(value: Any) -> tuple[int, int]:
    low, high = value
    return int(low), int(high)
