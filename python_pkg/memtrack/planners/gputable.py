"""The table of GPUs: what CUDA or ROCm says each has, and what kernels choose by. Dated 2026-11.

`total` is what the driver tells a process, `total_memory` of `torch.cuda.get_device_properties`: less
than the size on the box, for the driver, ECC and page tables keep some. It differs by some MiB between
drivers and boards, and Windows tells up to 3 % more, which its desktop then uses; where several values
were seen, the lowest stands here, so that *fits* is said with care.

A row's source says how the size is known:

- `MEASURED`: read on such a GPU for `bench/results/measured-models.json`.
- `PRINTED`: as programs print it in public logs: `_CudaDeviceProperties(name='NVIDIA H100 80GB HBM3',
  …, total_memory=81082MB, …)`, `CUDA:0 (NVIDIA RTX A4000, 16117MiB)`, `GPU 0 has a total capacity of
  79.25 GiB`.
- `METAL`: Apple's chips share the computer's memory; Metal recommends two thirds of up to 32 GB and three
  quarters of more (`recommendedMaxWorkingSetSize`, as llama.cpp prints it: 11453.25 MB of 16 GB).
- `DATASHEET`: the size of the vendor's sheet less 0.5 GiB, the most that drivers were seen to keep of
  cards without ECC from 4 to 24 GiB.

Compute capabilities are those of https://developer.nvidia.com/cuda-gpus; counts of multiprocessors those of
NVIDIA's architecture white papers and https://www.nvidia.com/en-us/geforce/graphics-cards/compare, and of
https://www.amd.com/en/products/specifications for AMD's compute units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memtrack.units import MIB

DATED = "2026-11"
MEASURED, PRINTED, DATASHEET, METAL = "measured", "printed", "datasheet", "metal"
KEPT_BY_DRIVERS_MIB = 512
"""Of a card of which only the sheet is known."""


@dataclass(frozen=True, slots=True)
class KnownGpu:
    """A GPU of the table; sizes in bytes.

    `capability` is NVIDIA's (8.9 is Ada) and (0, 0) for other vendors; `source` says how `total` is known.
    """

    name: str
    total: int
    capability: tuple[int, int]
    multiprocessors: int
    source: str

    @property
    def usable(self) -> int:
        """What a process alone on it may use, its CUDA context included."""
        return self.total

    @property
    def is_nvidia(self) -> bool:
        """Whether the table of CUDA's kernels is about it."""
        return self.capability > (0, 0)


_PRINTED = """
NVIDIA B200                          182631 10.0 148
NVIDIA H100 80GB                      81009  9.0 132
NVIDIA H100 NVL                       95320  9.0 132
NVIDIA GH200 480GB                    96768  9.0 132
NVIDIA H20                            97285  9.0  78
NVIDIA A100 80GB                      81038  8.0 108
NVIDIA A100 40GB                      40326  8.0 108
NVIDIA A30                            24164  8.0  56
NVIDIA A40                            45400  8.6  84
NVIDIA A10                            22502  8.6  72
NVIDIA A10G                           22502  8.6  80
NVIDIA L40S                           45455  8.9 142
NVIDIA L40                            45455  8.9 142
NVIDIA L4                             22563  8.9  58
NVIDIA V100 32GB                      32494  7.0  80
NVIDIA V100 16GB                      16151  7.0  80
NVIDIA T4                             14910  7.5  40
NVIDIA P100 16GB                      16276  6.0  56
NVIDIA P40                            22919  6.1  30
NVIDIA RTX PRO 6000 Blackwell         97250 12.0 188
NVIDIA RTX 6000 Ada                   48508  8.9 142
NVIDIA RTX A6000                      48541  8.6  84
NVIDIA RTX A5000                      24138  8.6  64
NVIDIA RTX A4000                      16117  8.6  48
NVIDIA GeForce RTX 5090               32109 12.0 170
NVIDIA GeForce RTX 5080               15840 12.0  84
NVIDIA GeForce RTX 5070               11774 12.0  48
NVIDIA GeForce RTX 4090               24080  8.9 128
NVIDIA GeForce RTX 4070               11994  8.9  46
NVIDIA GeForce RTX 4060 Ti 8GB         7806  8.9  34
NVIDIA GeForce RTX 3090               24123  8.6  82
NVIDIA GeForce RTX 3080 10GB          10014  8.6  68
NVIDIA GeForce RTX 3060 12GB          11910  8.6  28
NVIDIA GeForce RTX 2080 Ti            10825  7.5  68
NVIDIA GeForce RTX 2080 Super          7982  7.5  48
NVIDIA GeForce GTX 1080 Ti            11172  6.1  28
NVIDIA GeForce GTX 1080                8112  6.1  20
NVIDIA GeForce RTX 5090 Laptop        23961 12.0  82
NVIDIA GeForce RTX 3050 Ti Laptop      3911  8.6  20
AMD Instinct MI355X                  294892  0.0 256
AMD Instinct MI325X                  262124  0.0 304
AMD Instinct MI300X                  196592  0.0 304
AMD Radeon RX 9070 XT                 16304  0.0  64
AMD Radeon RX 7800 XT                 16177  0.0  60
AMD Radeon RX 7700 XT                 12272  0.0  54
AMD Radeon RX 6600 XT                  8176  0.0  32
"""

_DATASHEET = """
NVIDIA RTX 5000 Ada                      32  8.9 100
NVIDIA RTX 4500 Ada                      24  8.9  60
NVIDIA RTX 4000 Ada                      20  8.9  48
NVIDIA RTX A4500                         20  8.6  56
NVIDIA RTX A2000 12GB                    12  8.6  26
NVIDIA Quadro RTX 8000                   48  7.5  72
NVIDIA Quadro RTX 6000                   24  7.5  72
NVIDIA TITAN RTX                         24  7.5  72
NVIDIA GeForce RTX 5070 Ti               16 12.0  70
NVIDIA GeForce RTX 5060 Ti 16GB          16 12.0  36
NVIDIA GeForce RTX 5060 Ti 8GB            8 12.0  36
NVIDIA GeForce RTX 5060                   8 12.0  30
NVIDIA GeForce RTX 4080 Super            16  8.9  80
NVIDIA GeForce RTX 4080                  16  8.9  76
NVIDIA GeForce RTX 4070 Ti Super         16  8.9  66
NVIDIA GeForce RTX 4070 Ti               12  8.9  60
NVIDIA GeForce RTX 4070 Super            12  8.9  56
NVIDIA GeForce RTX 4060 Ti 16GB          16  8.9  34
NVIDIA GeForce RTX 4060                   8  8.9  24
NVIDIA GeForce RTX 3090 Ti               24  8.6  84
NVIDIA GeForce RTX 3080 Ti               12  8.6  80
NVIDIA GeForce RTX 3080 12GB             12  8.6  70
NVIDIA GeForce RTX 3070 Ti                8  8.6  48
NVIDIA GeForce RTX 3070                   8  8.6  46
NVIDIA GeForce RTX 3060 Ti                8  8.6  38
NVIDIA GeForce RTX 3050                   8  8.6  20
NVIDIA GeForce RTX 2080                   8  7.5  46
NVIDIA GeForce RTX 2070 Super             8  7.5  40
NVIDIA GeForce RTX 2070                   8  7.5  36
NVIDIA GeForce RTX 2060                   6  7.5  30
NVIDIA GeForce GTX 1660 Ti                6  7.5  24
NVIDIA GeForce GTX 1650                   4  7.5  14
NVIDIA GeForce GTX 1070                   8  6.1  15
NVIDIA GeForce GTX 1060                   6  6.1  10
NVIDIA GeForce RTX 5080 Laptop           16 12.0  60
NVIDIA GeForce RTX 5070 Ti Laptop        12 12.0  46
NVIDIA GeForce RTX 5070 Laptop            8 12.0  36
NVIDIA GeForce RTX 4090 Laptop           16  8.9  76
NVIDIA GeForce RTX 4080 Laptop           12  8.9  58
NVIDIA GeForce RTX 4070 Laptop            8  8.9  36
NVIDIA GeForce RTX 4060 Laptop            8  8.9  24
NVIDIA GeForce RTX 4050 Laptop            6  8.9  20
NVIDIA GeForce RTX 3080 Ti Laptop        16  8.6  58
NVIDIA GeForce RTX 3080 Laptop 8GB        8  8.6  48
NVIDIA GeForce RTX 3080 Laptop 16GB      16  8.6  48
NVIDIA GeForce RTX 3070 Laptop            8  8.6  40
NVIDIA GeForce RTX 3060 Laptop            6  8.6  30
NVIDIA GeForce RTX 3050 Laptop            4  8.6  16
AMD Instinct MI250X                      64  0.0 110
AMD Instinct MI210                       64  0.0 104
AMD Radeon RX 7900 XTX                   24  0.0  96
AMD Radeon RX 7900 XT                    20  0.0  84
AMD Radeon RX 6800 XT                    16  0.0  72
"""


def _rows(table: str, source: str) -> Iterator[KnownGpu]:
    """Read the lines of a table: name, size (MiB as printed, GiB of a sheet), capability, count."""
    for line in table.strip().splitlines():
        name, size, capability, count = line.rsplit(maxsplit=3)
        major, minor = map(int, capability.split("."))
        mib = int(size) if source == PRINTED else int(size) * 1024 - KEPT_BY_DRIVERS_MIB
        yield KnownGpu(name.rstrip(), mib * MIB, (major, minor), int(count), source)


GPUS = (
    KnownGpu("NVIDIA H200", 143155 * MIB, (9, 0), 132, MEASURED),
    *_rows(_PRINTED, PRINTED),
    *_rows(_DATASHEET, DATASHEET),
)
