"""What went wrong, on what evidence, and what to do: the answer that every door shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtrack.i18n import Text

SCHEMA = "memtrack.diagnosis/1"
SURE = 0.6
"""From this confidence on a cause is told as the reason; below it, as a possibility."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason why memory ran out: its id, how sure we are (0 to 1), and lines a reader can check."""

    id: str
    confidence: float
    title: Text
    evidence: Sequence[Text] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """What to look at next, and the code or command that shows it ("" where there is none)."""

    id: str
    text: Text
    code: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that helps: what it saves (bytes, None where no figure is known) and what it costs."""

    id: str
    title: Text
    cost: Text
    code: str = ""
    caveats: Sequence[Text] = ()
    saving_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """Another process on the device; `bytes` -1 where the driver does not tell."""

    pid: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Needed:
    """What the failed request was and what there was for it; bytes, None where it is not known."""

    requested: int | None = None
    """The tensor's own size, not the segment that the allocator asked the driver for."""
    segment: int | None = None
    largest_free: int | None = None
    """The largest free block that could have served the request."""
    cached: int | None = None
    """Free inside the allocator, all blocks together."""
    device_free: int | None = None
    others: int | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """Who held memory at the failure: a layer, a category or a line of source."""

    name: Text
    bytes: int
    allocations: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where it happened: phase id, path of the layer ("" outside), step counted from 1 (0: unknown)."""

    phase: str = ""
    layer: str = ""
    step: int = 0
    site: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The explanation of one failure.

    `kind` is the part before the dot of a kind in the contract (`cuda_oom`, `hip_oom`, `cpu_oom`, …;
    `none` where no error of memory was found). `numbers` are in bytes, only those that are known.
    `other_processes` are as the message lists them; in a container this process may be among them, under
    `own_pid`. `parts` are those of a ledger at the failure: they sum to the device. `later` are headlines of
    errors that followed from this one. `settled` are ids of checks whose answer is in the evidence,
    and of advice that it shows to be of no use.
    """

    kind: str
    device_memory: bool
    headline: Text
    numbers: Mapping[str, int] = field(default_factory=dict)
    other_processes: Sequence[Process] = ()
    own_pid: int | None = None
    causes: Sequence[Cause] = ()
    contradictions: Sequence[Text] = ()
    checks: Sequence[Check] = ()
    advice: Sequence[Advice] = ()
    needed: Needed = field(default_factory=Needed)
    place: Place = field(default_factory=Place)
    holders: Sequence[Holder] = ()
    parts: Sequence[Any] = ()
    message: str = ""
    later: Sequence[Text] = ()
    settled: frozenset[str] = frozenset()

    @property
    def others(self) -> Sequence[Process]:
        """The other processes without one that must be this process."""
        return tuple(one for one in self.other_processes if one.pid != self.own_pid)

    def to_json(self, language: str = "en") -> dict[str, Any]:
        """Return the object that `memtrack explain --json` prints; figures are integers in bytes."""
        numbers: dict[str, Any] = dict(self.numbers)
        if self.other_processes:
            numbers["other_processes"] = [
                {"pid": one.pid, "bytes": one.bytes} for one in self.other_processes
            ]
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "device_memory": self.device_memory,
            "numbers": numbers,
            "causes": [
                {
                    "id": cause.id,
                    "confidence": round(cause.confidence, 2),
                    "evidence": [line.render(language) for line in cause.evidence],
                }
                for cause in self.causes
            ],
            "checks": [check.text.render(language) for check in self.checks],
            "remedies": [
                {
                    "id": advice.id,
                    "title": advice.title.render(language),
                    "saving_bytes": advice.saving_bytes,
                    "cost": advice.cost.render(language),
                    "code": advice.code,
                    "caveats": [line.render(language) for line in advice.caveats],
                }
                for advice in self.advice
            ],
        }
