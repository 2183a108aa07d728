"""What is known of the process and the device at the failure, as plain numbers. Bytes; None: unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memtrack.diagnosis.diagnosis import Place


@dataclass(frozen=True, slots=True)
class ProcessFact:
    """Another process on the device: `bytes` -1 where the driver does not tell.

    `command` is what it runs as, "" where unknown; `leftover` that nothing seems to use it any more.
    """

    pid: int
    bytes: int
    command: str = ""
    leftover: bool = False


@dataclass(frozen=True, slots=True)
class HeldFact:
    """Memory that a reference keeps alive: `kind` is one of those in `diagnosis.holdings`.

    `name` is how its holder is called, such as `sys.last_value` or `Out[12]`. `bytes` is 0 where they
    could not be counted; `passes` are the forwards whose graphs a `graph` keeps, at least.
    """

    name: str
    kind: str
    bytes: int
    passes: int = 0


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """What a live process, or the text of the error, adds to a recording.

    `limit` is what `set_per_process_memory_fraction` allows this process, `segment` what the
    allocator asked the device for, `process` what the driver says this process holds. `processes`
    are the others. `place` is what ran. `cut` is the moment of the failure in the recording where
    its own events do not tell.
    """

    total: int | None = None
    free: int | None = None
    limit: int | None = None
    requested: int | None = None
    segment: int | None = None
    reserved: int | None = None
    allocated: int | None = None
    process: int | None = None
    processes: Sequence[ProcessFact] = ()
    stats: Mapping[str, int] = field(default_factory=dict)
    held: Sequence[HeldFact] = ()
    place: Place = field(default_factory=Place)
    cut: int | None = None

    @property
    def others(self) -> int | None:
        """Bytes of other processes, None where the driver does not tell of any."""
        known = [one.bytes for one in self.processes if one.bytes > 0]
        return sum(known) if known else (0 if self.process is not None else None)


NOTHING = LiveFacts()
