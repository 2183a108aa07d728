"""Two runs really recorded: what changed is known, and the bytes agree with both exactly."""

import gc

import numpy as np
import pytest
from compared_runs import check

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import memtrack  # noqa: E402
from memtrack.analysis import peak  # noqa: E402
from memtrack.comparison import compare  # noqa: E402


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.act, self.down = (
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
        )

    def forward(self, x):
        return x + self.down(self.act(self.up(x)))


class Net(nn.Module):
    def __init__(self, blocks=4, head=64, saving=False, name="h"):
        super().__init__()
        self.saving, self.name = saving, name
        setattr(self, name, nn.ModuleList(Block(32) for _ in range(blocks)))
        self.head = nn.Linear(32, head)

    def forward(self, x):
        for block in getattr(self, self.name):
            x = checkpoint(block, x, use_reentrant=False) if self.saving else block(x)
        return self.head(x)


def run(model, rows=256, steps=3):
    """Return the recording of a training of `model`."""
    torch.manual_seed(0)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    gc.collect()  # a run before, in cycles of its own, would be alive in this one
    with memtrack.track(model, optimizer) as recording:
        for _ in range(steps):
            model(torch.randn(rows, 32)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return recording.data


def test_nothing_changed():
    a, b = run(Net()), run(Net())
    found = compare(a, b)
    check(found, a, b)
    assert found.peak_change == 0 and found.settings == []
    assert all(
        (before == after).all()
        for name, (before, after) in found.columns.items()
        if not name.endswith("_ns")
    )


def test_checkpointing_takes_the_activations_of_the_blocks():
    a, b = run(Net()), run(Net(saving=True))
    found = compare(a, b)
    check(found, a, b)
    first = found.movers[0]
    assert first.category == "activation" and first.change < 0
    assert first.where.startswith("model.h.*") and first.layers == 4


def test_a_widened_head_is_named():
    a, b = run(Net()), run(Net(head=1024))
    found = compare(a, b)
    check(found, a, b)
    assert found.peak_change > 0
    row = found.path.index("model.head")
    before, after = found.columns["total_parameters"]
    assert (int(before[row]), int(after[row])) == (4 * (32 + 1) * 64, 4 * (32 + 1) * 1024)
    assert {one.where for one in found.movers if abs(one.change) > 50_000} <= {
        "model.head",
        "model",
        "",
    }
    assert [one for one, how in enumerate(found.matches.how) if how != "same"] == []


def test_renamed_blocks_change_nothing():
    a, b = run(Net()), run(Net(name="layers"))
    found = compare(a, b)
    check(found, a, b)
    assert found.peak_change == 0 and found.movers == []
    row = found.path.index("model.layers.2.up")
    assert found.former_path[row] == "model.h.2.up"


def test_a_frozen_encoder_has_no_gradients():
    model = Net()
    model.h.requires_grad_(False)
    a, b = run(Net()), run(model)
    found = compare(a, b)
    check(found, a, b)
    changes = {one.category: one for one in found.movers if not one.rest}
    elements = 4 * (32 * 128 + 128 + 128 * 32 + 32)
    steps = 4 * 4
    assert changes["optimizer_state"].change == -(2 * 4 * elements + 4 * steps)
    assert changes["optimizer_state"].where.startswith("model.h.*")


def test_a_block_more_is_added():
    a, b = run(Net(blocks=3)), run(Net(blocks=4))
    found = compare(a, b)
    check(found, a, b)
    added = [found.path[index] for index, row in enumerate(found.rows) if row.a < 0]
    assert added[0] == "model.h.3" and len(added) == 4


def test_axis_of_steps_is_in_order_and_ends_with_the_steps():
    data = run(Net())
    line = compare(data, data).a.line
    assert (np.diff(line.step) >= 0).all()
    assert line.step[0] == 0 and line.step[-1] == pytest.approx(data.steps, abs=1)
    assert line.allocated.max() == peak(data, 0).bytes
