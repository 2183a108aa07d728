"""Workspaces of products: kept for each thread by cuBLAS, none by the grouped kernel of Hopper."""

from dataclasses import replace

import pytest
import torch
from prediction.tested_gpu import GPU

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.products import BEFORE, HOPPER
from memtrack.prediction.kernels.table import CudaKernels

aten = torch.ops.aten


def _kept(op, *args, **settings):
    context = KernelContext(**{"gpu": GPU, **settings})
    CudaKernels().run(op, args, {}, context)
    return context.effects


def _matrices(dtype, *shapes):
    return [torch.empty(shape, device="meta", dtype=dtype) for shape in shapes]


def test_each_thread_keeps_a_workspace_as_large_as_its_gpu_wants():
    pair = _matrices(torch.float32, (64, 64), (64, 64))
    assert _kept(aten.mm.default, *pair).kept == [(("cublas", False), HOPPER)]
    assert _kept(aten.mm.default, *pair, backward=True).kept == [(("cublas", True), HOPPER)]
    ampere = replace(GPU, capability=(8, 0))
    assert _kept(aten.mm.default, *pair, gpu=ampere).kept == [(("cublas", False), BEFORE)]


@pytest.mark.skipif(not hasattr(aten, "_grouped_mm"), reason="torch has grouped products since 2.7")
@pytest.mark.parametrize(
    ("dtype", "capability", "fused"),
    [
        (torch.bfloat16, (9, 0), True),
        (torch.bfloat16, (8, 0), False),
        (torch.float32, (9, 0), False),
    ],
)
def test_grouped_products_are_one_kernel_only_in_bf16_on_hopper(dtype, capability, fused):
    x, weights = _matrices(dtype, (4096, 512), (8, 512, 1024))
    ends = torch.empty(8, device="meta", dtype=torch.int32)
    gpu = replace(GPU, capability=capability)
    effects = _kept(aten._grouped_mm.default, x, weights, ends, gpu=gpu)
    assert bool(effects.kept) is not fused
    assert sum(effects.scratch) < 1 << 20
