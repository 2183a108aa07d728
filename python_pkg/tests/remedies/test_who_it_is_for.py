"""Remedies are proposed to runs that they are for: two loops in one, adapters, inference, sets in their order."""

import subprocess
import sys
from itertools import pairwise

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import memtrack  # noqa: E402
from memtrack.analysis.totals import allocated  # noqa: E402
from memtrack.remedies import advise  # noqa: E402
from memtrack.reports.advicetext import render_advice  # noqa: E402
from memtrack.reports.advicewords import mild_to_harsh  # noqa: E402


def linear(*sizes):
    return nn.Sequential(*(nn.Linear(one, two) for one, two in pairwise(sizes)))


def record(step, *, steps=3):
    with memtrack.track() as tracked:
        for _ in range(steps):
            step()
    return tracked.data


def by_id(data, **how):
    return {one.id: one for one in advise(data, **how).remedies}


def adversaries():
    """Return a step of a generator and its critic, whose first forward is for the second backward."""
    generator, critic = linear(16, 128, 128), linear(128, 96, 1)
    makes, judges = (torch.optim.Adam(one.parameters()) for one in (generator, critic))
    noise, real = torch.randn(32, 16), torch.randn(32, 128)

    def step():
        fake = generator(noise)
        judges.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        judges.step()
        makes.zero_grad()
        critic(fake).mean().backward()
        makes.step()

    return step


def test_a_graph_that_a_later_backward_reads_is_no_evaluation():
    found = by_id(record(adversaries()))
    assert not found["inference_mode"].applies
    assert not found["buckets"].applies


def test_a_forward_that_nothing_follows_is_one_still():
    model, other = linear(64, *(5 * [256])), linear(64, 64)
    batch = torch.randn(512, 64)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        model(batch).mean()
        other(batch).mean().backward()
        optimizer.step()

    assert by_id(record(step))["inference_mode"].applies


class Beside(nn.Module):
    """A frozen layer with an adapter."""

    def __init__(self, size):
        super().__init__()
        self.whole = nn.Linear(size, size).requires_grad_(False)
        self.down, self.up = nn.Linear(size, 2), nn.Linear(2, size)

    def forward(self, x):
        return self.whole(x) + self.up(self.down(x))


def trained(model, batch):
    optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad])

    def step():
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def test_who_trains_adapters_is_told_how_little_is_trained():
    found = by_id(
        record(trained(nn.Sequential(*(Beside(128) for _ in range(4))), torch.randn(8, 128)))
    )
    assert not found["train_adapters"].applies
    assert "4 %" in str(found["train_adapters"].why)
    # Adam keeps two numbers for each parameter that is trained, though few are.
    assert found["adafactor"].saving_bytes is not None and found["sgd_momentum"].saving_bytes > 0


def test_adapters_are_not_for_convolutions():
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.Conv2d(32, 32, 3), nn.Flatten(), nn.Linear(512, 4)
    )
    found = by_id(record(trained(model, torch.randn(4, 3, 8, 8))))
    assert not found["train_adapters"].applies
    assert "linear layers" in str(found["train_adapters"].why)
    assert by_id(record(trained(linear(64, 256, 256), torch.randn(8, 64))))[
        "train_adapters"
    ].applies


def test_inference_is_not_told_of_training_nor_training_of_inference():
    model, batch = linear(64, 512, 512).eval(), torch.randn(4096, 64)

    def evaluate():
        with torch.no_grad():
            model(batch)

    def evaluate_in_parts():
        with torch.no_grad():
            torch.cat([model(part) for part in batch.chunk(2)])

    # An earlier training keeps its gradients and states: they are no reason to advise a trainer.
    earlier = trained(linear(64, 256), torch.randn(8, 64))
    earlier()
    data = record(evaluate)
    found = by_id(data)
    helping = {name for name, one in found.items() if one.applies}
    assert helping == {"load_in_bf16", "batch_in_parts"}
    assert "Nothing is trained here" in str(found["checkpoint_layers"].why)
    # Weights, batch and what two layers put out, 4 bytes each; they are halved.
    own = 4 * (sum(one.numel() for one in model.parameters()) + 4096 * (64 + 2 * 512))
    assert found["load_in_bf16"].saving_bytes >= 0.98 * own / 2
    # Weights that other tests have left alive may be halved too, but nothing by more.
    assert found["load_in_bf16"].peak >= 0.99 * advise(data).base.peak / 2
    truth = int(allocated(record(evaluate_in_parts), 0).max())
    assert found["batch_in_parts"].peak <= truth
    of_training = by_id(record(trained(linear(64, 256), torch.randn(8, 64))))
    assert not of_training["load_in_bf16"].applies and not of_training["batch_in_parts"].applies
    assert of_training["bf16_weights"].applies


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.9])
def test_sets_stand_from_mild_to_harsh_be_there_one_that_fits_or_none(share):
    data = record(trained(linear(64, 256, 256, 256, 8), torch.randn(256, 64)))
    advised = advise(data, budget=int(share * advise(data).base.peak))
    harm = {one.id: one.harm for one in advised.remedies}
    worst = [max(harm[name] for name in one.ids) for one in mild_to_harsh(advised)]
    assert worst == sorted(worst) and worst
    ids = [set(one.ids) for one in mild_to_harsh(advised)]
    for number, (one, harm_of_one) in enumerate(zip(ids, worst, strict=True)):
        alike = [two for two, its in zip(ids[:number], worst, strict=False) if its == harm_of_one]
        assert not any(two <= one for two in alike)
    first = advised.combinations[0]
    others = advised.combinations[1:]
    if first.fits:
        milder = [
            one for one in others if max(harm[i] for i in one.ids) < max(harm[i] for i in first.ids)
        ]
        assert not any(one.fits for one in milder)
    else:
        assert first.peak == min(one.peak for one in advised.combinations)
        assert "Nothing that was weighed fits" in render_advice(advised)


def test_that_nothing_fits_is_said_only_where_no_remedy_does():
    data = record(trained(linear(256, 1024, 1024, 8), torch.randn(4, 256)))
    unbound = advise(data)
    peaks = {one.peak for one in unbound.remedies if one.applies and one.peak is not None}
    chosen = set()
    for budget in sorted({*peaks, *(peak - 1 for peak in peaks)} - {unbound.base.peak}):
        advised = advise(data, budget=budget)
        first = advised.combinations[0]
        helping = [one for one in advised.remedies if one.applies and one.peak is not None]
        fitting = [one.id for one in helping if one.peak <= budget]
        assert first.fits == ("The mildest that fits" in render_advice(advised))
        assert first.fits or not fitting
        chosen.add(first.ids)
    assert ("train_adapters",) in chosen


def test_where_nothing_helps_that_is_said():
    # In a process of its own: of what other tests have left alive, something would help.
    program = """
import torch, memtrack
with memtrack.track() as tracked:
    torch.ones(4096).sum()
print(memtrack.advise(tracked))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "Nothing that was weighed helps here" in done.stdout
