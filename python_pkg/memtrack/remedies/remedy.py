"""What is said of a remedy: whether it applies, what it saves, what it costs. All sizes in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.i18n import Text

EVIDENCE = ("simulated", "predicted", "estimated", "unknown")
"""How a figure came about: the recording's events changed and run again; the program run again with
the change, without data; such a change where sizes had to be assumed; not at all."""


@dataclass(frozen=True, slots=True)
class Base:
    """The run as it is: the most bytes in use, and those that the simulated allocator reserves for it.

    `reserved` is None where no caching allocator serves the device. `context` is what the process
    takes besides, 0 where it is not known.
    """

    peak: int
    reserved: int | None
    context: int = 0

    @property
    def needed(self) -> int:
        """What the device must have for it."""
        return max(self.peak, self.reserved or 0) + self.context


@dataclass(frozen=True, slots=True)
class Remedy:
    """One remedy for one run.

    `saving_bytes` is the old peak less the new one; it is negative where a remedy needs more. `low`
    and `high` bound the new peak. Figures are None where the remedy does not apply or they cannot be
    known; `why` then says why not, or how to find out.
    """

    id: str
    title: Text
    applies: bool
    why: Text
    cost: Text
    cost_class: str
    harm: int
    saving_bytes: int | None = None
    peak: int | None = None
    low: int | None = None
    high: int | None = None
    reserved: int | None = None
    reserved_saving_bytes: int | None = None
    evidence: str = "unknown"
    caveats: Sequence[Text] = ()
    code: str = ""

    @property
    def gain(self) -> int:
        """What it is ranked by: the bytes in use that it saves; those reserved where it saves none of these."""
        saving = self.saving_bytes or 0
        return saving if saving > 0 else max(self.reserved_saving_bytes or 0, 0)


@dataclass(frozen=True, slots=True)
class Combination:
    """Several remedies at once, mildest first: their ids, the peak with all of them, what that saves.

    `fits` tells whether it is within the budget, with what the allocator and the context take.
    """

    ids: Sequence[str]
    titles: Sequence[Text]
    peak: int
    saving_bytes: int
    reserved: int | None
    fits: bool


@dataclass(frozen=True, slots=True)
class Advised:
    """The answer: the run as it is, every remedy ranked, and combinations from mild to harsh."""

    base: Base
    remedies: Sequence[Remedy]
    combinations: Sequence[Combination]
    budget: int | None = None

    @property
    def fits(self) -> bool:
        """Whether the run is within the budget as it is; True without one."""
        return self.budget is None or self.base.needed <= self.budget
