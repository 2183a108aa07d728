"""What is noted when the allocator fails: once attached, never raising, keeping nothing of the user's."""

import gc
import sys
import threading
import weakref

import pytest
import torch
from torch import nn

from memtrack.capture import failure, torch_api
from memtrack.capture.failure import failure_like, forget_failures, ignore_failures, watch_failures
from memtrack.capture.lasterror import held_by_last_error

MIB = 1 << 20


class FakeAllocator:
    """CUDA's allocator as the observer sees it, on a build without CUDA."""

    def __init__(self, monkeypatch):
        self.observers = []
        self.queued = []
        self.is_initialised = True
        self.refuses = False
        self.history = False
        self.statistics = {"allocated_bytes": {"all": {"current": 5 * MIB, "peak": 6 * MIB}}}
        self.snapshots = []
        monkeypatch.setattr(torch_api._C, torch_api._ATTACH, self.attach, raising=False)
        monkeypatch.setattr(torch_api._C, "_cuda_memorySnapshot", self.snapshot, raising=False)
        monkeypatch.setattr(torch.cuda, "_lazy_call", self.lazy_call)
        monkeypatch.setattr(torch_api, "history_is_on", lambda: self.history)
        monkeypatch.setattr(torch_api, "cuda_statistics", lambda _: self.statistics)
        monkeypatch.delattr(torch.cuda, torch_api._TRAMPOLINE, raising=False)

    def attach(self, observer):
        if self.refuses:
            raise RuntimeError("cudaMallocAsync does not yet support attachOutOfMemoryObserver")
        self.observers.append(observer)

    def lazy_call(self, callback):
        if self.is_initialised:
            callback()
        else:
            self.queued.append(callback)

    def snapshot(self, asked=None):
        self.snapshots.append(asked)
        return {
            "segments": [{"device": 0, "total_size": 8 * MIB}, {"device": 1, "total_size": MIB}],
            "device_traces": [[], []],
            "allocator_settings": {"expandable_segments": False},
        }

    def fail(self, device=0, segment=20 * MIB, allowed=64 * MIB, free=2 * MIB):
        for observer in self.observers:
            observer(device, segment, allowed, free)


@pytest.fixture
def allocator(monkeypatch):
    fake = FakeAllocator(monkeypatch)
    yield fake
    ignore_failures()
    monkeypatch.undo()
    if hasattr(torch.cuda, torch_api._TRAMPOLINE):
        delattr(torch.cuda, torch_api._TRAMPOLINE)


def test_one_observer_however_often_it_is_asked_for(allocator):
    for _ in range(3):
        watch_failures()
        ignore_failures()
    watch_failures()
    assert len(allocator.observers) == 1
    allocator.fail()
    assert len(failure._caught) == 1


def test_another_copy_of_the_module_uses_the_observer_that_is_there(allocator):
    watch_failures()
    told = []
    torch_api.on_out_of_memory(lambda *figures: told.append(figures))
    assert len(allocator.observers) == 1
    allocator.fail()
    assert told == [(0, 20 * MIB, 64 * MIB, 2 * MIB)] and not failure._caught


def test_it_waits_for_cuda_and_never_initialises_it(allocator):
    allocator.is_initialised = False
    watch_failures()
    watch_failures()
    assert allocator.observers == [] and len(allocator.queued) == 1
    allocator.queued[0]()
    allocator.fail()
    assert len(failure._caught) == 1


def test_an_allocator_that_refuses_is_left_alone(allocator):
    allocator.refuses = True
    watch_failures()
    assert allocator.observers == []


def test_a_build_without_an_observer_gets_nothing(allocator, monkeypatch):
    monkeypatch.delattr(torch_api._C, torch_api._ATTACH)
    watch_failures()
    assert not hasattr(torch.cuda, torch_api._TRAMPOLINE) and allocator.queued == []


@pytest.mark.parametrize("error", [RuntimeError("ours"), MemoryError(), KeyboardInterrupt()])
def test_nothing_is_ever_raised_into_the_allocator(allocator, monkeypatch, error):
    def broken(*_):
        raise error

    monkeypatch.setattr(failure, "place_here", broken)
    watch_failures()
    allocator.fail()
    assert not failure._caught


def test_figures_state_and_statistics_of_the_device_that_failed(allocator):
    watch_failures()
    allocator.fail(device=1, segment=20 * MIB, allowed=50 * MIB, free=3 * MIB)
    caught = failure_like(20 * MIB, 1)
    assert (caught.device, caught.segment, caught.allowed, caught.free) == (
        1,
        20 * MIB,
        50 * MIB,
        3 * MIB,
    )
    assert [segment["total_size"] for segment in caught.snapshot["segments"]] == [MIB]
    assert caught.snapshot["allocator_settings"] == {"expandable_segments": False}
    assert caught.statistics["allocated_bytes.all.current"] == 5 * MIB
    assert caught.recording == "" and caught.time_ns > 1e18


def test_history_is_not_read_while_the_run_waits(allocator):
    allocator.history = True
    watch_failures()
    allocator.fail()
    assert (
        None not in allocator.snapshots
    )  # asked without traces, where this torch can, or not at all


def test_only_the_latest_are_kept(allocator):
    watch_failures()
    for number in range(1, 10):
        allocator.fail(segment=number * 2 * MIB)
    assert [one.segment // MIB for one in failure._caught] == [14, 16, 18]
    assert failure_like(None, None).segment == 18 * MIB
    forget_failures()
    assert failure_like(None, None) is None


def test_a_message_finds_its_failure_by_rounded_figures(allocator):
    watch_failures()
    allocator.fail(device=0, segment=2_548_039_680)  # printed as 2.37 GiB
    allocator.fail(device=1, segment=2 * MIB)  # one that torch caught itself
    printed = round(2.37 * 2**30)
    assert failure_like(printed, 0).segment == 2_548_039_680
    assert failure_like(printed, 1) is None
    assert failure_like(4 * MIB, None) is None


class Inner(nn.Module):
    def __init__(self, allocator):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.fail = allocator.fail

    def forward(self, x):
        self.fail()
        return self.linear(x)


class Outer(nn.Module):
    def __init__(self, allocator):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.ModuleDict({"attn": Inner(allocator)})])

    def forward(self, x):
        return self.blocks[1]["attn"](self.blocks[0](x))


def place():
    return failure_like(None, None).where()


def test_layer_and_phase_of_forward_come_from_the_stack(allocator):
    watch_failures()
    Outer(allocator)(torch.ones(1, 2))
    assert (place().phase, place().layer) == ("forward", "blocks.1.attn")
    assert place().site.startswith(__file__)


def test_a_model_called_by_itself_is_named_after_its_class(allocator):
    watch_failures()
    Inner(allocator)(torch.ones(1, 2))
    assert (place().phase, place().layer) == ("forward", "Inner")


def test_backward_is_named_by_the_parameter_whose_gradient_is_due(allocator):
    watch_failures()
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))

    class Failing(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if "mm" in str(function) and torch_api.graph_task_id() != -1:
                allocator.fail()
            return function(*args, **(kwargs or {}))

    loss = model(torch.ones(1, 2)).sum()
    with Failing():
        loss.backward()
    layers = [one.where().layer for one in failure._caught]
    assert {one.where().phase for one in failure._caught} == {"backward"}
    assert set(layers) == {"0", "2"}


def test_checkpointing_computes_forward_again_in_backward(allocator):
    from torch.utils.checkpoint import checkpoint

    watch_failures()
    model = Outer(allocator)
    output = checkpoint(model, torch.ones(1, 2, requires_grad=True), use_reentrant=False)
    assert place().phase == "forward"
    output.sum().backward()
    assert (place().phase, place().layer) == ("backward", "blocks.1.attn")


def test_optimizer_step_is_known(allocator):
    class Greedy(torch.optim.SGD):
        def _init_group(self, *args, **kwargs):
            allocator.fail()
            return super()._init_group(*args, **kwargs)

    watch_failures()
    model = nn.Linear(2, 2)
    optimizer = Greedy(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert (place().phase, place().layer) == ("optimizer", "")


def test_an_active_recorder_tells_the_step(allocator):
    from memtrack.capture import Recorder

    watch_failures()
    model = Outer(allocator)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(model, optimizer)
    recorder.attach()
    recorder.enter()
    try:
        for _ in range(3):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    finally:
        recorder.leave()
        recorder.detach()
    assert [one.place.step for one in failure._caught] == [1, 2, 3]
    assert (place().phase, place().layer) == ("forward", "blocks.1.attn")
    assert failure_like(None, None).recording == recorder.identifier


def test_nothing_of_the_users_is_kept(allocator):
    watch_failures()
    model = Outer(allocator)
    batch = torch.ones(1, 2)
    model(batch)
    alive = weakref.ref(model), weakref.ref(batch)
    del model, batch
    gc.collect()
    assert [one() for one in alive] == [None, None]
    assert failure_like(None, None).place.layer == "blocks.1.attn"


def test_other_threads_fail_too(allocator):
    watch_failures()
    thread = threading.Thread(target=Outer(allocator), args=(torch.ones(1, 2),))
    thread.start()
    thread.join()
    assert (place().phase, place().layer) == ("forward", "blocks.1.attn")


def _failing(size, kept):
    local = torch.empty(size, dtype=torch.uint8)
    listed = [torch.empty(100, dtype=torch.uint8), kept]
    raise RuntimeError(f"{local.nbytes} {len(listed)}")


def test_what_the_last_error_holds_is_counted_without_the_names_of_a_cell(monkeypatch):
    names = {"_failing": _failing, "kept": torch.empty(7, dtype=torch.uint8)}
    try:
        exec("_failing(1000, kept)", names)
    except RuntimeError as error:
        monkeypatch.setattr(sys, "last_traceback", error.__traceback__, raising=False)
    held = held_by_last_error(torch.device("cpu"))
    assert [(one.name, one.kind, one.bytes) for one in held] == [
        ("sys.last_value", "exception", 1100)
    ]
    assert held_by_last_error(torch.device("meta")) == []


def test_without_a_last_error_nothing_is_held(monkeypatch):
    monkeypatch.delattr(sys, "last_traceback", raising=False)
    assert held_by_last_error(torch.device("cpu")) == []


def test_a_tracked_block_notes_failures_and_leaves_them_for_explain(allocator):
    import memtrack

    model = Outer(allocator)
    with memtrack.track(model) as recording:
        model(torch.ones(1, 2))
    caught = failure_like(None, None)
    assert caught.recording == recording.data.facts.identifier
    assert (caught.place.layer, caught.place.step) == ("blocks.1.attn", 1)
    allocator.fail()
    assert failure_like(None, None) is caught


def test_a_tracked_block_does_not_end_the_watch_of_another(allocator):
    import memtrack

    watch_failures()
    with memtrack.track(nn.Linear(2, 2)):
        pass
    allocator.fail()
    assert failure_like(None, None) is not None
