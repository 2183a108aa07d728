"""Answers of a report beside its peak: pools, growth, nested peaks, statistics, source lines.

All are optional in a payload: a recording without such history has none, and an older report, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtrack.i18n import Text
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class PoolReport:
    """One pool of the caching allocator on one stream at the peak; all figures but counts are bytes.

    `pool` is the id of a private pool such as `0.1`, "" for the default one; `small` tells the pool
    for blocks of up to 1 MiB. `free` is what is reserved and not allocated, `largest_free` its
    largest block, `splinters` what of it lies in blocks too small to be given out again soon.
    """

    pool: str
    small: bool
    stream: int
    reserved: int
    allocated: int
    free: int
    largest_free: int
    splinters: int
    segments: int


@dataclass(frozen=True, slots=True)
class GrowthFinding:
    """What is kept by each step that the step before gave back or did not have.

    `layer` is a row of the layers, -1 outside; `category` an id, `site` a source line, each "" where
    unknown. `step_bytes` a step, over `steps` steps, `bytes` in all.
    """

    sentence: Text
    step_bytes: int
    bytes: int
    steps: int
    layer: int = -1
    category: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True)
class NestedPeaks:
    """The most allocated within each phase of each step, a row each, in order.

    `columns` has `step`, `kind` (PhaseKind), `bytes`, `cut` and `layer` (row, -1 outside).
    """

    columns: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """The allocator's statistics at the moments they were read.

    `readings` has `cut`, `time_ns`, `kind` (ReadingKind), `step` and `phase` (PhaseKind), a value a
    moment, `label` the label of a mark. `values` is int64[moments, names], named as
    `torch.cuda.memory_stats` names them.
    """

    readings: Mapping[str, Array]
    label: Sequence[str]
    names: Sequence[str]
    values: Array


@dataclass(frozen=True, slots=True)
class LineReport:
    """What is alive at the peak by source line, largest first; "" is what has no line.

    `columns` has `bytes`, `allocations` and `category`, the one with the most bytes of the line.
    `omitted` further lines hold `omitted_bytes`.
    """

    site: Sequence[str]
    columns: Mapping[str, Array]
    omitted: int = 0
    omitted_bytes: int = 0


@dataclass(frozen=True, slots=True)
class LineGroups:
    """The bytes at each point of a timeline by source line, where categories are not known.

    `bytes` is a column for each of `names`, and one more for all other lines; they sum to what is
    allocated.
    """

    names: Sequence[str]
    bytes: Sequence[Array]
