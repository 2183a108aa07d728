"""Known values are what torch computes; unknown ones are said to be assumed."""

import numpy as np
import pytest
import torch
from prediction.tested_gpu import GPU, KERNELS

from memtrack.errors import PredictionError
from memtrack.prediction.stage.stage import Stage

LARGE = 70_000


@pytest.fixture
def stage():
    with Stage(GPU, KERNELS) as stage:
        yield stage


def arithmetic(device):
    """Do many things to small tensors of given numbers."""
    first = torch.arange(12, device=device).reshape(3, 4).float()
    first[1, 2:] = 7
    second = torch.tensor([[1.0, -2.0, 0.5, 3.0]], device=device).expand(3, 4).clone()
    second.t()[0].mul_(3).add_(1)
    joined = torch.cat([first, second.neg()], dim=1)
    picked = joined[:, torch.tensor([0, 5, 2], device=device)]
    picked.clamp_(min=-1).sub_(0.25)
    order = torch.sort(picked.flatten(), descending=True)
    chosen = torch.where(order.values > 0, order.values, order.values * 2)
    return {
        "matmul": first @ second.t(),
        "chosen": chosen,
        "indices": order.indices,
        "counts": torch.bincount(order.indices % 3),
        "nonzero": (picked > 0).nonzero(),
        "unique": torch.unique(first.long()),
        "selected": picked[picked > 1],
        "view": first.view(4, 3)[1:, ::2],
        "sum": joined.sum(0, keepdim=True),
        "half": joined.half().float(),
    }


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_known_values_are_what_torch_computes(device):
    expected = arithmetic("cpu")
    with Stage(GPU, KERNELS) as stage:
        found = {name: stage.known_value(one).tolist() for name, one in arithmetic(device).items()}
        assert stage.assumptions == ()
    assert found == {name: one.tolist() for name, one in expected.items()}


def test_the_numbers_of_large_convolutions_are_not_worked_out(stage):
    pictures, weight = torch.ones(1, 4, 8, 8, device="cuda"), torch.ones(2, 4, 3, 3, device="cuda")
    small = torch.nn.functional.conv2d(pictures, weight)
    assert stage.known_value(small).unique().tolist() == [36.0]
    layers = torch.ones(128, 128, 3, 3, device="cuda")[:56]
    many = torch.ones(1, 128, 20, 20, device="cuda")
    large = torch.nn.functional.conv2d(many, layers.clone())
    assert large.numel() <= 65536
    assert stage.known_value(large) is None


def test_random_draws_of_the_host_are_those_of_its_generator():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        expected = torch.rand(3).tolist(), torch.randperm(5).tolist(), torch.randn(2, 2).tolist()
    with Stage(GPU, KERNELS):
        torch.manual_seed(5)
        found = torch.rand(3).tolist(), torch.randperm(5).tolist(), torch.randn(2, 2).tolist()
    assert found == expected


def test_writing_something_unknown_into_a_known_tensor_makes_it_unknown(stage):
    known = torch.zeros(4, device="cuda")
    assert stage.known_value(known).tolist() == [0, 0, 0, 0]
    known[1] = torch.randn(LARGE, device="cuda").sum()
    assert stage.known_value(known) is None
    known.fill_(2)
    assert stage.known_value(known).tolist() == [2, 2, 2, 2]


def test_an_unknown_scalar_is_answered_once_a_line_and_noted(stage):
    unknown = torch.randn(LARGE, device="cuda").sum()
    answers = [unknown.item() for _ in range(3)]
    assert answers == [1.0] * 3
    (assumption,) = stage.assumptions
    assert assumption.operation == "float32 tensor.item()"
    assert assumption.site.startswith("test_values.py:")


def test_values_are_taken_to_be_finite(stage):
    unknown = torch.randn(LARGE, device="cuda")
    assert not torch.isnan(unknown).any()
    assert not unknown.isinf().any().item()
    assert torch.isfinite(unknown).all()
    assert stage.assumptions == ()


def test_a_large_uniform_tensor_is_known_to_be_uniform(stage):
    assert torch.ones(LARGE, dtype=torch.bool, device="cuda").all()
    assert not torch.zeros(LARGE, device="cuda").ne(0).any()
    assert stage.assumptions == ()


def test_numpy_of_unknown_values_takes_no_memory(stage):
    array = torch.randn(50_000, 50_000).numpy()
    assert array.shape == (50_000, 50_000)
    assert array.strides == (0, 0)
    assert np.asarray(torch.tensor([1, 2])).tolist() == [1, 2]


def test_numpy_of_a_tensor_on_the_gpu_raises_as_on_one(stage):
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\)"):
        torch.ones(2, device="cuda").numpy()


def test_printing_and_formatting_never_fail(stage):
    unknown = torch.randn(LARGE, 2, device="cuda")
    assert str(unknown).startswith("tensor(no data, device='cuda:0', size=(70000, 2)")
    assert f"{unknown.sum():.1f}" == "1.0"
    assert len(unknown) == LARGE


def test_routing_that_is_not_known_is_balanced(stage):
    scores = torch.randn(4000, 64, device="cuda")
    chosen = scores.topk(2, dim=-1).indices
    mask = torch.nn.functional.one_hot(chosen, num_classes=64).permute(2, 1, 0)
    place, row = torch.where(mask[3])
    assert row.shape == place.shape == (4000 * 2 // 64,)
    hit = mask.sum(dim=(-1, -2)).gt(0).nonzero()
    assert hit.shape == (64, 1)
    assert stage.known_value(hit).flatten().tolist() == list(range(64))
    assert "125 of 8000" in str(stage.assumptions[0].assumed)
    assert (chosen == 5).nonzero().shape[0] == 125


def test_tokens_of_an_expert_are_counted_in_equal_shares(stage):
    chosen = torch.randn(4000, 64, device="cuda").topk(2, dim=-1).indices
    counts = torch.bincount(chosen.flatten(), minlength=64)
    assert counts.tolist() == [125] * 64
    assert sum(counts.tolist()) == 8000


def test_half_of_a_mask_nothing_is_known_of_is_taken(stage):
    scores = torch.randn(LARGE, device="cuda")
    assert scores[scores > 0.3].shape == (LARGE // 2,)
    assert "half" in str(stage.assumptions[-1].assumed)


def test_what_cannot_be_assumed_is_refused_with_its_line(stage):
    times = (torch.randn(LARGE, device="cuda") * 9).long()
    with pytest.raises(PredictionError, match=r"repeat_interleave at test_values.py:\d+"):
        torch.repeat_interleave(times)


def test_unique_takes_all_values_for_different_and_keeps_their_storage(stage):
    values = (torch.randn(LARGE, device="cuda") * 9).long()
    different, inverse, counts = torch.unique(values, return_inverse=True, return_counts=True)
    assert different.shape == counts.shape == (LARGE,)
    assert inverse.shape == values.shape
    assert f"{LARGE} different values of {LARGE}" in str(stage.assumptions[-1].assumed)
    rows = torch.randn(300, 400, device="cuda").unique(dim=0)
    assert rows.shape == (300, 400)
    chosen = torch.randn(LARGE, 8, device="cuda").argmax(-1).unique()
    assert chosen.shape == (8,)
    assert chosen.untyped_storage().nbytes() == LARGE * 8


def test_or_with_true_and_and_with_false_are_known(stage):
    unknown = torch.randn(LARGE, device="cuda") > 0
    true, false = torch.ones_like(unknown), torch.zeros_like(unknown)
    assert (unknown | true).all()
    assert not (unknown & false).any()
    assert (~(unknown | true)).long().max() == 0
    assert stage.assumptions == ()


def test_a_loop_that_waits_for_an_unknown_value_ends(stage):
    unknown = torch.randn(LARGE, device="cuda").sum()

    def wait():
        while unknown.item():
            pass

    with pytest.raises(PredictionError, match=r"test_values.py:\d+: its value is asked for again"):
        wait()


def test_grouped_products_and_losses_of_sequences_have_shapes(stage):
    rows, weights = torch.randn(40, 16, device="cuda"), torch.randn(4, 16, 24, device="cuda")
    ends = torch.arange(10, 41, 10, dtype=torch.int32, device="cuda")
    if hasattr(torch, "_grouped_mm"):
        assert torch._grouped_mm(rows, weights, offs=ends).shape == (40, 24)
    scores = torch.randn(50, 4, 20, device="cuda", requires_grad=True)
    targets = torch.randint(1, 20, (4, 30), device="cuda")
    lengths = torch.full((4,), 50), torch.full((4,), 30)
    torch.nn.functional.ctc_loss(scores.log_softmax(-1), targets, *lengths).backward()
    assert scores.grad.shape == scores.shape


def test_metadata_changed_in_place_is_changed(stage):
    for _ in range(2):
        x = torch.randn(2, 3, 5, device="cuda")
        assert x.transpose_(0, 2).shape == (5, 3, 2)
        assert x.unsqueeze_(0).shape == (1, 5, 3, 2)
        assert x.squeeze_(0).is_contiguous() is False
    wave = torch.randn(2, 4000, device="cuda")
    window = torch.hann_window(256, device="cuda")
    spectrum = torch.stft(wave, 256, window=window, return_complex=True)
    assert spectrum.shape == (2, 129, 63)
    assert torch.istft(spectrum, 256, window=window).shape == (2, 3968)


def test_checks_of_closeness_are_computed_or_assumed_to_pass(stage):
    small = torch.eye(3, device="cuda")
    assert torch.allclose(small, small + 1e-9)
    assert not torch.allclose(small, small + 1)
    assert stage.assumptions == ()
    unknown = torch.randn(LARGE, device="cuda")
    assert torch.allclose(unknown, unknown)
    assert stage.assumptions[-1].operation == "torch.allclose()"
    orthogonal = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(300, 300)).cuda()
    assert orthogonal.weight.shape == (300, 300)


def test_numpy_by_force_needs_no_copy_of_ones_own(stage):
    weight = torch.ones(3, device="cuda", requires_grad=True)
    assert weight.numpy(force=True).tolist() == [1, 1, 1]


def test_draws_without_meta_kernels_have_shapes(stage):
    ones = torch.ones(6, 4, device="cuda", requires_grad=True)
    beta = torch.distributions.Beta(ones, ones).rsample()
    gamma = torch.distributions.Gamma(ones, ones).rsample()
    (beta.sum() + gamma.sum()).backward()
    assert ones.grad.shape == beta.shape == gamma.shape == (6, 4)
    assert torch.distributions.Dirichlet(ones.detach()).sample().shape == (6, 4)
