"""Models and tensors whose own code counts, refuses or raises when anybody looks at them."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections import Counter
from typing import ClassVar

import pytest

torch = pytest.importorskip("torch")

from checks import check_recording  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import memtrack  # noqa: E402
from memtrack.capture import Recorder  # noqa: E402

can_compile = pytest.mark.skipif(
    tuple(map(int, torch.__version__.split(".")[:2])) < (2, 5),
    reason="dynamo of this torch compiles the hooks of modules too",
)


def recorded(model, run, **options):
    with memtrack.track(model, history=False, **options) as recording:
        run()
    check_recording(recording.data)
    return recording.data


def notices(data):
    return [notice.id for notice in data.facts.notices]


@can_compile
def test_compiled_module_gives_no_warning_of_our_hooks():
    compiled = torch.compile(nn.Linear(4, 4), backend="eager")
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder = Recorder(compiled)
        recorder.enter()
        compiled(torch.ones(2, 4))
        inside = warnings.catch_warnings()
        inside.__enter__()
        recorder.leave()
        recorder.finish()
        inside.__exit__(None, None, None)
        assert all(one[1] is None or "global hooks" not in one[1].pattern for one in before)
        assert len(warnings.filters) == len(before) + 1  # the "error" above
    assert warnings.filters == before


@can_compile
def test_a_users_own_hooks_are_warned_of_as_ever():
    compiled = torch.compile(nn.Linear(4, 4), backend="eager")
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        with pytest.warns(UserWarning, match="global hooks"):
            recorded(compiled, lambda: compiled(torch.ones(2, 4)))
    finally:
        handle.remove()


class Loud(torch.Tensor):
    """A tensor whose class hears of everything that is asked of it."""

    heard: ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.heard.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class Listening(torch.overrides.TorchFunctionMode):
    """A mode that does the same for all tensors."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        Loud.heard.append(func)
        return func(*args, **(kwargs or {}))


class WithLoud(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4).as_subclass(Loud))

    def forward(self, x):
        return self.inner(x.as_subclass(Loud)) * self.scale


class Watching(TorchDispatchMode):
    """A dispatch mode that changes nothing."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def makes_subclasses_under_modes():
    try:
        with Watching():
            torch.ones(1).as_subclass(Loud)
    except RuntimeError:
        return False
    return True


@pytest.mark.skipif(
    not makes_subclasses_under_modes(), reason="this torch makes no subclasses under any mode"
)
@pytest.mark.parametrize("mode", [contextlib.nullcontext, Listening])
def test_classes_and_modes_of_the_users_do_not_hear_of_what_we_read(mode):
    def train(model, optimizer):
        for _ in range(2):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    heard = []
    for track in (False, True):
        model = WithLoud()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        Loud.heard.clear()
        with mode(), memtrack.track(model, history=False) if track else contextlib.nullcontext():
            train(model, optimizer)
        heard.append(Counter(map(str, Loud.heard)))
    assert heard[1] - heard[0] == Counter()


class Refusing(torch.Tensor):
    """A tensor whose class refuses whatever is asked of it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise LookupError("ask me nothing")


def test_tensors_that_refuse_to_be_asked_are_counted_all_the_same():
    kept = torch.Tensor._make_subclass(Refusing, torch.zeros(1000))
    model = nn.Linear(4, 4)
    model.also = kept

    def run():
        model.more = torch.Tensor._make_subclass(Refusing, torch.zeros(2000))
        model(torch.ones(2, 4)).sum().backward()

    data = recorded(model, run)
    assert "gave_up" not in notices(data)
    assert {4000, 8000} <= set(data.allocations["requested"].tolist())


class Unhashable(nn.Module):
    """torch itself cannot walk through it."""

    __hash__ = None

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x)


class WithoutParameters(Unhashable):
    __hash__ = nn.Module.__hash__

    def parameters(self, recurse=True):
        raise LookupError("none\nof your business")


@pytest.mark.parametrize("kind", [Unhashable, WithoutParameters])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_model_that_cannot_be_walked_through_runs_untracked(kind, is_named, capsys):
    model = kind()
    with memtrack.track(model if is_named else None, history=False) as recording:
        output = model(torch.ones(2, 4))
    assert output.shape == (2, 4)
    check_recording(recording.data)
    told = capsys.readouterr().err.splitlines()
    if recording.data.facts.state == "failed":
        assert len(told) == 1
        assert told[0].startswith("memtrack has stopped recording (")
    else:
        assert told == []
    assert not nn.modules.module._global_forward_hooks


def test_where_torch_cannot_load_what_watching_needs_the_run_goes_on(monkeypatch, capsys):
    from memtrack.capture import dispatch

    def fail(name):
        raise ImportError(f"no {name} here")

    model = nn.Linear(4, 4)
    model(torch.ones(2, 4))
    monkeypatch.setattr(dispatch.importlib, "import_module", fail)
    monkeypatch.delitem(sys.modules, "torch._dynamo", raising=False)
    if not hasattr(dispatch.OperationWatch.__torch_dispatch__, "__wrapped__"):
        pytest.skip("this torch needs nothing")
    with memtrack.track(model, history=False) as recording:
        output = model(torch.ones(2, 4))
    assert output.shape == (2, 4)
    assert recording.data.facts.state == "failed"
    assert capsys.readouterr().err.splitlines() == [
        "memtrack has stopped recording (ImportError: no torch._dynamo here). Your run goes on."
    ]
    assert not nn.modules.module._global_forward_hooks
    assert torch._C._len_torch_dispatch_stack() == 0
