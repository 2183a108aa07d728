"""What a process needs of the GPU beside its caching allocator, as an interval.

The CUDA context grows with the number of multiprocessors; kernels are loaded as they are first called
(lazy loading, CUDA 11.7 and later), libraries keep handles of their own. None of it is seen by the
allocator. Measured where we could (`bench/results/measured-models.json`: 75 training runs on an
H200, torch 2.11 with CUDA 13, took 632 to 762 MiB beside what was reserved, 526 MiB of them before
the first kernel), and read off public messages of `OutOfMemoryError`, which tell both the process
and what PyTorch reserved: 307 to 595 MiB on GPUs of 22 to 44 GiB, 1133 MiB on an A100 40GB.
"""

from __future__ import annotations

from memtrack.prediction.kernels.context import Gpu
from memtrack.units import MIB

_HOPPER = (9, 0)
_MEASURED = (625 * MIB, 775 * MIB)
_FEWEST, _MOST = 300 * MIB, 700 * MIB
_LARGE = 100
"""Multiprocessors from which a context is as large as those measured."""
UNMODELLED_SHARE = 0.03
"""Of what is reserved: how far the simulated layout of segments is off, in most runs."""
ASSUMED_SHARE = 0.02
"""Of what is reserved, once more, where sizes had to be assumed, as of a selection by a mask."""


def context_bytes(gpu: Gpu) -> tuple[int, int]:
    """Return the least and the most that context and libraries need on a GPU, bytes."""
    if gpu.capability == _HOPPER:
        return _MEASURED
    if gpu.multiprocessors >= _LARGE:
        return 400 * MIB, 1150 * MIB
    return _FEWEST, _MOST


def process_bytes(gpu: Gpu, reserved: int, uncertain: int, assumptions: int) -> tuple[int, int]:
    """Return the least and the most that the whole process takes on the device, bytes.

    `reserved` is what the simulated allocator reserved, `uncertain` what kernels that are not
    modelled may need more or less, `assumptions` how many sizes had to be assumed.
    """
    low, high = context_bytes(gpu)
    share = UNMODELLED_SHARE + (ASSUMED_SHARE if assumptions else 0.0)
    apart = int(reserved * share) + uncertain
    return max(reserved - apart, 0) + low, reserved + apart + high
