"""A recording that ends or begins inside a backward pass leaves nothing on the thread."""

import gc
import itertools
import subprocess
import sys
import threading
import weakref

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils import _python_dispatch  # noqa: E402

from memtrack.capture import Recorder, torch_api  # noqa: E402
from memtrack.capture.engine import Engine  # noqa: E402

Variable = torch.autograd.Variable


@pytest.fixture(autouse=True)
def nothing_is_left():
    engine = Variable._execution_engine
    yield
    assert Variable._execution_engine is engine
    assert not pushed()


def pushed():
    """Return what is pushed on this thread."""
    mode = _python_dispatch._get_current_dispatch_mode()
    return [found for found in (mode, torch_api.top_saved_tensor_hooks()) if found is not None]


def a_model():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))


def a_recorder(model, label="model"):
    recorder = Recorder(model, label=label)
    recorder.attach()
    recorder.enter()
    return recorder


def train(model, during=None):
    """Run a step; `during` is called in the middle of backward."""
    output = model(torch.ones(4, 8))
    if during is not None:
        output.register_hook(lambda _: during())
    output.sum().backward()


def test_a_recording_that_ends_in_backward_leaves_nothing():
    model = a_model()
    recorder = a_recorder(model)
    train(model)

    def end():
        recorder.leave()
        recorder.finish()

    train(model, end)
    assert not pushed()
    for _ in range(3):  # a freed hook that was put back would end the process here
        gc.collect()
        train(model)
    recorder.data().self_check()
    assert recorder.steps_done >= 1


def test_a_failure_of_ours_in_backward_leaves_nothing(monkeypatch, capsys):
    model = a_model()
    recorder = a_recorder(model)
    train(model)

    def fail():
        monkeypatch.setattr(recorder._observer.blocks, "sight", _fails)

    train(model, fail)
    assert recorder.state == "failed"
    assert capsys.readouterr().err.count("\n") == 1
    assert not pushed()
    train(model)


def _fails(*_, **__):
    raise LookupError("of ours")


def test_a_recording_that_begins_in_backward_sees_what_comes_after_it():
    model = a_model()
    recorder = Recorder(model, label="model")

    def begin():
        recorder.attach()
        recorder.enter()

    train(model, begin)
    assert not pushed()
    recorder.enter()  # as the next cell does
    train(model)
    recorder.leave()
    data = recorder.finish()
    data.self_check()
    assert len(data.saved) > 0


@pytest.mark.parametrize("where", ["forward", "backward"])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_recordings_end_in_any_order_and_place(order, where):
    model = a_model()
    recorders = [a_recorder(model, label) for label in "abc"]
    train(model)

    def end():
        for place in order:
            recorders[place].leave()
            recorders[place].finish().self_check()

    if where == "backward":
        train(model, end)
    else:
        end()
    assert not isinstance(Variable._execution_engine, Engine)
    train(model)


def test_backward_on_a_thread_that_ends_the_recording_of_another():
    model = a_model()
    recorder = a_recorder(model)

    def end():
        recorder.finish()

    thread = threading.Thread(target=train, args=(model, end))
    thread.start()
    thread.join()
    recorder.leave()
    train(model)
    assert recorder.finished


def test_who_has_kept_the_stand_in_keeps_no_recording_alive():
    class Wrapper:
        def __init__(self, engine):
            self.engine, self.runs = engine, 0

        def run_backward(self, *args, **kwargs):
            self.runs += 1
            return self.engine.run_backward(*args, **kwargs)

        def __getattr__(self, name):
            return getattr(self.engine, name)

    model, engine = a_model(), Variable._execution_engine
    recorder = a_recorder(model)
    wrapper = Variable._execution_engine = Wrapper(Variable._execution_engine)
    try:
        train(model)
        recorder.leave()
        recorder.finish()
        reference = weakref.ref(recorder)
        del recorder
        gc.collect()
        assert reference() is None
        train(model)
        assert wrapper.runs == 2
    finally:
        Variable._execution_engine = engine


TRANSFORM_IN_BACKWARD = """
import torch
from torch import nn
from torch.func import grad
import memtrack

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return upstream * grad(lambda y: (y ** 3).sum())(x)

model = nn.Linear(4, 4)
with memtrack.track(model) as recording:
    for _ in range(5):
        x = torch.ones(2, 4, requires_grad=True)
        Cube.apply(model(x)).sum().backward()
for _ in range(50):
    Cube.apply(model(torch.ones(2, 4))).sum().backward()
assert recording.data.steps == 5
print("fine")
"""


def test_a_transform_inside_backward_does_not_end_the_process():
    done = subprocess.run(
        [sys.executable, "-c", TRANSFORM_IN_BACKWARD], capture_output=True, text=True, check=False
    )
    assert done.stdout == "fine\n", done.stderr


LOCALS_OF_A_FUNCTION = """
import gc, weakref
import torch
import memtrack

gc.disable()
left = []

def train():
    model = torch.nn.Linear(8, 8)
    left.append(weakref.ref(model))
    with memtrack.track(model, history=False):
        model(torch.randn(5, 8)).sum().backward()

train()
print(left[0]() is None)
"""


def test_the_first_recording_of_a_process_keeps_no_local_of_its_caller():
    done = subprocess.run(
        [sys.executable, "-c", LOCALS_OF_A_FUNCTION], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "True\n", done.stderr
