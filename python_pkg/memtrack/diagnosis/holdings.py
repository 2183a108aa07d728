"""Who keeps device memory alive in this process, and what was given back: plain data, no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

UNKNOWN = -1

VARIABLE = "variable"
OUTPUT = "output"
EXCEPTION = "exception"
DEBUGGER = "debugger"
MODULE = "module"
FRAME = "frame"
OURS = "memtrack"
NOBODY = "nobody"
GRAPH = "graph"
"""Kinds of holders: `nobody` is what Python still knows and no name leads to, `graph` are autograd
graphs of several forwards behind one variable."""


LAST_ERROR = "sys.last_value"
"""The name that stands for all the slots of Python and IPython that keep the last error."""


@dataclass(frozen=True, slots=True)
class Chain:
    """How a name leads to memory, as code (`trainer.cache['h']`), and the bytes there."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Holding:
    """What one name keeps alive, each storage only under the name that is nearest to it.

    `also` are other names that lead to some of it, `variables` those of them that are the user's: it
    goes when all of them are gone. `in_graph` marks what is kept by the autograd graph behind a tensor rather than by Python.
    `bytes` are those of the storages, as they were asked for.
    """

    kind: str
    name: str
    bytes: int
    tensors: int
    chains: Sequence[Chain] = ()
    also: Sequence[str] = ()
    variables: Sequence[str] = ()
    in_graph: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """The allocator and the device at a moment; bytes, UNKNOWN where nothing is told."""

    allocated: int = UNKNOWN
    reserved: int = UNKNOWN
    free: int = UNKNOWN
    total: int = UNKNOWN

    @property
    def cached(self) -> int:
        """Return what the allocator keeps for later, UNKNOWN if not told."""
        if self.reserved < 0 or self.allocated < 0:
            return UNKNOWN
        return self.reserved - self.allocated


@dataclass(frozen=True, slots=True)
class Holdings:
    """All of a device's memory that tensors of this process hold, largest first.

    Where the allocator tells what it has given out, the holdings, `native` and `rounding` sum to
    `level.allocated`; `foreign` are bytes of tensors that this allocator did not give.
    """

    device: str
    level: Level
    holdings: Sequence[Holding] = ()
    native: int = UNKNOWN
    """Held by C++ alone: autograd nodes, CUDA graphs, NCCL, workspaces. UNKNOWN if not told."""
    rounding: int = UNKNOWN
    foreign: int = 0
    objects: int = 0
    """Python objects looked at."""
    cut_short: bool = False
    """The time was up: names may be missing, bytes are not."""

    @property
    def named(self) -> int:
        """Return the bytes of all holdings together."""
        return sum(one.bytes for one in self.holdings)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was released and the bytes that went with it: see `capture/release.py`."""

    id: str
    bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Release:
    """What was given back on a device. `traceback` is what the released exceptions looked like."""

    before: Level
    after: Holdings
    steps: Sequence[Step] = ()
    dropped: Sequence[str] = ()
    traceback: str = ""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def bytes(self) -> int:
        """Return the tensors' bytes that were released."""
        return sum(step.bytes for step in self.steps)
