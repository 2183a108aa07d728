"""Runs that are not one model in one loop with one optimizer, and words that are no budget."""

import time

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import memtrack  # noqa: E402
from memtrack.errors import UsageError  # noqa: E402
from memtrack.recording import Category  # noqa: E402
from memtrack.remedies import advise  # noqa: E402
from memtrack.remedies.catalogue import recipes  # noqa: E402


def network():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.Linear(256, 10))


def run(model, optimizers=(), *, steps=3, backward=True):
    """Return the recording of some steps."""
    batch = torch.randn(64, 64)
    with memtrack.track(model) as tracked:
        for _ in range(steps):
            loss = model(batch).sum()
            if backward:
                loss.backward()
            for one in optimizers:
                one.step()
                one.zero_grad()
    return tracked.data


def checked(data, budget=None):
    """Return advice by id, having asserted what holds of any."""
    found = advise(data, budget=budget)
    assert sorted(one.id for one in found.remedies) == sorted(one.id for one in recipes())
    for one in found.remedies:
        assert str(one.why)
        if one.peak is not None:
            assert one.saving_bytes == found.base.peak - one.peak
            assert one.low <= one.peak <= one.high
    for one in found.combinations:
        assert one.saving_bytes == found.base.peak - one.peak
        assert one.fits == (
            budget is None or max(one.peak, one.reserved or 0) + found.base.context <= budget
        )
    return {one.id: one for one in found.remedies}


def adam(model):
    return torch.optim.Adam([one for one in model.parameters() if one.requires_grad])


def test_forwards_without_backwards_are_evaluations_that_make_a_graph():
    evaluated = run(network(), backward=False)
    found = checked(evaluated)["inference_mode"]
    assert found.applies
    model = network()
    with torch.no_grad():
        without = run(model, backward=False)
    bare = checked(without)
    assert found.peak == advise(without).base.peak
    assert not bare["inference_mode"].applies
    for one in ("checkpoint_layers", "set_to_none", "accumulate_gradients", "ddp", "adafactor"):
        assert not bare[one].applies, one


def test_one_step_is_enough():
    model = network()
    found = checked(run(model, [adam(model)], steps=1))
    assert found["adafactor"].applies and found["bf16_weights"].applies


def test_without_an_optimizer_none_is_proposed():
    found = checked(run(network()))
    for one in ("adafactor", "sgd_momentum", "eight_bit_optimizer", "fused_optimizer"):
        assert not found[one].applies
        assert found[one].peak is None or found[one].saving_bytes <= 0


def test_several_optimizers_are_changed_together():
    def several(kind, **settings):
        model = nn.Sequential(network(), nn.Linear(10, 10))
        optimizers = [kind([one], **settings) for one in model.parameters()]
        assert len(optimizers) == 8
        return run(model, optimizers)

    adams = several(torch.optim.Adam)
    found = checked(adams)["sgd_momentum"]
    truth = advise(several(torch.optim.SGD, lr=0.1, momentum=0.9)).base
    assert found.applies
    assert found.peak == pytest.approx(truth.peak, abs=0.02 * advise(adams).base.peak)


def test_frozen_parameters_have_no_gradients_to_save():
    model = network()
    for one in model[:3].parameters():
        one.requires_grad_(False)
    data = run(model, [adam(model)])
    states = data.allocations["category"] == Category.OPTIMIZER_STATE
    most = int(data.allocations["bytes"][states].sum())
    found = checked(data)
    assert found["eight_bit_optimizer"].saving_bytes is None or (
        found["eight_bit_optimizer"].saving_bytes <= most
    )
    assert checked(run_frozen())["train_adapters"].applies is False


def run_frozen():
    model = network()
    for one in model.parameters():
        one.requires_grad_(False)
    return run(model, backward=False)


def test_what_runs_under_autocast_is_not_told_to():
    model = network()
    optimizer, batch = adam(model), torch.randn(64, 64)
    with memtrack.track(model) as tracked:
        for _ in range(2):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(batch).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    found = checked(tracked.data)
    assert not found["bf16_autocast"].applies
    assert "already" in str(found["bf16_autocast"].why)


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("DistributedDataParallel", {"ddp"}),
        ("FSDPLinear", {"ddp", "zero_1", "zero_2", "shard_the_model", "offload_to_cpu"}),
    ],
)
def test_what_is_spread_over_gpus_is_not_told_to(name, refused):
    model = network()
    kind = type(name, (nn.Sequential,), {})
    wrapped = kind(model)
    found = checked(run(wrapped, [adam(wrapped)]))
    told = {one for one in found if "GPUs already" in str(found[one].why)}
    assert told == refused


@pytest.mark.parametrize("share", [0.001, 0.4, 0.9, 1, 5])
def test_budgets_below_the_weights_and_above_the_peak(share):
    model = network()
    data = run(model, [adam(model)])
    base = advise(data).base
    budget = max(int(share * base.needed), 1)
    checked(data, budget)
    found = advise(data, budget=budget)
    assert found.fits == (share >= 1)
    first = found.combinations[0]
    if share >= 1:
        assert first.ids == () and first.peak == base.peak
    if share == 0.001:
        assert not first.fits
        assert first.peak == min(one.peak for one in found.combinations)


@pytest.mark.parametrize("wrong", [0, -5, 2.5, True, float("nan"), 1 << 80])
def test_numbers_that_are_no_budget(wrong):
    data = run(network(), steps=1)
    with pytest.raises(UsageError, match="above 0"):
        advise(data, budget=wrong)


@pytest.mark.parametrize("wrong", [0, 2.5, "8", True, 10**6])
def test_numbers_that_are_no_count_of_gpus(wrong):
    data = run(network(), steps=1)
    with pytest.raises(UsageError, match="number of GPUs"):
        advise(data, gpus=wrong)


def seconds_of_advice(layers):
    """Return how long a processor weighs remedies for a chain of so many layers, twice at best."""
    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(layers)))
    with memtrack.track(model, history=False) as tracked:
        model(torch.ones(1, 2)).sum().backward()
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        advise(tracked.data)
        best = min(best, time.process_time() - began)
    return best


def test_advice_takes_no_longer_for_each_layer_where_there_are_many():
    assert seconds_of_advice(2000) < 8 * seconds_of_advice(500)  # 4 in step, 16 and more in squares


def test_what_a_recording_cannot_tell_of_recurrent_layers_makes_an_estimate():
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.reader, self.head = nn.GRU(64, 256, batch_first=True), nn.Linear(256, 512)

        def forward(self, x):
            return self.head(self.reader(x.unsqueeze(1).expand(-1, 8, -1))[0])

    model, plain = Tagger(), network()
    recurrent = checked(run(model, [adam(model)]))["bf16_autocast"]
    assert recurrent.evidence == "estimated"
    assert str(recurrent.caveats[0]).startswith("Recurrent layers")
    other = checked(run(plain, [adam(plain)]))["bf16_autocast"]
    assert other.caveats == recurrent.caveats[1:]
