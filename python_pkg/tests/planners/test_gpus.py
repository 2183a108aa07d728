"""The table of GPUs: names as people write them, sizes as drivers tell them, errors in one line."""

import re

import pytest

from memtrack.errors import UsageError
from memtrack.planners.capacity import Capacity, capacity_of
from memtrack.planners.gpus import DATED, GPUS, find_gpu, known_gpu, short_name
from memtrack.planners.gputable import DATASHEET, MEASURED, METAL, PRINTED

GIB = 1 << 30
NAMES = {
    "4090": "NVIDIA GeForce RTX 4090",
    "rtx4090": "NVIDIA GeForce RTX 4090",
    "RTX 4090 24GB": "NVIDIA GeForce RTX 4090",
    "rtx 4090 laptop": "NVIDIA GeForce RTX 4090 Laptop",
    "4090 mobile": "NVIDIA GeForce RTX 4090 Laptop",
    "NVIDIA GeForce RTX 4090 Laptop GPU": "NVIDIA GeForce RTX 4090 Laptop",
    "A100-80G": "NVIDIA A100 80GB",
    "a100": "NVIDIA A100 80GB",
    "A100 40": "NVIDIA A100 40GB",
    "A100-SXM4-40GB": "NVIDIA A100 40GB",
    "NVIDIA A100 80GB PCIe": "NVIDIA A100 80GB",
    "h100 sxm": "NVIDIA H100 80GB",
    "NVIDIA H100 80GB HBM3": "NVIDIA H100 80GB",
    "NVIDIA H100 NVL": "NVIDIA H100 NVL",
    "H200 141GB": "NVIDIA H200",
    "Tesla V100-SXM2-16GB": "NVIDIA V100 16GB",
    "Tesla T4": "NVIDIA T4",
    "T4 16 GB": "NVIDIA T4",
    "3080 12gb": "NVIDIA GeForce RTX 3080 12GB",
    "3080Ti": "NVIDIA GeForce RTX 3080 Ti",
    "4070tisuper": "NVIDIA GeForce RTX 4070 Ti Super",
    "3080 laptop": "NVIDIA GeForce RTX 3080 Laptop 8GB",
    "a6000": "NVIDIA RTX A6000",
    "NVIDIA RTX 6000 Ada Generation": "NVIDIA RTX 6000 Ada",
    "Quadro RTX 6000": "NVIDIA Quadro RTX 6000",
    "titan rtx": "NVIDIA TITAN RTX",
    "AMD Instinct MI300X": "AMD Instinct MI300X",
    "7900xtx": "AMD Radeon RX 7900 XTX",
    "m2 max 32gb": "Apple M2 Max 32GB",
}
TOLD_GIB = {
    # `total_memory` and "total capacity" of public logs, GiB.
    "H100 80GB": 79.11,
    "H200": 139.80,
    "B200": 178.35,
    "A100 80GB": 79.14,
    "MI300X": 191.98,
    "RTX 4090": 23.52,
    "RTX 5090": 31.36,
    "T4": 14.56,
    "V100 16GB": 15.77,
}


@pytest.mark.parametrize("written", NAMES)
def test_a_gpu_is_found_as_people_write_it(written):
    assert find_gpu(written).name == NAMES[written]
    assert capacity_of(written) == Capacity(NAMES[written], find_gpu(written).usable)


def test_every_gpu_is_found_by_its_own_name_and_by_its_short_one():
    for gpu in GPUS:
        assert find_gpu(gpu.name) is gpu
        assert find_gpu(short_name(gpu.name).lower()) is gpu
    assert len({gpu.name for gpu in GPUS}) == len(GPUS)


@pytest.mark.parametrize("name", TOLD_GIB)
def test_sizes_are_those_that_drivers_tell(name):
    assert find_gpu(name).usable / GIB == pytest.approx(TOLD_GIB[name], abs=0.01)


def test_sizes_lie_below_those_on_the_box():
    for gpu in GPUS:
        box = re.search(r"(\d+)GB", gpu.name)
        if box is not None and int(box[1]) < 480:  # GH200 480GB is named for its CPU's memory.
            assert 0.88 * int(box[1]) < gpu.usable / GIB < int(box[1])
        assert gpu.source in (MEASURED, PRINTED, DATASHEET)
        assert gpu.multiprocessors > 0
        assert gpu.is_nvidia == gpu.name.startswith("NVIDIA")
    assert re.fullmatch(r"20\d\d-\d\d", DATED)


def test_apple_shares_the_computers_memory():
    assert find_gpu("Apple M1 16GB").usable == 16 * GIB * 2 // 3
    assert find_gpu("m4-pro 48 GB").usable == 36 * GIB
    assert find_gpu("M2 Ultra 192GB").source == METAL
    with pytest.raises(UsageError, match="'M2 Max 32GB'"):
        find_gpu("m2 max")


@pytest.mark.parametrize("written", ["24GB", "24 GiB", "24g", "24gb", "24.0GiB"])
def test_a_size_is_binary(written):
    assert capacity_of(written) == Capacity("", 24 * GIB)


def test_a_number_is_bytes_unless_it_is_a_gpu():
    assert capacity_of(8 * GIB) == capacity_of(str(8 * GIB)) == Capacity("", 8 * GIB)
    assert capacity_of("1080").name == "NVIDIA GeForce GTX 1080"
    assert known_gpu("80") is None
    for written in ("24", 24):
        with pytest.raises(UsageError, match="write 24GiB"):
            capacity_of(written)


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("RTX 4091", "RTX 4090"),
        ("4091", "RTX 4090"),
        ("h1000", "H100"),
        ("RTX 2060 Super", "RTX 2070 Super"),
        ("5090 ti", "RTX 5090"),
        ("MI350", "MI355X"),
        ("Ada", "RTX 6000 Ada"),
    ],
)
def test_a_name_that_is_unknown_is_one_line_with_the_nearest(written, nearest):
    with pytest.raises(UsageError) as raised:
        capacity_of(written)
    sentence = str(raised.value)
    assert f"'{written}'" in sentence
    assert nearest in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    "written", ["", " ", "nvidia", "laptop", "0", -1, "-3GiB", True, 2.5e9, []]
)
def test_what_is_neither_is_refused(written):
    with pytest.raises(UsageError):
        capacity_of(written)
