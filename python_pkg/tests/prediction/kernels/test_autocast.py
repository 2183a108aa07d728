"""What autocast casts, and what it only tells a dtype, by what is kept for backward.

Sources: the lists of `autocast_mode.h`, and `AutocastRNN.cpp`.
"""

import gc
import weakref

import pytest
import torch
from prediction.tested_gpu import GPU

from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.stage.stage import Stage


def _cast(function, *shape, dtype=torch.bfloat16):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return function(torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=True))


@pytest.mark.parametrize(
    "reduce", [lambda x: torch.linalg.vector_norm(x, dim=-1), lambda x: x.norm(dim=-1)]
)
def test_a_norm_reads_sixteen_bits_and_keeps_no_copy_of_them(reduce):
    with Stage(GPU, CudaKernels()):
        norm = _cast(reduce, 8, 16)
        assert norm.dtype is torch.float32
        assert norm.grad_fn._saved_self.dtype is torch.bfloat16


@pytest.mark.parametrize("reduce", [torch.sum, lambda x: x.softmax(-1), lambda x: x.cumsum(0)])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_reductions_give_fp32_of_each_dtype(reduce, dtype):
    with Stage(GPU, CudaKernels()):
        assert _cast(reduce, 8, 16, dtype=dtype).dtype is torch.float32


def test_a_dtype_that_is_asked_for_stays():
    with Stage(GPU, CudaKernels()):
        assert _cast(lambda x: x.sum(dtype=torch.float64), 8).dtype is torch.float64


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent_networks_of_cudnn_are_cast_to_fp16_whatever_autocast_says(kind):
    with Stage(GPU, CudaKernels()):
        layer = kind(8, 16).cuda()
        assert _cast(lambda x: layer(x)[0], 5, 2, 8, dtype=torch.float32).dtype is torch.float16
        with torch.backends.cudnn.flags(enabled=False):
            made = _cast(lambda x: layer(x)[0], 5, 2, 8, dtype=torch.float32)
        assert made.dtype is torch.bfloat16


def test_indexing_by_a_list_keeps_nothing_alive():
    with Stage(GPU, CudaKernels()):
        freed = []
        gc.collect()
        gc.disable()
        try:
            tensor = torch.randn(4, 8, device="cuda")
            weakref.finalize(tensor.untyped_storage(), freed.append, True)
            picked = tensor[:, [1]]
            del tensor
            assert freed == [True]
            assert picked.shape == (4, 1)
        finally:
            gc.enable()
