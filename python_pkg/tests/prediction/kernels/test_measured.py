"""Rows of the table against what an H200 allocated (`bench/results/kernels.json`)."""

import pytest
import torch
from prediction.tested_gpu import GPU
from torch import nn

from memtrack.prediction.kernels.context import Effects
from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.stage.stage import Stage

RESERVES = [
    (nn.LSTM, 1, False, 20_971_776),
    (nn.LSTM, 2, True, 92_274_944),
    (nn.GRU, 2, False, 54_526_208),
    (nn.RNN, 2, True, 25_166_080),
]


@pytest.mark.parametrize(("kind", "layers", "both", "measured"), RESERVES)
def test_reserve_of_recurrent_networks_is_what_was_measured(kind, layers, both, measured):
    with Stage(GPU, CudaKernels()):
        made = kind(256, 512, layers, bidirectional=both, batch_first=True).cuda()
        output = made(torch.randn(32, 64, 256, device="cuda"))[0]
        node = output.grad_fn
        while "CudnnRnn" not in node.name():
            node = node.next_functions[0][0]
        assert node._saved_result3.numel() == measured


def test_backward_of_softmax_holds_one_product():
    seen = []
    with Stage(GPU, CudaKernels()) as stage:
        stage.on_effects(lambda op, effects, device: seen.append((str(op), effects)))
        x = torch.randn(64, 128, 128, device="cuda", requires_grad=True)
        x.softmax(-1).sum().backward()
    found = [one for name, one in seen if "_softmax_backward_data" in name]
    assert found == [Effects(scratch=[4_194_304])]


def test_softmax_of_what_lies_otherwise_copies_it_first():
    seen = []
    with Stage(GPU, CudaKernels()) as stage:
        stage.on_effects(lambda op, effects, device: seen.append((str(op), effects)))
        x = torch.randn(2, 8, 16, 16, device="cuda", requires_grad=True)
        x.log_softmax(1).sum().backward()
        x.to(memory_format=torch.channels_last).log_softmax(1)
    found = [effects for name, effects in seen if "_log_softmax.default" in name]
    assert found == [Effects(scratch=[x.numel() * 4])]
