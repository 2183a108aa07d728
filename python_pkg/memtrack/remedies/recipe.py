"""What one remedy is made of: when it applies, how it changes a scene, what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import wraps

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import Text
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import without_training


class Bound(Enum):
    """Which of the possible outcomes is wanted where a recording leaves several open."""

    LEAST = "least"
    """The fewest bytes that may be needed."""
    LIKELY = "likely"
    MOST = "most"


class Cost(Enum):
    """How much time a remedy takes, as a class."""

    NONE = "none"
    """None, or it is faster."""
    LOW = "low"
    """Below a tenth."""
    MEDIUM = "medium"
    """A tenth to a half."""
    HIGH = "high"
    """More."""


Change = Callable[[Scene, Bound], Scene]
Refusal = Callable[[Scene], Text | None]


def of_training(refuse: Refusal) -> Refusal:
    """Make `refuse` that of a remedy for training: where nothing is trained, that is the reason."""

    @wraps(refuse)
    def refuse_in_training(scene: Scene) -> Text | None:
        return without_training(scene.ground) or refuse(scene)

    return refuse_in_training


@dataclass(frozen=True, slots=True)
class Recipe:
    """One remedy.

    `refuse` tells why it does not apply to a scene (None: it does); `change` gives the scene with it.
    `harm` orders remedies from what changes nothing to what costs most, as the guide does. Of one
    `group` only one can be taken. Where `combines` is not set it needs what the reader may not have,
    such as more GPUs: it is put into no combination, and stands alone where none of them fits.
    `reserves` tells that it changes what the allocator holds, not what is in use. `unknown` says how to find out what cannot be simulated.
    """

    entry: Entry
    cost_class: Cost
    harm: int
    refuse: Refusal
    change: Change
    group: str = ""
    combines: bool = True
    reserves: bool = False
    unknown: Text | None = None
    measured: Text | None = None
    """What it cost in time where it was measured."""
    doubt: Refusal | None = None
    """What the recording of a scene cannot tell, if anything: a simulated figure is an estimate then."""

    @property
    def id(self) -> str:
        """The id in the catalogue of advice."""
        return self.entry.id
