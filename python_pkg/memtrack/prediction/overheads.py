"""What a process needs of the GPU beside its caching allocator, as an interval; how sure a prediction is.

The CUDA context grows with the number of multiprocessors; kernels are loaded as they are first called
(lazy loading, CUDA 11.7 and later), libraries keep handles of their own. None of it is seen by the
allocator. Measured where we could (`bench/results/measured-models.json`: 75 training runs on an H200,
torch 2.11 with CUDA 13): 632 MiB beside what was reserved, 742 MiB with cuBLAS, up to 762 MiB with cuDNN
too. Else read off public messages of `OutOfMemoryError`, which tell both the process and what PyTorch
reserved: 307 to 595 MiB on GPUs of 22 to 44 GiB, 1133 MiB on an A100 40GB.

What is reserved is off for three reasons, with the bench's figures (`bench/results/predict.json`): the
layout of segments hangs on the order of allocations inside of operations; sizes may be assumed; and
cuDNN chooses algorithms by heuristics of its own, whose workspaces shape the segments of many layers.
"""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.prediction.target import Target
from memtrack.units import MIB

_HOPPER = (9, 0)
_MEASURED = (610 * MIB, 650 * MIB)
_WITH_PRODUCTS = (105 * MIB, 135 * MIB)
_FEWEST, _MOST, _MOST_OF_ALL = 300 * MIB, 700 * MIB, 1150 * MIB
_LARGE = 100
"""Multiprocessors from which a context is as large as those measured."""
LAYOUT_SHARE = 0.025
"""Of what is reserved: how far the simulated layout of segments is off, in most runs."""
ASSUMED_SHARE = 0.02
"""Of what is reserved, once more, where sizes had to be assumed, as of a selection by a mask."""
CHOSEN_SHARE = 0.05
"""Of what is reserved, once more, where kernels of many layers are chosen by a library's heuristics."""
FOREIGN_SHARE = 0.05
"""Of what is reserved, once more, for a GPU of another maker: a guess, nothing was measured on one."""
_MANY = 0.03
"""Of what is reserved: doubts of all layers together from which they are many."""


@dataclass(frozen=True, slots=True)
class Doubts:
    """Why a prediction may be off; bytes.

    `largest` is by how much one operation may differ whose kernel is not modelled, `together` the sum
    over the layers that have one; `sizes` tells whether sizes had to be assumed, `foreign` whether
    the GPU's kernels are none that are modelled.
    """

    largest: int = 0
    together: int = 0
    sizes: bool = False
    foreign: bool = False

    def apart(self, reserved: int) -> int:
        """Return by how much `reserved`, what the simulated allocator holds, may be off."""
        if reserved <= 0:
            return self.largest
        chosen = CHOSEN_SHARE * min(self.together / (_MANY * reserved), 1.0)
        assumed = ASSUMED_SHARE if self.sizes else 0.0
        foreign = FOREIGN_SHARE if self.foreign else 0.0
        return int(reserved * (LAYOUT_SHARE + chosen + assumed + foreign)) + self.largest


def context_bytes(gpu: Target, products: bool = True) -> tuple[int, int]:
    """Return the least and the most that context and libraries need on a GPU, bytes.

    `products` tells whether the program multiplies matrices, which loads cuBLAS.
    """
    if not gpu.is_known:
        return _FEWEST, _MOST_OF_ALL
    if gpu.capability == _HOPPER:
        (low, high), (least, most) = _MEASURED, _WITH_PRODUCTS
        return (low + least, high + most) if products else (low, high)
    if gpu.multiprocessors >= _LARGE:
        return 400 * MIB, _MOST_OF_ALL
    return _FEWEST, _MOST


def process_bytes(context: tuple[int, int], reserved: int, apart: int) -> tuple[int, int]:
    """Return the least and the most that the whole process takes on the device, bytes."""
    low, high = context
    return max(reserved - apart, 0) + low, reserved + apart + high
