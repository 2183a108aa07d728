"""Totals of the layer table equal sums taken a second way, to the byte, on real models."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from checks import check_recording  # noqa: E402
from models import MODELS  # noqa: E402

from memtrack.analysis.layers import layer_table  # noqa: E402
from memtrack.capture import Recorder, watched  # noqa: E402
from memtrack.recording.categories import Category  # noqa: E402


def storage_bytes(tensors) -> int:
    """Sum of the storages behind `tensors`, each once."""
    storages = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tensors}
    return sum(storages.values())


def saved_by_walking(loss, model) -> int:
    """Bytes the graph behind `loss` keeps, found by reading every node's saved attributes.

    Python numbers that autograd wraps in a float64 scalar are not tensors of the run.
    """
    owned = {t.untyped_storage()._cdata for t in (*model.parameters(), *model.buffers())}
    found, seen, queue = {}, set(), [loss.grad_fn]
    while queue:
        node = queue.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        queue += [following for following, _ in node.next_functions]
        names = [name for name in dir(node) if name.startswith("_saved_")]
        for value in (getattr(node, name) for name in names):
            for tensor in value if isinstance(value, (tuple, list)) else (value,):
                is_number = isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float64
                if isinstance(tensor, torch.Tensor) and not is_number:
                    storage = tensor.untyped_storage()
                    if storage._cdata not in owned:
                        found[storage._cdata] = (storage.nbytes(), tensor)
    return sum(size for size, _ in found.values())


def totals(table, column) -> int:
    """Sum of a column over all layers and what lies outside."""
    return int(table.columns[column].sum()) + table.outside[column]


@pytest.mark.parametrize(
    ("name", "calls_back"), [*((name, True) for name in MODELS), ("gpt2", False), ("lstm", False)]
)
def test_table_totals_equal_independent_sums(name, calls_back, monkeypatch):
    """Also where weak references to storages cannot call back, as in torch 2.1."""
    monkeypatch.setattr(watched, "CAN_CALL_BACK", calls_back and watched.CAN_CALL_BACK)
    torch.manual_seed(0)
    model, step = MODELS[name]()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    expected_saved = saved_by_walking(step(), model)

    recorder = Recorder(model, label=name)
    recorder.enter()
    for _ in range(3):
        optimizer.zero_grad()
        step().backward()
        optimizer.step()
    recorder.leave()
    data = recorder.finish()

    check_recording(data)
    assert data.steps == 3
    table = layer_table(data, 0)
    assert totals(table, "parameters") == storage_bytes(model.parameters())
    assert int(data.layers["parameters"].sum()) == sum(p.numel() for p in set(model.parameters()))
    assert totals(table, "buffers") == storage_bytes(model.buffers())
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert totals(table, "gradients") == storage_bytes(gradients)
    states = [
        v for s in optimizer.state.values() for v in s.values() if isinstance(v, torch.Tensor)
    ]
    assert totals(table, "optimizer") == storage_bytes(states)
    assert totals(table, "saved") == expected_saved
    unknown = data.allocations["category"] == Category.UNKNOWN
    assert not unknown.any()


@pytest.mark.parametrize("name", MODELS)
def test_tracked_run_is_bit_identical_to_an_untracked_one(name):
    def run(tracked):
        torch.manual_seed(7)
        model, step = MODELS[name]()
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
        recorder = Recorder(model) if tracked else None
        if recorder:
            recorder.enter()
        losses = []
        for _ in range(2):
            optimizer.zero_grad()
            loss = step()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach().clone())
        if recorder:
            recorder.leave()
            recorder.finish()
        gradients = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
        return losses, model.state_dict(), gradients, torch.get_rng_state()

    losses, state, gradients, generator = run(tracked=True)
    expected_losses, expected_state, expected_gradients, expected_generator = run(tracked=False)
    assert all(torch.equal(a, b) for a, b in zip(losses, expected_losses, strict=True))
    assert list(state) == list(expected_state)
    assert all(torch.equal(state[key], expected_state[key]) for key in state)
    assert gradients.keys() == expected_gradients.keys()
    assert all(torch.equal(gradients[key], expected_gradients[key]) for key in gradients)
    assert torch.equal(generator, expected_generator)
