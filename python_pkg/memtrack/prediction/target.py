"""The GPU a program is predicted for: what is to be fitted into, and whose kernels are assumed.

A GPU is named, or only its size, or nothing. Where it is not one of NVIDIA's that the table knows, the
kernels of `DEFAULT_GPU` are assumed: the same on every machine, so that a prediction is too. This
machine's own GPU is looked for only when asked (`gpu="here"`), by NVML, which starts no CUDA.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memtrack.devices.nvmlsource import NvmlSource
from memtrack.devices.readings import DeviceReading, DeviceSource
from memtrack.errors import UnavailableError, UsageError
from memtrack.i18n import text
from memtrack.planners.capacity import capacity_of
from memtrack.planners.gpus import KnownGpu, find_gpu, known_gpu
from memtrack.planners.gputable import METAL

DEFAULT_GPU = "A100 80GB"
"""Whose kernels are assumed where no GPU of the table is named."""
HERE = "here"
"""The word for this machine's own GPU."""


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU as the stage and its kernels see it; `capacity` is -1 where nothing is to be fitted into.

    `name` is what the program is told, `kernels` whose kernels are assumed, `named` whether the GPU
    was named at all, rather than its size or nothing. Bytes.
    """

    name: str
    total: int
    capability: tuple[int, int]
    multiprocessors: int
    capacity: int = -1
    named: bool = False
    kernels: str = ""

    @property
    def is_known(self) -> bool:
        """Whether it is a GPU whose kernels are modelled, not one whose kernels are assumed."""
        return self.named and self.kernels == self.name

    @property
    def shown(self) -> str:
        """What the device is called in a report; a size alone has no name."""
        return self.name if self.named or self.capacity < 0 else "GPU"


def target_of(
    gpu: str | int | None, capacity: int | str | None = None, source: DeviceSource | None = None
) -> Target:
    """Return the GPU to predict for; UsageError names the nearest for a name that is not known.

    `capacity` wins over the GPU's own size; `source` lists this machine's GPUs (default: NVML).
    """
    known = find_gpu(DEFAULT_GPU)
    found = Target(
        known.name, known.total, known.capability, known.multiprocessors, kernels=known.name
    )
    if isinstance(gpu, str) and gpu.strip().lower() == HERE:
        found = _on(found, _own(source or NvmlSource()))
    elif gpu is not None:
        asked = capacity_of(gpu)
        sized = replace(found, total=asked.usable, capacity=asked.usable)
        found = _on(found, find_gpu(asked.name)) if asked.name else sized
    if capacity is not None:
        size = capacity_of(capacity).usable
        found = replace(found, total=size, capacity=size)
    return found


def _on(assumed: Target, gpu: KnownGpu) -> Target:
    """Return a named GPU, with the kernels of `assumed` where its own are not modelled."""
    if gpu.source == METAL:
        raise UsageError(
            text("Only CUDA devices are predicted, not '{device}'.", device=gpu.name),
            text("To compare with its memory give the size: {bytes}MiB.", bytes=gpu.usable >> 20),
        )
    named = replace(assumed, name=gpu.name, total=gpu.total, capacity=gpu.usable, named=True)
    if not gpu.is_nvidia:
        return named
    return replace(
        named,
        capability=gpu.capability,
        multiprocessors=gpu.multiprocessors,
        kernels=gpu.name,
    )


def _own(source: DeviceSource) -> KnownGpu:
    """Return this machine's first GPU, with the size its driver tells; UnavailableError without one."""
    try:
        readings = source.read()
    finally:
        source.close()
    first = next((one for one in readings.devices if one.total > 0), None)
    if first is None:
        raise UnavailableError(
            text("NVIDIA's driver tells of no GPU on this machine."),
            text(
                "--gpu 'RTX 4090' names one, and a size such as 24GiB will do too (in Python gpu='RTX 4090')."
            ),
        )
    return _as_told(first)


def _as_told(reading: DeviceReading) -> KnownGpu:
    total = reading.total - (reading.reserved or 0)
    known = known_gpu(reading.name)
    if known is None:
        return KnownGpu(reading.name, total, (0, 0), 0, "driver")
    return replace(known, name=reading.name, total=total)
