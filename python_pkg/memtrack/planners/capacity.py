"""The GPU a plan is to fit into: by the name in the table of GPUs, or by a size."""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.planners.gpus import GPUS, find_gpu, known_gpu
from memtrack.sizes import is_bare_number, parse_size
from memtrack.units import MIB

_DIGITS_OF_MODELS = 4
"""A number alone of so many is a model, as in 4090: nobody means as many bytes."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """A device: `name` is "" where only its size was given; `usable` bytes are for one process."""

    name: str
    usable: int


def capacity_of(words: str | int) -> Capacity:
    """Return the device that a name, a size such as `24GiB`, or a number of bytes stands for.

    A name of the table comes first: `4090` is a GPU, not as many bytes.

    >>> capacity_of("24 GB"), capacity_of("4090").name
    (Capacity(name='', usable=25769803776), 'NVIDIA GeForce RTX 4090')
    """
    if isinstance(words, int) and not isinstance(words, bool):
        return _sized(words, words)
    if not isinstance(words, str):
        raise UsageError(text("'{word}' is not a size.", word=repr(words)))
    found = known_gpu(words)
    if found is not None:
        return Capacity(found.name, found.usable)
    if _ends_a_model(words):
        find_gpu(words)  # It says which names are near.
    try:
        size = parse_size(words)
    except UsageError:
        if not is_bare_number(words):
            find_gpu(words)
        raise
    return _sized(size, words)


def known_capacities() -> list[Capacity]:
    """Return the GPUs of the table for a reader to choose from, those with the most memory first."""
    ordered = sorted(GPUS, key=lambda gpu: (-gpu.usable, gpu.name))
    return [Capacity(gpu.name, gpu.usable) for gpu in ordered]


def _ends_a_model(words: str) -> bool:
    return words.strip().isdigit() and len(words.strip()) == _DIGITS_OF_MODELS


def _sized(size: int, words: str | int) -> Capacity:
    if size <= 0:
        raise UsageError(text("'{word}' is not a size.", word=words))
    if size < MIB:
        hint = text("For gibibytes write {word}GiB.", word=words)
        raise UsageError(text("{word} bytes are no GPU's memory.", word=size), hint)
    return Capacity("", size)
