"""Models that were compiled in place, by `model.compile()`: batches, steps and the layer are known."""

import copy
import gc
import pickle
import weakref

import pytest

torch = pytest.importorskip("torch")

from checks import check_recording  # noqa: E402
from torch import nn  # noqa: E402

import memtrack  # noqa: E402
from memtrack.capture import Recorder, torch_api  # noqa: E402
from memtrack.capture.firstcall import FirstCall  # noqa: E402
from memtrack.recording import CallKind  # noqa: E402

pytestmark = pytest.mark.skipif(
    not torch_api.COMPILES_UNDER_MODES, reason="this torch compiles nothing under a dispatch mode"
)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x, scale=1.0):
        return self.second(self.first(x).relu()) * scale


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    assert torch.nn.Module.compile.__module__ == "torch.nn.modules.module"
    assert torch.nn.Module.compile is torch_compile


torch_compile = nn.Module.compile


def compiled(model=None):
    model = Net() if model is None else model
    model.compile(backend="aot_eager")
    return model


def train(model, steps=3, **options):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(torch.ones(5, 8), **options).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def calls(data):
    kinds = data.calls["kind"] == CallKind.FORWARD
    paths = [data.string(int(path)) for path in data.layers["path"]]
    return [paths[layer] for layer in data.calls["layer"][kinds]]


def test_steps_batches_and_the_layer_are_those_of_the_same_model_uncompiled():
    found = []
    for model in (Net(), compiled()):
        with memtrack.track(model, history=False) as recording:
            train(model)
        check_recording(recording.data)
        data = recording.data
        assert data.facts.extra["run"]["batches"]
        (first, *_), shapes = calls(data), data.calls["output_shape"]
        assert first == "model" and data.string(int(shapes[0])) == "5×4"
        found.append((recording.report().steps, data.facts.extra["run"]["batches"]))
    assert found[0] == found[1] and found[0][0] == 3


def test_each_compiled_block_of_a_model_is_a_call_of_its_own():
    model = nn.Sequential(compiled(), nn.ReLU())
    with memtrack.track(model, history=False) as recording:
        model(torch.ones(5, 8)).sum().backward()
    assert calls(recording.data) == ["model", "model.0", "model.1"]


def test_what_is_compiled_while_it_is_recorded_is_seen_too():
    model = Net()
    with memtrack.track(model, history=False) as recording:
        compiled(model)
        train(model, steps=2, scale=torch.ones(()))
    assert recording.report().steps == 2
    assert calls(recording.data) == ["model", "model"]


def test_without_a_named_model_the_compiled_one_is_found():
    model = compiled()
    with memtrack.track(history=False) as recording:
        train(model, steps=2)
    assert calls(recording.data) == ["Net", "Net"]


def test_a_model_inside_of_a_compiled_one_stays_one_graph():
    inner = compiled()
    outer = torch.compile(nn.Sequential(inner, nn.ReLU()), backend="aot_eager", fullgraph=True)
    with memtrack.track(outer, history=False) as recording:
        outer(torch.ones(5, 8)).sum().backward()
    assert calls(recording.data)[0] == "model"
    assert "gave_up" not in {notice.id for notice in recording.data.facts.notices}


def test_an_error_is_the_users_and_the_call_has_failed():
    model = compiled()
    with memtrack.track(model, history=False) as recording:
        with pytest.raises(Exception, match=r"mat1|shape|size"):
            model(torch.ones(5, 9))
        train(model, steps=1)
    assert recording.data.calls["failed"].tolist()[0] == 1
    assert calls(recording.data)[-1] == "model"


def test_nothing_stays_on_the_model_and_copies_are_as_ever():
    model = compiled()
    before = model._compiled_call_impl
    first, second = Recorder(model), Recorder(model)
    first.enter()
    assert model._compiled_call_impl is not before
    assert "_compiled_call_impl" not in pickle.loads(pickle.dumps(model)).__dict__
    assert copy.deepcopy(model)(torch.ones(5, 8)).shape == (5, 4)
    second.enter()
    second.leave()
    second.finish()
    first.leave()
    first.finish()
    assert model._compiled_call_impl is before
    gone = weakref.ref(model)
    del model, first, second, before
    torch._dynamo.reset()
    gc.collect()
    assert gone() is None


def test_a_program_is_recorded_from_the_first_call_of_a_compiled_model():
    begun = []

    def begin(recorder):
        begun.append(recorder)

    waiting = FirstCall(None, "program", begin, pytest.fail)
    model = compiled()
    train(model, steps=2)
    waiting.stop()
    (recorder,) = begun
    recorder.leave()
    data = recorder.finish()
    check_recording(data)
    assert calls(data) == ["Net", "Net"] and not data.calls["failed"].any()
    assert [data.string(int(shape)) for shape in data.calls["output_shape"]] == ["5×4", "5×4"]
