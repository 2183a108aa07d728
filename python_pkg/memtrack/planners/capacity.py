"""The GPU a plan is to fit into: by the name in the table of GPUs, or by a size."""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.planners.gpus import GPUS, find_gpu
from memtrack.remedies.budget import parse_budget


@dataclass(frozen=True, slots=True)
class Capacity:
    """A device: `name` is "" where only its size was given; `usable` bytes are for one process."""

    name: str
    usable: int


def capacity_of(words: str | int) -> Capacity:
    """Return the device that a name, a size such as `24GiB`, or a number of bytes stands for."""
    if isinstance(words, int):
        if words <= 0:
            raise UsageError(text("'{word}' is not a size.", word=words))
        return Capacity("", words)
    try:
        return Capacity("", parse_budget(words))
    except UsageError:
        found = find_gpu(words)
        return Capacity(found.name, found.usable)


def known_capacities() -> list[Capacity]:
    """Return the GPUs of the table, for a reader to choose from."""
    return [Capacity(gpu.name, gpu.usable) for gpu in GPUS]
