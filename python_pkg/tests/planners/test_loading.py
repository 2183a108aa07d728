"""What every way to load has in common, and a change of dtype on the GPU as it is measured."""

import itertools

import pytest

from memtrack.planners.inputs import LoadingInputs
from memtrack.planners.loading import loading_ways
from memtrack.planners.quantities import DTYPE_BITS, bytes_of

COUNT = 64_000_000
DTYPES = tuple(DTYPE_BITS)


@pytest.mark.parametrize(
    ("stored", "dtype", "built"), [*itertools.product(DTYPES, DTYPES, ("fp32", "bf16"))]
)
def test_what_stays_was_there_at_the_peak(stored, dtype, built):
    ways = loading_ways(LoadingInputs(COUNT, stored=stored, dtype=dtype, built=built))
    assert len(ways) == 11
    for way in ways:
        assert way.device_after == bytes_of(COUNT, dtype)
        assert way.device >= way.device_after, way.id
        assert min(way.host, way.mapped) >= 0


def test_a_model_that_grows_on_the_gpu_peaks_at_its_end():
    inputs = LoadingInputs(COUNT, stored="bf16", dtype="fp32", largest=COUNT // 10)
    peak = {way.id: way.device for way in loading_ways(inputs)}
    # All in fp32, and the last tensor as it was read.
    assert peak["safetensors_cuda"] == 4 * COUNT + 2 * (COUNT // 10)
    assert peak["assign"] == 4 * COUNT


def test_a_model_that_shrinks_on_the_gpu_peaks_at_its_begin():
    inputs = LoadingInputs(COUNT, stored="fp32", dtype="bf16", largest=COUNT // 10)
    peak = {way.id: way.device for way in loading_ways(inputs)}
    assert peak["safetensors_cuda"] == 4 * COUNT + 2 * (COUNT // 10)
    assert peak["load_cuda"] == 8 * COUNT


@pytest.mark.gpu
@pytest.mark.parametrize(("stored", "dtype"), [("bf16", "fp32"), ("fp32", "bf16")])
def test_a_change_of_dtype_as_cuda_counts_it(stored, dtype):
    import torch

    names = {"bf16": torch.bfloat16, "fp32": torch.float32}
    layers, side = 10, 1024
    count = layers * side * side
    inputs = LoadingInputs(count, stored=stored, dtype=dtype, largest=side * side)
    planned = {way.id: way.device for way in loading_ways(inputs)}
    make = lambda: torch.nn.Sequential(  # noqa: E731 - used twice, here alone
        *(torch.nn.Linear(side, side, bias=False, dtype=names[stored]) for _ in range(layers))
    )

    def peak(work):
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        work()
        return torch.cuda.max_memory_allocated() - before

    with torch.device("cuda"):
        there = make()
    held = count * torch.finfo(names[stored]).bits // 8
    assert held + peak(lambda: there.to(names[dtype])) == planned["safetensors_cuda"]
    here = make()
    assert peak(lambda: here.to("cuda", names[dtype])) == planned["assign"]
