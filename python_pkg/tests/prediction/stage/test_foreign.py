"""Kernels of other libraries, and what a program does with the host's memory and checks of arguments."""

import pytest
import torch
from prediction.tested_gpu import GPU, KERNELS

from memtrack.errors import PredictionError
from memtrack.prediction.stage import foreign
from memtrack.prediction.stage.stage import Stage


class JITFunction:
    """A kernel of Triton's as far as a launch shows it."""

    def __init__(self, function):
        self.fn, self.__name__ = function, function.__name__

    def run(self, *args, grid, warmup, **kwargs):
        raise AssertionError("launched")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)


class Autotuner:
    def __init__(self, fn):
        self.fn = fn

    def run(self, *args, **kwargs):
        raise AssertionError("tuned")


def _twice(x, y):
    """Stand for a kernel."""


def test_a_kernel_of_triton_writes_what_is_not_known_and_is_told(monkeypatch):
    launchers = ((__name__, "JITFunction"), (__name__, "Autotuner"))
    monkeypatch.setattr(foreign, "_LAUNCHERS", launchers)
    kernel = JITFunction(_twice)
    with Stage(GPU, KERNELS) as stage:
        out = torch.zeros(4, device="cuda")
        kernel[(1,)](torch.ones(4, device="cuda"), out)
        Autotuner(kernel).run(out)
        assert stage.known_value(out) is None
        told = [one.operation for one in stage.assumptions]
    assert told == ["triton _twice", "triton _twice"]  # at two lines
    with pytest.raises(AssertionError, match="launched"):
        kernel[(1,)](None)


def test_addresses_are_not_given_to_other_libraries():
    with Stage(GPU, KERNELS):
        tensor = torch.ones(4, device="cuda")
        with pytest.raises(PredictionError, match=r"__cuda_array_interface__ at test_foreign\.py:"):
            _ = tensor.__cuda_array_interface__
    with pytest.raises(AttributeError):
        _ = torch.ones(4).__cuda_array_interface__


def test_memory_that_was_pinned_says_so():
    with Stage(GPU, KERNELS):
        plain = torch.randn(4)
        assert not plain.is_pinned()
        assert plain.pin_memory().is_pinned()
        assert torch.empty(4, pin_memory=True).is_pinned()
        assert not torch.randn(4, device="cuda").is_pinned()


def test_arguments_of_distributions_pass_their_checks():
    with Stage(GPU, KERNELS):
        x = torch.randn(8, device="cuda", requires_grad=True)
        drawn = torch.distributions.Normal(x, x.exp()).rsample()
        drawn.sum().backward()
        assert x.grad.shape == (8,)
        assert torch.distributions.Categorical(
            logits=torch.randn(2, 3, device="cuda")
        ).sample().shape == (2,)


def test_an_operation_of_the_users_without_shapes_is_refused_by_its_name():
    @torch.library.custom_op("memtrack_tests::shapeless", mutates_args=())
    def shapeless(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    with (
        Stage(GPU, KERNELS),
        pytest.raises(PredictionError, match=r"memtrack_tests\.shapeless at test_foreign"),
    ):
        shapeless(torch.randn(4, device="cuda"))


def test_nested_tensors_are_refused_by_name():
    with (
        Stage(GPU, KERNELS),
        pytest.raises(PredictionError, match=r"torch\.nested\.nested_tensor at"),
    ):
        torch.nested.nested_tensor([torch.randn(3), torch.randn(5)], layout=torch.jagged)
