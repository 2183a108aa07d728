"""Layers that repeat although their class is only Sequential: found, checkpointed, as in a true run."""

import pytest

import memtrack

torch = pytest.importorskip("torch")

from torch.utils.checkpoint import checkpoint  # noqa: E402

from memtrack.recording import Category  # noqa: E402
from memtrack.remedies.base import Ground, repeated_layers  # noqa: E402


class Blocks(torch.nn.Module):
    """Six alike Sequentials in a Sequential, each checkpointed or not."""

    def __init__(self, widths=(256,) * 6, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.out = torch.nn.Linear(64, 4)
        self.blocks = torch.nn.Sequential(
            *(
                torch.nn.Sequential(
                    torch.nn.Linear(64, wide), torch.nn.GELU(), torch.nn.Linear(wide, 64)
                )
                for wide in widths
            )
        )

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.out(x)


def recorded(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.randn(1024, 64)
    with memtrack.track(model, optimizer, history=False) as recording:
        for _ in range(3):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
    return recording


def stood(recording):
    """Return the bytes alive before the first event that are not the model's."""
    table = recording.data.allocations
    rows = (table["start"] < 0) & (table["category"] != Category.PARAMETER)
    return int(table["bytes"][rows].sum())


def repeated_paths(recording):
    data = recording.data
    rows = repeated_layers(Ground.of(data, 0))
    return [data.string(int(data.layers["path"][row])) for row in rows]


def test_alike_sequentials_are_checkpointed_as_a_run_with_it_was():
    _kept_by_another = torch.zeros(3_000_000)
    before, after = recorded(Blocks()), recorded(Blocks(checkpointed=True))
    assert repeated_paths(before) == [f"model.blocks.{number}" for number in range(6)]
    told = next(one for one in memtrack.advise(before) if one.id == "checkpoint_layers")
    assert told.applies
    # What other tests have left alive is no part of either run.
    assert before.peak.bytes - stood(before) > 2 * (after.peak.bytes - stood(after))
    truth = after.peak.bytes - stood(after)
    assert told.peak - stood(before) == pytest.approx(truth, rel=0.001)


def test_sequentials_of_different_sizes_do_not_repeat():
    assert repeated_paths(recorded(Blocks(widths=(256, 128, 64)))) == []


def test_what_stands_alone_is_left_out():
    assert repeated_paths(recorded(Blocks(widths=(256, 256, 64)))) == [
        "model.blocks.0",
        "model.blocks.1",
    ]
