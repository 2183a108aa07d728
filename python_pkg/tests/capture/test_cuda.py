"""Recording on a CUDA device: the allocator's truth, named, and nothing of ours on the device."""

from __future__ import annotations

import gc

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from models import MODELS  # noqa: E402
from torch import nn  # noqa: E402

from memtrack.analysis.layers import layer_table  # noqa: E402
from memtrack.analysis.peak import peak  # noqa: E402
from memtrack.capture import Recorder, passes  # noqa: E402
from memtrack.recording.categories import Category, PhaseKind  # noqa: E402

pytestmark = pytest.mark.gpu
KINDS = [PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER]


@pytest.fixture(autouse=True)
def clean_device():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.init()
    yield
    gc.collect()


def on_cuda(name):
    torch.manual_seed(0)
    with torch.device("cuda"):
        model, step = MODELS[name]()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])

    def train():
        optimizer.zero_grad()
        step().backward()
        optimizer.step()

    return model, optimizer, train


@pytest.mark.parametrize("name", MODELS)
def test_peak_equals_the_allocators_own(name):
    model, _optimizer, train = on_cuda(name)
    train()
    recorder = Recorder(model, label=name)
    recorder.enter()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(3):
        train()
    recorder.leave()
    highest = torch.cuda.max_memory_allocated()
    data = recorder.finish()
    data.self_check()
    assert data.facts.source == "allocator"
    assert data.steps == 3
    found = peak(data, 0).bytes
    assert abs(found - highest) <= 0.001 * highest, (found, highest)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_named_sums_to_what_torch_says(name):
    model, optimizer, train = on_cuda(name)
    recorder = Recorder(model, label=name)
    recorder.enter()
    for _ in range(3):
        train()
    recorder.leave()
    data = recorder.finish()
    alive = data.allocations["end"] == data.cuts

    def asked(category):
        chosen = alive & (data.allocations["category"] == category)
        return int(data.allocations["requested"][chosen].sum())

    def stored(tensors):
        sizes = {
            t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tensors if t.is_cuda
        }
        return sum(sizes.values())

    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    states = [
        v for s in optimizer.state.values() for v in s.values() if isinstance(v, torch.Tensor)
    ]
    assert asked(Category.PARAMETER) == stored(model.parameters())
    assert asked(Category.BUFFER) == stored(model.buffers())
    assert asked(Category.GRADIENT) == stored(gradients)
    assert asked(Category.OPTIMIZER_STATE) == stored(states)
    kinds = [k for k in data.phases["kind"].tolist() if k != PhaseKind.OTHER]
    assert kinds == KINDS * 3
    table = layer_table(data, 0)
    made = np.isin(data.allocations["category"], (Category.ACTIVATION, Category.OUTPUT))
    by_layers = made & (data.allocations["layer"] >= 0)
    share = data.allocations["bytes"][by_layers].sum() / data.allocations["bytes"][made].sum()
    assert share > 0.7  # the rest is the loss, outside the model
    assert int(table.columns["saved"].sum()) > 0


@pytest.mark.parametrize("name", MODELS)
def test_steps_that_go_unwatched_are_told_as_if_watched(name, monkeypatch):
    def recorded():
        model, _optimizer, train = on_cuda(name)
        recorder = Recorder(model, label=name)
        recorder.enter()
        for _ in range(9):
            train()
        recorder.leave()
        return recorder.finish(), recorder

    short, recorder = recorded()
    watched = recorder._observer.passes.columns()["watched"].tolist()
    assert watched[:3] == [1, 1, 1] and watched[-3:] == [0, 0, 0]
    short.self_check()
    monkeypatch.setattr(passes, "AGREEMENTS", 10**6)
    whole, _ = recorded()
    for told, expected in zip(_told(short), _told(whole), strict=True):
        assert len(told) == len(expected)
        differ = [pair for pair in zip(told, expected, strict=True) if pair[0] != pair[1]]
        assert differ == []


def _told(data):
    """What a recording says of the blocks of its last three steps, in order, times left out."""
    table, calls, phases = data.allocations, data.calls, data.phases
    recent = np.flatnonzero((table["phase"] >= 0) & (phases["step"][table["phase"]] >= 6))
    recent = recent[np.argsort(table["start"][recent], kind="stable")]
    paths = [data.string(int(path)) for path in data.layers["path"]] + [""]
    blocks = [
        (
            int(table["requested"][row]),
            Category(table["category"][row]).name,
            data.string(int(table["name"][row])),
            paths[table["layer"][row]],
            int(phases["kind"][table["phase"][row]]),
            paths[calls["layer"][table["call"][row]]] if table["call"][row] >= 0 else "",
            data.string(int(calls["output_shape"][table["call"][row]])),
        )
        for row in recent.tolist()
    ]
    place = {row: number for number, row in enumerate(recent.tolist())}
    saved = [
        (place[row], paths[calls["layer"][call]] if call >= 0 else "")
        for call, row in zip(
            data.saved["call"].tolist(), data.saved["allocation"].tolist(), strict=True
        )
        if row in place
    ]
    counted = np.bincount(calls["layer"], minlength=len(data.layers)).tolist()
    return blocks, sorted(saved), counted


def test_tracking_adds_no_byte_and_leaves_history_off():
    model, _optimizer, train = on_cuda("gpt2")
    train()
    train()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    counted = torch.cuda.memory_stats()["allocation.all.allocated"]
    train()
    torch.cuda.synchronize()
    per_step = torch.cuda.memory_stats()["allocation.all.allocated"] - counted
    recorder = Recorder(model)
    recorder.enter()
    counted = torch.cuda.memory_stats()["allocation.all.allocated"]
    train()
    torch.cuda.synchronize()
    assert torch.cuda.memory_stats()["allocation.all.allocated"] - counted == per_step
    recorder.leave()
    recorder.finish()
    assert torch.cuda.memory_allocated() == before
    assert not torch._C._cuda_isHistoryEnabled()


def test_history_of_the_user_stays_on():
    torch.cuda.memory._record_memory_history(max_entries=10_000)
    try:
        earlier = torch.empty(1 << 20, device="cuda")
        model, _optimizer, train = on_cuda("lstm")
        recorder = Recorder(model)
        recorder.enter()
        train()
        recorder.leave()
        data = recorder.finish()
        data.self_check()
        assert torch._C._cuda_isHistoryEnabled()
        old = data.allocations["address"] == earlier.data_ptr()
        assert data.allocations["start"][old].tolist() == [-1]
    finally:
        torch.cuda.memory._record_memory_history(None)


def test_out_of_memory_in_forward_leaves_a_whole_recording():
    class Greedy(nn.Module):
        def forward(self, x):
            return torch.empty(1 << 50, device="cuda")

    model = nn.Sequential(nn.Linear(8, 8), Greedy()).cuda()
    recorder = Recorder(model)
    recorder.enter()
    with pytest.raises(torch.cuda.OutOfMemoryError):
        model(torch.randn(2, 8, device="cuda"))
    recorder.leave()
    data = recorder.finish("failed")
    data.self_check()
    assert data.calls["failed"].tolist() == [1, 0, 1]


def test_clock_of_hooks_and_of_history_agree():
    """An allocation made inside a module lies inside its call, for every call of many."""

    class Makes(nn.Module):
        def forward(self, x):
            return torch.empty(1 << 16, device="cuda")

    model = nn.Sequential(*(Makes() for _ in range(500)))
    model.register_parameter("p", nn.Parameter(torch.zeros(1, device="cuda")))
    recorder = Recorder(model)
    recorder.enter()
    model(torch.zeros(1, device="cuda"))
    recorder.leave()
    data = recorder.finish()
    # Other tests may have left a block of this size; it was there before.
    made = (data.allocations["requested"] == 4 << 16) & (data.allocations["start"] >= 0)
    assert int(made.sum()) == 500
    depth_one = data.allocations["layer"][made] > 0
    assert depth_one.mean() > 0.99
