"""What a recording does to the process it runs in: nothing."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import weakref

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.multiprocessing.reductions import StorageWeakRef  # noqa: E402

from memtrack.capture import Recorder  # noqa: E402
from memtrack.errors import UsageError  # noqa: E402
from memtrack.recording.categories import CallKind, Category, PhaseKind  # noqa: E402


def small_model():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def train(model, optimizer, steps=1):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(5, 8)).sum().backward()
        optimizer.step()


def recorded(run, **options):
    recorder = Recorder(**options)
    recorder.enter()
    try:
        run()
    finally:
        recorder.leave()
    data = recorder.finish()
    data.self_check()
    return data


def layer_rows(data):
    return {data.string(int(path)): row for row, path in enumerate(data.layers["path"])}


def bytes_of(data, category):
    mask = data.allocations["category"] == category
    return int(data.allocations["bytes"][mask & (data.allocations["end"] == data.cuts)].sum())


def test_known_sizes_of_a_linear_layer():
    model = nn.Linear(10, 3)
    optimizer = torch.optim.Adam(model.parameters())

    def run():
        model(torch.randn(7, 10)).sum().backward()
        optimizer.step()

    data = recorded(run, model=model, label="linear")
    assert bytes_of(data, Category.PARAMETER) == (10 * 3 + 3) * 4
    assert bytes_of(data, Category.GRADIENT) == (10 * 3 + 3) * 4
    assert bytes_of(data, Category.OPTIMIZER_STATE) == 2 * (10 * 3 + 3) * 4 + 2 * 4
    call = data.calls.row(0)
    assert call["output_bytes"] == 7 * 3 * 4
    assert data.string(call["output_shape"]) == "7×3"
    assert data.string(call["output_dtype"]) == "float32"
    assert call["needs_grad"] == 1
    saved = data.saved["allocation"]
    inputs = [r for r in saved if data.allocations["category"][r] == Category.INPUT]
    assert [int(data.allocations["bytes"][r]) for r in inputs] == [7 * 10 * 4]


def test_steps_end_the_recording_and_take_every_hook_off_at_once():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(model, steps=2)
    recorder.enter()
    train(model, optimizer, steps=5)
    assert recorder.finished
    assert recorder.state == "complete"
    recorder.leave()
    assert recorder.data().steps == 2


def test_the_last_step_of_a_cell_counts():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(model, steps=2)
    recorder.enter()
    train(model, optimizer, steps=2)
    recorder.leave()
    assert recorder.finished
    assert recorder.data().steps == 2


def test_recording_goes_on_from_cell_to_cell():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(model)
    for _ in range(3):
        recorder.enter()
        train(model, optimizer)
        recorder.leave()
    data = recorder.finish()
    data.self_check()
    assert data.steps == 3


def test_nothing_is_kept_alive():
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())
    recorder = Recorder(model, optimizer)
    recorder.enter()
    batch = torch.randn(5, 8)
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    watched = [weakref.ref(o) for o in (model, optimizer, batch, loss, *model.parameters())]
    gradients = [StorageWeakRef(p.grad.untyped_storage()) for p in model.parameters()]
    recorder.leave()
    data = recorder.finish()
    del model, optimizer, batch, loss
    gc.collect()
    assert [w() for w in watched] == [None] * len(watched)
    assert all(gradient.expired() for gradient in gradients)
    assert data.steps == 1


def test_activations_die_as_early_as_without_us():
    model = small_model()
    gc.disable()
    try:

        def run():
            output = model[1](model[0](torch.randn(5, 8)))
            storage = StorageWeakRef(output.untyped_storage())
            del output
            assert storage.expired()

        recorded(run, model=model)
    finally:
        gc.enable()


def test_exception_in_a_layer_leaves_the_users_error_and_a_whole_recording():
    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("the user's own")

    model = nn.Sequential(nn.Linear(8, 8), Failing())
    recorder = Recorder(model)
    recorder.enter()
    with pytest.raises(ValueError, match="the user's own"):
        model(torch.randn(2, 8))
    recorder.leave()
    data = recorder.finish("failed")
    data.self_check()
    assert data.facts.state == "failed"
    paths = layer_rows(data)
    failed = {
        int(layer): int(f)
        for layer, f in zip(data.calls["layer"], data.calls["failed"], strict=True)
    }
    assert failed == {paths["model"]: 1, paths["model.0"]: 0, paths["model.1"]: 1}


def test_interrupt_caught_by_the_user_does_not_spoil_the_next_step():
    class Interrupted(nn.Module):
        fired = False

        def forward(self, x):
            if not Interrupted.fired:
                Interrupted.fired = True
                raise KeyboardInterrupt
            return x

    model = nn.Sequential(nn.Linear(8, 8), Interrupted())

    def run():
        with pytest.raises(KeyboardInterrupt):
            model(torch.randn(2, 8))
        model(torch.randn(2, 8)).sum().backward()

    data = recorded(run, model=model)
    parents = data.calls["parent"]
    root_calls = data.calls["layer"] == 0
    assert root_calls.sum() == 2
    assert (parents[root_calls] == -1).all()


def test_shared_module_is_one_layer_with_several_calls_and_an_alias():
    shared = nn.Linear(4, 4)

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = shared
            self.second = shared

        def forward(self, x):
            return self.second(self.first(x))

    data = recorded(lambda: Twice()(torch.ones(1, 4)), model=None)
    rows = layer_rows(data)
    assert set(rows) == {"Twice", "Twice.first"}
    row = rows["Twice.first"]
    assert data.string(int(data.layers["aliases"][row])) == "Twice.second"
    assert int((data.calls["layer"] == row).sum()) == 2


def test_a_module_called_with_keywords_and_returning_a_dict():
    class Keyed(nn.Module):
        def forward(self, *, tokens, scale):
            return {"scores": tokens * scale, "extra": [tokens + 1, None, "text"]}

    model = Keyed()
    tokens = torch.randn(3, 2)
    data = recorded(lambda: model(tokens=tokens, scale=2.0), model=model)
    call = data.calls.row(0)
    assert data.string(call["output_shape"]) == "3×2, 3×2"
    assert call["output_bytes"] == 2 * 3 * 2 * 4
    names = {
        data.string(int(n))
        for n in data.allocations["name"][data.allocations["category"] == Category.INPUT]
    }
    assert names == {"tokens"}


def test_views_are_charged_to_their_base_once():
    class Views(nn.Module):
        def forward(self, x):
            base = x * 1
            return base[:2], base.T, base.expand(3, *base.shape)

    model = Views()
    data = recorded(lambda: model(torch.randn(4, 4)), model=model)
    assert data.calls.row(0)["output_bytes"] == 4 * 4 * 4


def test_parameters_saved_for_backward_are_not_activations():
    model = nn.Linear(6, 6, bias=False)
    data = recorded(
        lambda: model(torch.randn(2, 6, requires_grad=True)).sum().backward(), model=model
    )
    kept = [data.allocations["category"][row] for row in data.saved["allocation"]]
    assert Category.PARAMETER in kept
    assert (data.allocations["category"] == Category.PARAMETER).sum() == 1


def test_phases_of_one_step_in_order():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = recorded(lambda: train(model, optimizer), model=model)
    kinds = [PhaseKind(int(k)).name for k in data.phases["kind"] if k != PhaseKind.OTHER]
    assert kinds == ["FORWARD", "BACKWARD", "OPTIMIZER"]


def test_accumulated_gradients_make_one_step():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run():
        for _ in range(2):
            optimizer.zero_grad()
            for _ in range(3):
                model(torch.randn(5, 8)).sum().backward()
            optimizer.step()

    data = recorded(run, model=model)
    assert data.steps == 2
    forwards = [
        int(s) for s, k in zip(data.phases["step"], data.phases["kind"], strict=True) if k == 0
    ]
    assert forwards == [0, 0, 0, 1, 1, 1]


def test_each_pass_without_gradients_is_a_step():
    model = small_model()

    def run():
        with torch.no_grad():
            for _ in range(3):
                model(torch.randn(5, 8))

    assert recorded(run, model=model).steps == 3


def test_loop_that_updates_by_hand_has_steps_too():
    model = small_model()

    def run():
        for _ in range(3):
            model(torch.randn(5, 8)).sum().backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
                    parameter.grad = None

    assert recorded(run, model=model).steps == 3


def test_backward_is_attributed_to_layers():
    model = small_model()
    data = recorded(lambda: model(torch.randn(5, 8)).sum().backward(), model=model)
    rows = layer_rows(data)
    window = {}
    for call in range(len(data.calls)):
        row = data.calls.row(call)
        window[row["layer"]] = (row["backward_start"], row["backward_end"])
    last, first, root = window[rows["model.2"]], window[rows["model.0"]], window[rows["model"]]
    assert 0 < last[0] < last[1] <= first[0] < first[1]
    assert root == (last[0], first[1])


@pytest.mark.parametrize("reentrant", [False, True])
def test_recomputed_layers_are_told_apart_from_their_forward(reentrant):
    from torch.utils.checkpoint import checkpoint

    inner = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return checkpoint(self.inner, x, use_reentrant=reentrant)

    model = Checkpointed()
    data = recorded(
        lambda: model(torch.randn(4, 8, requires_grad=True)).sum().backward(), model=model
    )
    layer = layer_rows(data)["model.inner"]
    kinds = [
        CallKind(int(k))
        for k, r in zip(data.calls["kind"], data.calls["layer"], strict=True)
        if r == layer
    ]
    assert kinds == [CallKind.FORWARD, CallKind.RECOMPUTE]
    assert not data.calls["failed"].any()


def test_inplace_modification_is_still_an_error():
    def broken():
        x = torch.randn(3, requires_grad=True)
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    with pytest.raises(RuntimeError) as untracked:
        broken()
    recorder = Recorder(small_model())
    recorder.enter()
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as tracked:
        broken()
    recorder.leave()
    recorder.finish()
    for words in ("[torch.FloatTensor [3]]", "is at version 1; expected version 0 instead"):
        assert words in str(untracked.value)
        assert words in str(tracked.value)


def test_function_transforms_still_work():
    def run():
        gradient = torch.func.grad(lambda x: (x**2).sum())(torch.ones(3))
        assert gradient.tolist() == [2.0, 2.0, 2.0]
        jacobian = torch.func.jacrev(lambda x: x**3)(torch.ones(2))
        assert jacobian.tolist() == [[3.0, 0.0], [0.0, 3.0]]

    recorded(run, model=small_model())


@pytest.mark.skipif(
    not hasattr(torch._C._autograd, "_top_saved_tensors_default_hooks"),
    reason="this torch does not tell which hooks are pushed",
)
def test_users_saved_tensor_hooks_outside_ours_go_on_working():
    packed = []
    model = small_model()
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(t.shape) or t.detach(), lambda t: t
    )
    with hooks:
        recorded(lambda: model(torch.randn(5, 8)).sum().backward(), model=model)
    assert len(packed) > 2


def test_users_mode_pushed_inside_and_left_there_is_not_popped_by_us():
    from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

    class Users(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    recorder = Recorder(small_model())
    recorder.enter()
    mode = Users()
    mode.__enter__()
    recorder.leave()
    assert _get_current_dispatch_mode() is mode
    mode.__exit__(None, None, None)
    recorder.finish()


def test_tracked_model_can_be_copied_and_pickled_without_our_hooks():
    model = small_model()
    recorder = Recorder(model)
    recorder.enter()
    clone = copy.deepcopy(model)
    restored = pickle.loads(pickle.dumps(model))
    for other in (clone, restored):
        assert not other._forward_hooks
        assert not other._forward_pre_hooks
    recorder.leave()
    recorder.finish()


def test_optimizer_made_before_the_recording_has_its_state_named():
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer)
    data = recorded(lambda: model(torch.randn(5, 8)), model=model)
    assert bytes_of(data, Category.OPTIMIZER_STATE) > 2 * 4 * (8 * 16 + 16 + 16 * 4 + 4)
    before = data.allocations["start"] == -1
    named = {data.string(int(n)) for n in data.allocations["name"][before]}
    assert "exp_avg of 0.weight" in named


def test_several_models_are_roots_of_their_own():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    data = recorded(
        lambda: (a(torch.ones(1, 2)), b(torch.ones(1, 2))), model=[a, b], label=["gen", "disc"]
    )
    assert set(layer_rows(data)) == {"gen", "disc"}


def test_without_a_model_every_outermost_module_is_followed():
    model, loss = small_model(), nn.CrossEntropyLoss()
    data = recorded(lambda: loss(model(torch.randn(5, 8)), torch.zeros(5).long()).backward())
    assert set(layer_rows(data)) == {
        "Sequential",
        "Sequential.0",
        "Sequential.1",
        "Sequential.2",
        "CrossEntropyLoss",
    }


def test_tensor_from_numpy_begins_when_first_seen():
    import numpy as np

    model = small_model()

    def run():
        for _ in range(3):
            model(torch.from_numpy(np.ones((5, 8), dtype=np.float32)))

    data = recorded(run, model=model)
    inputs = data.allocations["category"] == Category.INPUT
    assert int(inputs.sum()) == 3
    assert (data.allocations["start"][inputs] >= 0).all()


def test_resized_storage_is_a_release_and_a_new_allocation():
    model = small_model()

    def run():
        tensor = torch.zeros(100)
        tensor.untyped_storage().resize_(4000)
        tensor.add_(1)

    data = recorded(run, model=model)
    sizes = data.allocations["bytes"].tolist()
    assert 400 in sizes
    assert 4000 in sizes


def test_marks_and_their_labels():
    model = small_model()
    recorder = Recorder(model)
    recorder.enter()
    recorder.mark("before")
    model(torch.randn(5, 8))
    recorder.mark("after")
    recorder.leave()
    data = recorder.finish()
    assert [data.string(int(label)) for label in data.marks["label"]] == ["before", "after"]
    assert data.marks["cut"][0] < data.marks["cut"][1]


def test_garbage_collection_in_the_middle_of_a_row_breaks_nothing():
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())

    class Cycle:
        def __init__(self):
            self.me, self.tensor = self, torch.randn(100)

    def run():
        for _ in range(3):
            for _ in range(20):
                Cycle()
            train(model, optimizer)

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        recorded(run, model=model)
    finally:
        gc.set_threshold(*threshold)


def test_a_full_recording_ends_by_itself_and_says_so():
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(model, max_events=100)
    recorder.enter()
    train(model, optimizer, steps=30)
    assert recorder.finished
    recorder.leave()
    data = recorder.data()
    assert [notice.id for notice in data.facts.notices] == ["full"]
    assert data.steps < 30


def test_finished_recording_says_when_no_module_ran():
    assert [n.id for n in recorded(lambda: None, model=small_model()).facts.notices] == ["no_steps"]


def test_ticks_come_at_most_four_times_a_second():
    import time

    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder, ticks = Recorder(model), []
    recorder.on_tick.append(ticks.append)
    recorder.enter()
    began = time.perf_counter()
    while time.perf_counter() - began < 1.1:
        train(model, optimizer)
    recorder.leave()
    recorder.finish()
    times = [tick.elapsed_ns for tick in ticks]
    assert len(times) >= 3
    # 250 ms lie between the moments ticks are due; making one takes a moment of its own.
    assert min(b - a for a, b in itertools.pairwise(times)) >= 230_000_000
    last = ticks[-1]
    assert len(last.time_ns) == len(last.allocated_series) <= 404
    assert max(last.allocated_series) == last.peak


def test_no_tick_tells_of_a_model_that_is_taken_in_by_half(monkeypatch):
    monkeypatch.setattr("memtrack.capture.ticks.INTERVAL_NS", 0)
    model = small_model()
    recorder, ticks = Recorder(model), []
    recorder._observer.meter._due_ns = 0
    recorder.on_tick.append(ticks.append)
    recorder.enter()
    before = len(ticks)
    model(torch.randn(5, 8))
    recorder.leave()
    assert before == 0
    assert ticks[0].allocated > sum(parameter.nbytes for parameter in model.parameters())
    recorder.finish()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": 3}, "int is not a torch.nn.Module"),
        ({"model": []}, "list is not a torch.nn.Module"),
        ({"model": [3]}, "int is not a torch.nn.Module"),
        ({"model": nn.Linear(1, 1), "optimizer": "adam"}, "str is not a torch.optim.Optimizer"),
        ({"model": nn.Linear(1, 1), "steps": 0}, "whole number from 1"),
        ({"model": nn.Linear(1, 1), "steps": True}, "whole number from 1"),
        ({"model": [nn.Linear(1, 1)], "label": ["a", "b"]}, "1 models need as many labels"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(options, words):
    with pytest.raises(UsageError, match=words):
        Recorder(**options)


def test_interrupt_at_any_instruction_leaves_a_whole_recording():
    """KeyboardInterrupt is raised inside our own code, at many different lines of it."""
    import sys

    ours = str(__import__("memtrack").__path__[0])
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())

    for countdown in range(3, 1500, 60):
        remaining = countdown

        def trace(frame, event, arg):
            nonlocal remaining
            if not frame.f_code.co_filename.startswith(ours):
                return None
            if event == "line":
                remaining -= 1
                if remaining == 0:
                    raise KeyboardInterrupt
            return trace

        recorder = Recorder(model)
        recorder.enter()
        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            train(model, optimizer)
            sys.settrace(previous)
        except KeyboardInterrupt:
            sys.settrace(previous)
            model(torch.randn(5, 8)).sum().backward()
        finally:
            sys.settrace(previous)
            recorder.leave()
        recorder.finish("interrupted").self_check()
