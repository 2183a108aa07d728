"""Devices: where tensors say they are, what CUDA would refuse, and `torch.cuda` dressed up."""

import numpy as np
import pytest
import torch
from prediction.tested_gpu import GPU, KERNELS
from torch import nn

from memtrack.errors import PredictionError
from memtrack.prediction.stage.stage import Stage

HOST, CUDA = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture
def stage():
    with Stage(GPU, KERNELS) as stage:
        yield stage


MADE = {
    "randn": lambda: torch.randn(2, device="cuda"),
    "tensor": lambda: torch.tensor([1, 2], device="cuda"),
    "as_tensor": lambda: torch.as_tensor([1.0], device="cuda:0"),
    "ordinal": lambda: torch.zeros(2, device=0),
    "like": lambda: torch.zeros_like(torch.ones(2), device="cuda"),
    "like its source": lambda: torch.empty_like(torch.ones(2, device="cuda")),
    "new_full": lambda: torch.ones(2).cuda().new_full((3,), 1.0),
    "new_tensor": lambda: torch.ones(2).cuda().new_tensor([1, 2]),
    "to with dtype": lambda: torch.ones(2).to("cuda", torch.float16),
    "to another": lambda: torch.ones(2).to(torch.ones(1, device="cuda")),
    "to an ordinal": lambda: torch.ones(2).to(0, non_blocking=True),
    "type": lambda: torch.ones(2).type("torch.cuda.HalfTensor"),
    "legacy": lambda: torch.Tensor(2, 3).cuda(),
    "arange": lambda: torch.arange(5, device=torch.device("cuda")),
    "one_hot": lambda: nn.functional.one_hot(torch.tensor([0, 1]).cuda(), 3),
    "outer of host scalar": lambda: torch.ones(2, device="cuda") * torch.tensor(2.0),
    "copied in": lambda: torch.empty(2, device="cuda").copy_(torch.ones(2)),
    "parameter": lambda: nn.Parameter(torch.ones(2, device="cuda")),
}


@pytest.mark.parametrize("how", MADE)
def test_tensors_say_they_are_on_the_gpu(stage, how):
    made = MADE[how]()
    assert stage.claimed_device(made) == CUDA
    assert made.device == CUDA
    assert made.is_cuda
    assert not made.is_meta
    assert made.get_device() == 0


def test_host_tensors_stay_there_and_come_back(stage):
    host = torch.randn(3)
    assert (host.device, host.is_cpu, host.cpu() is host) == (HOST, True, True)
    back = host.cuda().cpu()
    assert back.device == HOST
    assert back.tolist() == host.tolist()
    assert host.to("cpu") is host
    moved = host.cuda()
    assert moved.cuda() is moved
    assert moved.to("cuda", copy=True) is not moved


def test_gradients_travel_back_with_the_tensor(stage):
    weight = torch.ones(3, requires_grad=True)
    (weight.cuda() * 2).sum().cpu().backward()
    assert stage.claimed_device(weight.grad) == HOST
    assert stage.known_value(weight.grad).tolist() == [2, 2, 2]


def test_what_cuda_refuses_is_refused(stage):
    with pytest.raises(PredictionError, match=r"aten.addmm at test_devices.py:\d+.*cuda:0 and cpu"):
        nn.Linear(4, 4)(torch.randn(2, 4, device="cuda"))
    with pytest.raises(RuntimeError, match="reduction dim"):
        torch.randn(2, 4, device="cuda") @ torch.randn(3, 4, device="cuda")


@pytest.mark.parametrize("device", ["cuda:1", "mps"])
def test_devices_that_are_not_there_are_refused(stage, device):
    with pytest.raises(PredictionError):
        torch.zeros(1).to(device)


def test_several_gpus_can_be_there():
    with Stage(GPU, KERNELS, count=2) as stage:
        assert torch.cuda.device_count() == 2
        with torch.cuda.device(1):
            made = torch.zeros(2, device="cuda")
        assert stage.claimed_device(made) == torch.device("cuda", 1)
        with pytest.raises(PredictionError, match=r"on cuda:\d and cuda:\d"):
            made + torch.ones(2, device="cuda:0")


def test_storage_is_shared_by_views_and_aliases(stage):
    base = torch.ones(4, 4, device="cuda")
    for alias in (base[1], base.t(), base.detach(), base.view(-1)):
        assert alias.device == CUDA
        assert alias.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
    assert base.clone().data_ptr() != base.data_ptr()


def test_torch_cuda_tells_of_the_predicted_gpu(stage):
    class Counted:
        allocated = staticmethod(lambda: 1024)
        reserved = staticmethod(lambda: 2048)
        peak_allocated = staticmethod(lambda: 4096)
        peak_reserved = staticmethod(lambda: 8192)
        reset_peaks = empty_cache = staticmethod(lambda: None)

    stage.count_memory(Counted())
    assert torch.cuda.get_device_name() == "NVIDIA H200"
    assert torch.cuda.get_device_capability() == (9, 0)
    assert torch.cuda.get_device_properties(0).total_memory == GPU.total
    assert torch.cuda.memory_allocated() == 1024
    assert torch.cuda.max_memory_reserved() == 8192
    assert torch.cuda.mem_get_info() == (GPU.total - 2048, GPU.total)
    assert torch.cuda.memory_stats()["allocated_bytes.all.peak"] == 4096


def test_models_are_sharded_by_hand_over_two_gpus():
    with Stage(GPU, KERNELS, count=2) as stage:
        first, second = nn.Linear(4, 4).to("cuda:0"), nn.Linear(4, 4).to("cuda:1")
        second(first(torch.randn(2, 4, device="cuda:0")).to("cuda:1")).sum().backward()
        assert stage.claimed_device(first.weight.grad).index == 0
        assert stage.claimed_device(second.weight.grad).index == 1


def test_old_types_make_and_name_tensors_of_the_gpu(stage):
    three = torch.cuda.FloatTensor(3)
    assert three.is_cuda
    assert three.type() == "torch.cuda.FloatTensor"
    assert isinstance(three, torch.cuda.FloatTensor)
    assert not isinstance(three, torch.FloatTensor)
    assert torch.cuda.LongTensor([4, 5]).tolist() == [4, 5]
    assert torch.zeros(2).type_as(three).device == three.device
    assert three.new([1.0, 2.0]).tolist() == [1, 2]
    assert three.new(2, 3).is_cuda
    assert torch.FloatTensor([1, 2]).add_(1).tolist() == [2, 3]
    torch.set_default_tensor_type("torch.cuda.HalfTensor")
    assert torch.ones(2).is_cuda
    assert torch.ones(2).dtype is torch.float16


def test_numbers_of_the_programs_own_may_be_changed(stage):
    pixels = torch.from_numpy(np.full((2, 3), 255, dtype=np.float32)).div_(255)
    assert pixels.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert torch.frombuffer(bytearray(8), dtype=torch.float32).add_(2).tolist() == [2, 2]


def test_lists_of_tensors_become_one_of_their_numbers(stage):
    known, unknown = torch.ones((), device="cuda"), torch.randn(100_000, device="cuda").sum()
    assert torch.tensor([known, 2.0]).tolist() == [1, 2]
    assert torch.tensor([[unknown], [known]], device="cuda").shape == (2, 1)
    assert [one.operation for one in stage.assumptions] == ["float32 tensor.tolist()"]


def test_a_number_stands_for_the_gpu_that_has_it():
    with Stage(GPU, KERNELS) as stage:
        model = torch.nn.Linear(2, 2).to(0)
        assert {stage.claimed_device(one) for one in model.parameters()} == {CUDA}
        model.cpu().to(device=0, dtype=torch.float16)
        assert {stage.claimed_device(one) for one in model.parameters()} == {CUDA}
        assert torch.Generator(device=0).device == CUDA
        assert torch.ones(2).to(0).device == torch.zeros(2, device=0).device == CUDA


def test_a_number_that_torch_does_not_know_is_explained():
    try:
        torch.device(0)
    except RuntimeError:
        pass
    else:
        pytest.skip("this torch knows the number")
    with pytest.raises(RuntimeError) as caught, Stage(GPU, KERNELS):
        torch.device(0)
    assert any("torch.device('cuda', 0)" in note for note in caught.value.__notes__)
