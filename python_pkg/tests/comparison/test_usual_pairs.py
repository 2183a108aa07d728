"""What people really change between two runs: right layers, right bytes, natural words. Real recordings."""

import gc
from dataclasses import replace

import pytest
from compared_runs import check

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import memtrack  # noqa: E402
from memtrack.comparison import compare  # noqa: E402
from memtrack.recording import RecordingData  # noqa: E402
from memtrack.reports.comparison import Diff  # noqa: E402
from memtrack.units import format_bytes, format_change  # noqa: E402

WIDTH, ROWS, FLOAT = 32, 64, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.act, self.down = nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH)

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, blocks=4):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(Block() for _ in range(blocks))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class LoRA(nn.Module):
    """As PEFT's layers are: what it was is kept as `base_layer`."""

    def __init__(self, layer, rank):
        super().__init__()
        self.base_layer = layer.requires_grad_(False)
        self.lora_A = nn.Linear(layer.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, layer.out_features, bias=False)

    def forward(self, x):
        return self.base_layer(x) + self.lora_B(self.lora_A(x))


class Inside(nn.Module):
    """A wrapper that keeps the model under a name of its own, as a LightningModule does."""

    def __init__(self, model):
        super().__init__()
        self.net = model

    def forward(self, x):
        return self.net(x)


def trained(model, rows=ROWS, label="net", call=None):
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    gc.collect()  # a run before would be alive in this one
    with memtrack.track(model, optimizer, label=label) as recording:
        for _ in range(2):
            (model if call is None else call)(torch.ones(rows, WIDTH)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return recording.data


@pytest.fixture(scope="module")
def base():
    return trained(Net())


def compared(a, b):
    diff = Diff(compare(a, b))
    check(diff.found, a, b)
    told = [one for one in map(str, diff.details) if not one.startswith("A step takes")]
    return diff, str(diff.sentence), "\n".join(told)  # how fast steps are is the machine's


def moved(diff, category):
    return next(one for one in diff.movers if one.category == category and not one.rest)


def test_the_same_model_twice(base):
    diff, sentence, details = compared(base, trained(Net()))
    assert sentence == f"The peak is the same: {format_bytes(diff.found.b.peak.bytes)}"
    assert (details, diff.settings) == ("", [])


def test_a_few_bytes_more_are_almost_the_same(base):
    model = Net()
    model.register_buffer("counter", torch.zeros(2))
    diff, sentence, _ = compared(base, trained(model))
    assert diff.peak_change == 2 * FLOAT
    assert sentence.startswith("The peak is almost the same, ") and sentence.endswith(" +8 B")


def test_lora_is_told_as_what_it_adds_to_each_layer(base):
    model = Net()
    for layer in model.layers:
        layer.up = LoRA(layer.up, 4)
    diff, _, details = compared(base, trained(model))
    names = "net.layers.*.up → net.layers.*.up.base_layer (layers: 4, 90 %)"
    assert f"Other names or places, and how sure: {names}" in details
    added = [f"net.layers.*.up.lora_{one} (layers: 4)" for one in "AB"]
    assert f"Added: {', '.join(added)}" in details and "Removed" not in details
    assert moved(diff, "parameter").change == FLOAT * 4 * (4 * WIDTH + 4 * 64)
    assert moved(diff, "parameter").where == "net.layers.*.up"


@pytest.mark.parametrize("wrapped", [nn.DataParallel, Inside, lambda m: Inside(Inside(m))])
def test_a_model_that_is_wrapped_is_the_same_model(base, wrapped):
    model = wrapped(Net())
    data = trained(model)
    inner = next(path for path, one in model.named_modules() if isinstance(one, Net))
    for pair in ((base, data), (data, base)):
        diff, sentence, details = compared(*pair)
        assert sentence.startswith("The peak is the same: ")
        one, other = ("net", f"net.{inner}") if pair[0] is base else (f"net.{inner}", "net")
        assert details == f"Other names or places, and how sure: {one} → {other} (90 %)"
        known = [path for path in diff.found.path if path.endswith("layers.2.up")]
        assert len(known) == 1


def test_every_block_wrapped_as_for_checkpointing_or_fsdp(base):
    wrapper = pytest.importorskip("torch.distributed.algorithms._checkpoint.checkpoint_wrapper")
    model = Net()
    for number in range(4):
        model.layers[number] = wrapper.checkpoint_wrapper(model.layers[number])
    diff, sentence, details = compared(base, trained(model))
    names = "net.layers.* → net.layers.*._checkpoint_wrapped_module (layers: 4, 90 %)"
    assert f"Other names or places, and how sure: {names}" in details
    assert "Added" not in details and "Removed" not in details
    assert moved(diff, "activation").change < 0
    assert "activations of net.layers.*" in sentence


def test_compiled_or_not(base):
    model = Net()
    diff, sentence, details = compared(
        base, trained(model, call=torch.compile(model, backend="eager"))
    )
    assert sentence.startswith(("The peak is", "Peak "))
    assert "Added" not in details and "Removed" not in details and "Other names" not in details
    assert diff.found.matches.added == diff.found.matches.removed == []


def test_twice_the_batch(base):
    diff, sentence, details = compared(base, trained(Net(), rows=2 * ROWS))
    activations = moved(diff, "activation")
    assert activations.where == "net.layers.*" and activations.layers == 4
    assert (
        f"activations of net.layers.* (layers: 4) {format_change(activations.change)}" in sentence
    )
    assert diff.found.categories["parameter"][0] == diff.found.categories["parameter"][1]
    assert details == ""
    (batch,) = diff.settings
    assert (batch.name, batch.before[-10:], batch.after[-10:]) == (
        "run.batches",
        "64×32 float32"[-10:],
        "128×32 float32"[-10:],
    )


def test_a_list_of_layers_that_is_longer(base):
    longer = trained(Net(12))
    diff, _, details = compared(base, longer)
    assert "Added: net.layers.4 to 11" in details and "Removed" not in details
    block = sum(p.numel() for p in Block().parameters())
    more = moved(diff, "parameter")
    assert (more.change, more.where, more.layers) == (8 * block * FLOAT, "net.layers.*", 8)
    _, _, details = compared(longer, base)
    assert "Removed: net.layers.4 to 11" in details and "Added" not in details


def test_another_model(base):
    other = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, 8))
    _, _, details = compared(base, trained(other, label="mlp"))
    assert "The model's class is Sequential now; it was Net." in details
    assert "Added: mlp." in details and "Removed: net.layers" in details


def test_another_torch(base):
    facts = replace(base.facts, versions={**base.facts.versions, "torch": "1.13.1+cu117"})
    diff, sentence, details = compared(base, RecordingData(facts, base.strings, base.tables))
    assert sentence.startswith("The peak is the same: ") and details == ""
    (change,) = diff.settings
    assert (change.name, change.before, change.after) == (
        "torch",
        base.facts.versions["torch"],
        "1.13.1+cu117",
    )
