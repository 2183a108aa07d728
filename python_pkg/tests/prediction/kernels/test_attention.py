"""Which kernel attention takes for a mask, by the node that autograd keeps of it."""

import pytest
import torch
from prediction.tested_gpu import GPU

from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.stage.stage import Stage

EFFICIENT = "ScaledDotProductEfficientAttentionBackward0"
CUDNN = "ScaledDotProductCudnnAttentionBackward0"


def _node(mask, dtype=torch.float32):
    """Return the node of attention over 3 heads of 49 places of width 32, with `mask(shape)`."""
    query, key, value = (
        torch.randn(4, 3, 49, 32, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3)
    )
    found = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
    return found.grad_fn


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_learnt_mask_with_dense_rows_takes_the_efficient_kernel(dtype):
    with Stage(GPU, CudaKernels()):
        bias = torch.zeros(1, 3, 49, 49, device="cuda", dtype=dtype, requires_grad=True)
        assert _node(bias, dtype).name() == EFFICIENT


def test_a_learnt_mask_whose_rows_are_not_dense_is_multiplied_out():
    with Stage(GPU, CudaKernels()):
        bias = torch.zeros(49, 49, 3, device="cuda", requires_grad=True).permute(2, 0, 1)[None]
        assert "Efficient" not in _node(bias).name()


def test_a_mask_that_is_not_learnt_may_go_to_cudnn():
    with Stage(GPU, CudaKernels()):
        mask = torch.zeros(4, 1, 49, 49, device="cuda", dtype=torch.bfloat16)
        assert _node(mask, torch.bfloat16).name() == CUDNN


def test_rows_of_a_mask_are_padded_to_eight_values_before_it_is_expanded():
    with Stage(GPU, CudaKernels()):
        bias = torch.zeros(1, 3, 49, 49, device="cuda", requires_grad=True)
        saved = _node(bias)._saved_attn_bias
        assert saved.shape == (4, 3, 49, 49)
        assert saved.untyped_storage().nbytes() == 3 * 49 * 56 * 4


@pytest.mark.parametrize("shared", [False, True])
def test_fewer_heads_of_keys_are_shared_only_where_the_call_says_so(shared):
    with Stage(GPU, CudaKernels()):
        query = torch.randn(2, 8, 16, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        key = torch.randn(2, 1, 16, 64, device="cuda", dtype=torch.bfloat16)
        attend = torch.nn.functional.scaled_dot_product_attention
        found = attend(query, key, key, enable_gqa=shared)
        assert found.shape == query.shape
        assert (found.grad_fn.name() == CUDNN) is shared


def test_deterministic_algorithms_leave_cudnn_out():
    with Stage(GPU, CudaKernels()):
        torch.use_deterministic_algorithms(True)
        assert "Flash" in _node(None, torch.bfloat16).name()
