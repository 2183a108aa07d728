"""Every way in which memory stays alive is found under the name a reader knows."""

import asyncio
import dataclasses
import functools
import gc
import re
import sys
import threading
import time
import types
import weakref

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from memtrack.capture.holders import CPU, holdings  # noqa: E402
from memtrack.capture.holders.roots import locals_of  # noqa: E402
from memtrack.capture.holders.search import search  # noqa: E402
from memtrack.capture.holders.storages import Census  # noqa: E402

KIB = 256
PATIENCE_S = 20.0
"""A busy machine is not what is tested."""


def some(kib=64):
    return torch.ones(kib * KIB)


def shell_of(**names):
    """Return as much of a shell as is looked at."""
    return types.SimpleNamespace(user_ns=names, user_ns_hidden={})


def found_in(shell, limit_s=PATIENCE_S):
    """Return the holdings by name and whether of a graph, of the user's and of IPython's."""
    found = holdings(shell, CPU, limit_s)
    assert not found.cut_short
    return {(one.name, one.in_graph): one for one in found.holdings}


def path_to(**names):
    """Return the only chain of the only name that holds anything."""
    (name,) = names
    one = found_in(shell_of(**names))[name, False]
    assert one.tensors == 1
    return one.chains[0].path


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner


@dataclasses.dataclass
class Batch:
    inputs: object
    extra: dict


class Odd:
    """Its attributes and comparisons raise; it is asked nothing."""

    def __init__(self, inner):
        object.__setattr__(self, "inner", inner)

    def __getattribute__(self, name):
        raise RuntimeError(name)

    __eq__ = __bool__ = __len__ = __repr__ = __hash__ = None


class Proxy:
    """A lazy proxy: whoever asks for its class or its attributes loads it."""

    loaded = 0

    @property
    def __class__(self):
        type(self).loaded += 1
        return torch.Tensor

    @property
    def __dict__(self):
        type(self).loaded += 1
        return {}


def closure(inner):
    def step():
        return inner

    return step


def generator(inner):
    yield 1
    yield inner


def started(inner):
    going = generator(inner)
    next(going)
    return going


async def coroutine(inner):
    await asyncio.sleep(0)
    return inner


class Method:
    def __init__(self, inner):
        self.kept = inner

    def call(self):
        return self


def saved_error(inner, depth=2):
    def fail(inner):
        local = inner
        raise ValueError(local.shape)

    try:
        fail(inner)
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda t: t, "x"),
        (lambda t: t[::2], "x"),
        (lambda t: t.untyped_storage(), "x"),
        (lambda t: [0, {"deep": (1, t)}], "x[1]['deep'][1]"),
        (lambda t: {3: t}, "x[3]"),
        (lambda t: {t: 1}, "x.keys()"),
        (lambda t: {(1, 2): t}, "x[…]"),
        (lambda t: {"a" * 90: t}, "x['" + "a" * 38 + "…]"),
        (lambda t: {t}, "x{…}"),
        (Slotted, "x.inner"),
        (lambda t: Batch(None, {"mask": t}), "x.extra['mask']"),
        (lambda t: types.SimpleNamespace(a=t), "x.a"),
        (closure, "x.<closure inner>"),
        (lambda t: functools.partial(max, t), "x.args[0]"),
        (started, "x: inner"),
        (lambda t: Method(t).call, "x.__self__.kept"),
        (lambda t: type("Config", (), {"cache": t}), "x.cache"),
        (lambda t: types.MappingProxyType({"a": t}), "x.<mappingproxy>['a']"),
        (saved_error, "x → saved_error() line N: inner"),
    ],
)
def test_a_chain_reads_as_code(make, path):
    assert re.sub(r"line \d+", "line N", path_to(x=make(some()))) == path


def test_modules_optimizers_gradients_and_hooks():
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 64)).sum().backward()
    optimizer.step()
    model[1].register_forward_hook(closure(some(256)))
    weight = 64 * 64 * 4
    names = {"optimizer": optimizer, "model": model, "trainer": types.SimpleNamespace(model=model)}
    found = found_in(shell_of(**names))
    mine = found["model", False]
    assert mine.bytes == 4 * (weight + 64 * 4) + 256 * 1024
    assert mine.chains[0].path.startswith("model[1]._forward_hooks[")
    assert mine.chains[0].path.endswith(".<closure inner>")
    assert {"optimizer", "trainer"} <= set(mine.also)
    assert set(mine.variables) == {"optimizer", "trainer"}
    state = found["optimizer", False]
    assert state.bytes == 2 * 2 * (weight + 64 * 4) + 4 * 4
    assert state.chains[0].path.startswith("optimizer.state[model[")
    assert state.chains[0].path.endswith(("['exp_avg']", "['exp_avg_sq']"))
    assert ("trainer", False) not in found


def test_a_graph_is_told_apart_from_the_tensor_in_front_of_it():
    source = torch.ones(64 * KIB, requires_grad=True)
    losses = [(source.exp().sin()).sum()]
    found = found_in(shell_of(losses=losses, source=source))
    assert found["losses", False].bytes == 4
    graph = found["losses", True]
    # exp keeps its result, which sin keeps as well.
    assert (graph.bytes, graph.tensors) == (64 * 1024, 1)
    assert graph.chains[0].path.startswith("losses[0].grad_fn (")
    assert "Backward" in graph.chains[0].path
    assert found["source", False].variables == ["losses"]


def test_saved_tensor_hooks_are_not_run():
    def unpack(_):
        raise AssertionError("unpacked")

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: [tensor], unpack):
        loss = torch.ones(64 * KIB, requires_grad=True).exp().sum()
    found = found_in(shell_of(loss=loss))
    assert found["loss", True].bytes == 2 * 64 * 1024 or found["loss", True].bytes == 64 * 1024


def test_outputs_errors_and_the_debugger_come_after_variables():
    value, shown, failed, debugged = some(1), some(2), some(3), some(4)
    error = saved_error(failed)
    debugger = types.SimpleNamespace(
        curframe=error.__traceback__.tb_next.tb_frame, stack=[debugged]
    )
    shell = shell_of(mine=value, _oh={4: shown, 5: value}, _4=shown)
    shell.user_ns_hidden = {"_oh": shell.user_ns["_oh"], "_4": shown}
    shell.last_execution_result = types.SimpleNamespace(
        error_in_exec=error, error_before_exec=None, result=None
    )
    shell.InteractiveTB = types.SimpleNamespace(tb=error.__traceback__, pdb=debugger)
    del error, debugger
    found = found_in(shell)
    kinds = {name: (one.kind, one.bytes) for (name, _), one in found.items()}
    assert kinds["mine"] == ("variable", 1024)
    assert kinds["Out[4]"] == ("output", 2048)
    assert kinds["InteractiveTB.tb"] == ("exception", 3072)
    assert kinds["InteractiveTB.pdb"] == ("debugger", 4096)
    assert "InteractiveTB.pdb" in found["InteractiveTB.tb", False].also
    assert "Out[5]" in found["mine", False].also


def test_globals_of_modules_threads_and_running_functions(monkeypatch):
    module = types.ModuleType("users_module")
    module.__file__ = "/home/user/users_module.py"
    module.CACHE = {"a": some(1)}
    monkeypatch.setitem(sys.modules, "users_module", module)
    inside, leave = threading.Event(), threading.Event()

    def working():
        local = some(2)
        inside.set()
        leave.wait(60)
        del local

    thread = threading.Thread(target=working, name="loader")
    thread.start()
    inside.wait(60)
    mine = some(3)
    try:
        found = found_in(shell_of())
    finally:
        leave.set()
        thread.join()
    assert found["users_module.CACHE", False].chains[0].path == "users_module.CACHE['a']"
    assert found["loader: working()", False].chains[0].path == "loader: working(): local"
    here = "test_globals_of_modules_threads_and_running_functions()"
    assert found[here, False].chains[0].path == f"{here}: mine"
    assert mine.numel() == 3 * KIB


def test_what_no_name_leads_to_is_told_as_such():
    class Ring:
        pass

    def lose():
        ring = Ring()
        ring.self, ring.held = ring, some(7)

    def nobodys():
        found = holdings(shell_of(), CPU, PATIENCE_S).holdings
        return [one for one in found if one.kind == "nobody"]

    gc.collect()
    before = sum(one.bytes for one in nobodys())
    gc.disable()
    try:
        lose()
        (nobody,) = nobodys()
    finally:
        gc.enable()
    assert nobody.bytes == before + 7 * 1024
    assert "Ring" in nobody.name or "dict" in nobody.name


def test_objects_are_asked_nothing():
    proxy, odd = Proxy(), Odd(some(1))
    found = found_in(shell_of(proxy=proxy, odd=odd, listed=[proxy]))
    assert Proxy.loaded == 0
    assert found["odd", False].bytes == 1024


def test_nothing_that_was_found_stays_alive():
    shell = shell_of(a=[some(1)], b=saved_error(some(2)), c=started(some(3)))
    with search(shell, [CPU], PATIENCE_S) as walk:
        census = Census(held.found for held in walk.held)
        assert census.alive_bytes() >= 6 * 1024
    held = weakref.ref(shell.user_ns["a"][0])
    found = holdings(shell, CPU, PATIENCE_S)
    before = census.alive_bytes()
    shell.user_ns.clear()
    assert held() is None
    assert census.alive_bytes() == before - 6 * 1024
    assert found.named >= 6 * 1024


def test_looking_at_a_frame_leaves_no_copy_of_its_variables():
    going = started(some(1))
    weak = weakref.ref(going.gi_frame.f_locals["inner"].untyped_storage())
    locals_of(going.gi_frame)
    shell = shell_of(going=going)
    found_in(shell)
    shell.user_ns.clear()
    going.close()
    assert weak() is None


def test_a_search_that_is_cut_short_says_so_and_loses_no_bytes():
    many = [{"n": [n]} for n in range(50_000)]
    shell = shell_of(many=many, deep=[[[[[some(5)]]]]])
    found = holdings(shell, CPU, 0.0)
    assert found.cut_short
    whole = holdings(shell, CPU, PATIENCE_S)
    assert found.named == whole.named
    assert whole.objects > 100_000


def test_a_million_objects_take_about_a_second_and_names_come_first():
    shell = shell_of(many=[[n] for n in range(1_000_000)], box=[some(9)], model=nn.Linear(8, 8))
    begun = time.thread_time()
    found = holdings(shell, CPU)
    assert time.thread_time() - begun < 2.5
    names = {one.name: one.bytes for one in found.holdings}
    assert names["box"] == 9 * 1024
    assert names["model"] == 8 * 8 * 4 + 8 * 4


def test_storages_count_once_and_sum_to_what_there_is():
    base = some(64)
    shell = shell_of(a=base, b=base[10:], c=[base.view(2, -1), base], d={"e": base.detach()})
    del base
    found = found_in(shell)
    assert found["a", False].bytes == 64 * 1024
    assert set(found["a", False].variables) == {"b", "c", "d"}
    assert not {("b", False), ("c", False), ("d", False)} & set(found)
