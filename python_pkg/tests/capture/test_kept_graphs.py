"""Losses kept with their graphs are told from losses, outputs and states that are needed."""

import time
from collections import deque

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from memtrack.capture import keptgraphs  # noqa: E402
from memtrack.capture.keptgraphs import KeptGraph, kept_graphs  # noqa: E402


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    """There is no GPU here: numbers of the CPU count."""

    def is_loss(value):
        return type(value) is torch.Tensor and value.numel() == 1 and value.grad_fn is not None

    monkeypatch.setattr(keptgraphs, "_is_loss", is_loss)


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))


def loss(model):
    return model(torch.randn(4, 8)).square().mean()


def found(**names):
    return [(one.name, one.passes) for one in kept_graphs(names)]


def test_a_sum_of_losses_keeps_every_forward(model):
    total = 0
    for _ in range(25):
        total = total + loss(model)
    assert found(total=total) == [("total", 25)]


def test_a_running_mean_keeps_every_forward(model):
    mean = loss(model)
    for _ in range(4):
        mean = 0.9 * mean + 0.1 * loss(model)
    assert found(mean=mean) == [("mean", 5)]


@pytest.mark.parametrize("kind", [list, tuple, deque, lambda x: dict(enumerate(x))])
def test_losses_in_a_container_keep_every_forward(model, kind):
    assert found(losses=kind([loss(model) for _ in range(7)])) == [("losses", 7)]


def test_one_loss_is_needed(model):
    one = loss(model)
    several = one + 0.1 * model[0](torch.randn(2, 8)).abs().sum() + model[2].weight.norm()
    assert found(loss=one, output=model(torch.randn(4, 8)), logs={"loss": one}) == []
    assert all(passes < 3 for _, passes in found(several=several))


def test_what_was_detached_or_is_a_number_keeps_nothing(model):
    losses = [loss(model).detach() for _ in range(5)]
    assert found(losses=losses, total=sum(losses), numbers=[one.item() for one in losses]) == []


def test_the_state_of_a_recurrent_network_is_needed():
    cell = nn.GRUCell(8, 8)
    state = torch.zeros(1, 8)
    for _ in range(9):
        state = cell(torch.randn(1, 8), state)
    assert found(state=state, loss=state.sum()) == []


def test_names_of_ipython_are_left_out(model):
    assert found(_=sum(loss(model) for _ in range(5)), _12=[loss(model)] * 3) == []


def test_the_search_has_an_end(model):
    total = sum(loss(model) for _ in range(3000))
    begun = time.monotonic()
    kept_graphs({f"total_{n}": total for n in range(50)}, seconds=0.1)
    assert time.monotonic() - begun < 1.0


def test_no_graph_is_kept_by_looking(model):
    total = sum(loss(model) for _ in range(5))
    saved = []
    total.grad_fn.metadata["alive"] = _Noting(saved)
    assert kept_graphs({"total": total}) == [KeptGraph("total", 5)]
    del total
    assert saved == ["gone"]


class _Noting:
    def __init__(self, told):
        self._told = told

    def __del__(self):
        self._told.append("gone")
