"""Common GPUs by name: how many bytes CUDA says they have, and what kernels choose by.

Dated 2026-11. `usable` is the total that the CUDA driver tells a process, which lies below the size on
the box (ECC and the driver keep some): as printed in PyTorch's own messages, *GPU 0 has a total
capacity of 79.25 GiB*. It differs by some MiB between drivers and boards. Capabilities and counts of
multiprocessors are those of NVIDIA's *CUDA GPUs* page and architecture white papers.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.units import GIB


@dataclass(frozen=True, slots=True)
class KnownGpu:
    """A GPU of the table; sizes in bytes."""

    name: str
    total: int
    capability: tuple[int, int]
    multiprocessors: int

    @property
    def usable(self) -> int:
        """What a process alone on it may use, its CUDA context included."""
        return self.total


def _gpu(name: str, total_gib: float, capability: tuple[int, int], count: int) -> KnownGpu:
    return KnownGpu(name, round(total_gib * GIB), capability, count)


GPUS = (
    _gpu("NVIDIA B200", 178.35, (10, 0), 148),
    _gpu("NVIDIA H200", 139.80, (9, 0), 132),
    _gpu("NVIDIA H100 80GB", 79.11, (9, 0), 132),
    _gpu("NVIDIA A100 80GB", 79.25, (8, 0), 108),
    _gpu("NVIDIA A100 40GB", 39.39, (8, 0), 108),
    _gpu("NVIDIA RTX A6000", 47.53, (8, 6), 84),
    _gpu("NVIDIA L40S", 44.39, (8, 9), 142),
    _gpu("NVIDIA A10G", 22.06, (8, 6), 80),
    _gpu("NVIDIA L4", 22.05, (8, 9), 58),
    _gpu("NVIDIA V100 32GB", 31.73, (7, 0), 80),
    _gpu("NVIDIA V100 16GB", 15.77, (7, 0), 80),
    _gpu("NVIDIA T4", 14.57, (7, 5), 40),
    _gpu("NVIDIA P100 16GB", 15.89, (6, 0), 56),
    _gpu("NVIDIA GeForce RTX 5090", 31.36, (12, 0), 170),
    _gpu("NVIDIA GeForce RTX 4090", 23.65, (8, 9), 128),
    _gpu("NVIDIA GeForce RTX 4080", 15.70, (8, 9), 76),
    _gpu("NVIDIA GeForce RTX 3090", 23.69, (8, 6), 82),
    _gpu("NVIDIA GeForce RTX 3080 10GB", 9.78, (8, 6), 68),
    _gpu("NVIDIA GeForce RTX 3060 12GB", 11.76, (8, 6), 28),
    _gpu("NVIDIA GeForce RTX 2080 Ti", 10.75, (7, 5), 68),
)


def find_gpu(name: str) -> KnownGpu:
    """Return the GPU of this name; case, `NVIDIA` and dashes do not matter. UsageError names the closest.

    >>> find_gpu("a100-80gb").name, find_gpu("RTX 4090").name
    ('NVIDIA A100 80GB', 'NVIDIA GeForce RTX 4090')
    """
    wanted = _words(name)
    joined = "".join(name.lower().split())
    by_words = [gpu for gpu in GPUS if wanted and wanted <= _words(gpu.name)]
    by_letters = [
        gpu for gpu in GPUS if len(joined) > 2 and joined in "".join(gpu.name.lower().split())
    ]
    if by_words or by_letters:
        return (by_words or by_letters)[0]
    names = [gpu.name.removeprefix("NVIDIA ").removeprefix("GeForce ") for gpu in GPUS]
    close = difflib.get_close_matches(name.upper(), [one.upper() for one in names], 1, 0.4)
    hint = text(
        "Did you mean '{word}'? A size such as 24GiB will do too.", word=(close or names)[0]
    )
    raise UsageError(text("There is no GPU '{name}' in the table.", name=name), hint)


def _words(name: str) -> frozenset[str]:
    """Return the words of a name, numbers apart from what is joined to them by a space only."""
    plain = re.sub(r"[-_/]|(?i:nvidia|geforce|tesla|sxm\d?|pcie)", " ", name.lower())
    return frozenset(re.sub(r"(\d+)\s*g(?:i?b)?\b", r"\1gb", plain).split())
