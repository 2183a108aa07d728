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
    for blocks of up to 1 MiB. `reserved` is `allocated`, `pending` (freed, but a stream is not done
    with it) and `free`, whose largest block is `largest_free`; of it `splinters` share a segment with
    blocks in use, so that `empty_cache` cannot give them back.
    """

    pool: str
    small: bool
    stream: int
    reserved: int
    allocated: int
    pending: int
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
class PeaksReport:
    """The most allocated within each phase of each step, and from each mark to the next.

    `phases` has `step`, `kind` (PhaseKind), `bytes`, `cut` and `layer`, the one that holds most then
    (row, -1 for none): a row for each step and kind, in order. `marks` has `bytes`, `cut` and `layer`
    of what follows the mark of `label`; "" is what lies before the first.
    """

    phases: Mapping[str, Array]
    label: Sequence[str]
    marks: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """The allocator's statistics at the moments they were read.

    `readings` has `cut`, `time_ns`, `kind` (ReadingKind), `step`, `phase` (PhaseKind) and `number`
    (from 1 among moments of one name, 0 for the only one), `label` the label of a mark. `values` is int64[moments, names], named as
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
class MemoryMap:
    """The allocator's segments at the peak and the blocks in them; what no block covers is free.

    `segments` has `bytes`, `pool` (row of the view's pools) and `expandable`, in the order they are
    drawn. `blocks` has `segment`, `offset` and `bytes`, in order, with `category`, `layer` (row, -1),
    `site` (index into `sites`, -1) and `pending` (freed, but a stream is not done with it).
    `omitted` further segments have `omitted_bytes`.
    """

    segments: Mapping[str, Array]
    blocks: Mapping[str, Array]
    sites: Sequence[str]
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
