"""Fused norms: what autograd keeps of them on CUDA, and programs that differentiate twice."""

import pytest
import torch
from prediction.tested_gpu import GPU
from torch import nn

from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.stage.stage import Stage

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.aten, "_fused_rms_norm"), reason="torch fuses the RMS norm since 2.9"
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rms_norm_keeps_its_input_and_a_value_for_each_row(dtype):
    kept = []
    with Stage(GPU, CudaKernels()):
        norm = nn.RMSNorm(1024).to("cuda", dtype)
        x = torch.randn(2048, 1024, device="cuda", dtype=dtype, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
            output = norm(x)
        output.sum().backward()
        assert [tuple(one.shape) for one in kept] == [(2048, 1024), (1024,), (2048, 1)]
        assert kept[-1].dtype is torch.float32
        assert (x.grad.shape, norm.weight.grad.dtype) == (x.shape, dtype)


def test_rms_norm_with_weights_of_another_dtype_is_taken_apart():
    with Stage(GPU, CudaKernels()):
        x = torch.randn(8, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        output = nn.RMSNorm(64).cuda()(x)
        assert "Fused" not in output.grad_fn.name()


def test_rms_norm_is_differentiated_twice():
    with Stage(GPU, CudaKernels()):
        norm = nn.RMSNorm(64).cuda()
        x = torch.randn(8, 64, device="cuda", requires_grad=True)
        (first,) = torch.autograd.grad(norm(x).pow(2).sum(), x, create_graph=True)
        first.pow(2).sum().backward()
        assert x.grad.shape == x.shape
        assert norm.weight.grad.shape == (64,)


def test_rms_norm_of_what_wants_no_gradient():
    with Stage(GPU, CudaKernels()):
        x = torch.randn(8, 64, device="cuda")
        frozen = nn.RMSNorm(64).cuda().requires_grad_(False)
        assert not frozen(x).requires_grad
        nn.RMSNorm(64, elementwise_affine=False).cuda()(x.requires_grad_()).sum().backward()
        assert x.grad is not None


def test_rms_norm_under_a_transform():
    with Stage(GPU, CudaKernels()):
        x = torch.randn(8, 64, device="cuda")
        made = torch.func.grad(lambda t: nn.functional.rms_norm(t, (64,)).sum())(x)
        assert made.shape == x.shape
