"""On a GPU: what a failed call has added to the device is back, and the figures sum to it."""

from __future__ import annotations

import gc
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from memtrack.capture.holders import holdings, holdings_on  # noqa: E402
from memtrack.capture.release import release  # noqa: E402

pytestmark = pytest.mark.gpu
LAW = 0.95
MIB = 1 << 20
PATIENCE_S = 20.0
DEVICE = torch.device("cuda", 0)


class Shell:
    """As much of IPython as keeps things alive: names, outputs, the last error."""

    def __init__(self):
        self.user_ns = {"_oh": {}, "_": "", "__": "", "___": ""}
        self.user_ns_hidden = dict(self.user_ns)
        self.displayhook = types.SimpleNamespace(_="", __="", ___="")
        self.InteractiveTB = types.SimpleNamespace(tb=None, pdb=None)
        self.SyntaxTB = types.SimpleNamespace(last_syntax_error=None)
        self.last_execution_result = types.SimpleNamespace(
            error_in_exec=None, error_before_exec=None, result=None
        )

    def run(self, cell):
        """Run a function as a cell; keep its error as IPython does."""
        try:
            cell(self.user_ns)
        except RuntimeError as error:
            sys.last_type, sys.last_value = type(error), error
            sys.last_traceback = self.InteractiveTB.tb = error.__traceback__
            if sys.version_info >= (3, 12):
                sys.last_exc = error
            self.last_execution_result.error_in_exec = error
            return True
        return False

    def display(self, number, value):
        """Remember a value as that of cell `number`."""
        self.user_ns["_oh"][number] = self.user_ns["_"] = self.displayhook._ = value
        self.user_ns[f"_{number}"] = self.user_ns_hidden[f"_{number}"] = value
        self.user_ns_hidden["_"] = value


def forget_last_error():
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)


@pytest.fixture
def shell():
    gc.collect()
    torch.cuda.init()
    torch.ones(1, device=DEVICE)
    torch.cuda.empty_cache()
    forget_last_error()
    yield Shell()
    forget_last_error()
    gc.collect()
    torch.cuda.empty_cache()


def allocated():
    return torch.cuda.memory_allocated(DEVICE)


def too_much():
    return torch.empty(1 << 46, dtype=torch.uint8, device=DEVICE)


class Block(nn.Module):
    def __init__(self, fails):
        super().__init__()
        self.linear = nn.Linear(1024, 1024, device=DEVICE)
        self.fails = fails

    def forward(self, x):
        hidden = self.linear(x).relu()
        work = too_much() if self.fails == "forward" else hidden * 2
        return FailsInBackward.apply(work) if self.fails == "backward" else work


class FailsInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * 3)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        wide = torch.cat([gradient, gradient])
        return wide, too_much()


class FailingStep(torch.optim.Adam):
    def step(self, closure=None):
        super().step()
        work = [torch.empty(8 * MIB, device=DEVICE) for _ in range(3)]
        work.append(too_much())


def training(fails):
    """Return a cell that makes a model of four blocks and fails in one phase of its step."""

    def cell(names):
        def step(names):
            failing = 3 if fails == "forward" else 0
            blocks = [Block(fails if n == failing else "") for n in range(4)]
            model = nn.Sequential(*blocks)
            kind = FailingStep if fails == "optimizer" else torch.optim.Adam
            optimizer = kind(model.parameters())
            loss = model(torch.ones(4096, 1024, device=DEVICE)).square().mean()
            loss.backward()
            optimizer.step()

        step(names)

    return cell


@pytest.mark.parametrize("fails", ["forward", "backward", "optimizer"])
def test_what_a_failed_cell_has_added_is_back(shell, fails):
    torch.mm(torch.ones(8, 8, device=DEVICE), torch.ones(8, 8, device=DEVICE))  # cuBLAS's workspace
    before = allocated()
    assert shell.run(training(fails))
    assert isinstance(sys.last_value, torch.OutOfMemoryError)
    added = allocated() - before
    assert added > 32 * MIB
    found = holdings(shell, DEVICE, PATIENCE_S)
    by_error = sum(one.bytes for one in found.holdings if one.kind == "exception")
    assert by_error >= LAW * (found.level.allocated - found.native - before)
    given = release(shell, DEVICE, limit_s=PATIENCE_S)
    assert allocated() <= before + (1 - LAW) * added
    assert given.bytes >= LAW * added
    assert given.after.level.allocated == allocated()


def test_what_the_cell_has_named_is_told_and_goes_when_it_is_named(shell):
    def cell(names):
        names["model"] = model = Block("")
        names["loss"] = model(torch.ones(4096, 1024, device=DEVICE)).sum()
        work = torch.ones(4 * MIB, device=DEVICE)
        too_much()
        del work

    before = allocated()
    assert shell.run(cell)
    added = allocated() - before
    after = release(shell, DEVICE, limit_s=PATIENCE_S).after
    named = sum(one.bytes for one in after.holdings if one.name in ("model", "loss"))
    assert added - (allocated() - before) + named >= LAW * added
    release(shell, DEVICE, ["loss", "model"], limit_s=PATIENCE_S)
    gc.collect()
    assert allocated() <= before + (1 - LAW) * added


def test_outputs_go_and_the_cache_only_when_asked(shell):
    shell.display(3, torch.ones(16 * MIB, device=DEVICE))
    given = release(shell, DEVICE, limit_s=PATIENCE_S)
    assert [(step.id, step.bytes) for step in given.steps] == [("outputs", 64 * MIB)]
    assert given.after.level.cached >= 64 * MIB
    assert "cache_kept" in given.notes
    free = given.after.level.free
    asked = release(shell, DEVICE, return_cache=True, limit_s=PATIENCE_S)
    assert "cache_returned" in asked.notes
    assert asked.after.level.cached < 64 * MIB
    assert asked.after.level.free >= free + 64 * MIB
    assert asked.after.level.total == torch.cuda.get_device_properties(DEVICE).total_memory


def test_holdings_sum_to_what_is_allocated(shell):
    names = shell.user_ns
    names["odd"] = [torch.ones(n, device=DEVICE) for n in (1, 1000, 123_457)]
    names["loss"] = (torch.ones(MIB, device=DEVICE, requires_grad=True).exp().sin()).sum()
    found = holdings(shell, DEVICE, PATIENCE_S)
    assert found.device == "cuda:0"
    assert found.level.allocated == allocated()
    assert found.named + found.native + found.rounding == allocated()
    by_name = {(one.name, one.in_graph): one.bytes for one in found.holdings}
    assert by_name["odd", False] == 4 * (1 + 1000 + 123_457)
    # The leaf, and the result of exp, which sin keeps as well.
    assert by_name["loss", True] == 8 * MIB
    assert found.foreign == 0


def test_memory_that_only_cpp_holds_is_told_by_its_size(shell):
    before = holdings(shell, DEVICE, PATIENCE_S).native
    raw = torch.cuda.caching_allocator_alloc(32 * MIB, 0)
    try:
        found = holdings(shell, DEVICE, PATIENCE_S)
        assert found.native == before + 32 * MIB
        assert found.named + found.native + found.rounding == allocated()
    finally:
        torch.cuda.caching_allocator_delete(raw)


def test_looking_takes_no_memory_of_the_device(shell):
    shell.user_ns["many"] = [torch.ones(1000, device=DEVICE) for _ in range(1000)]
    before, most = allocated(), torch.cuda.max_memory_allocated(DEVICE)
    torch.cuda.reset_peak_memory_stats(DEVICE)
    holdings(shell, DEVICE, PATIENCE_S)
    assert allocated() == before
    assert torch.cuda.max_memory_allocated(DEVICE) == before <= most


@pytest.mark.skipif("torch.cuda.device_count() < 2")
def test_several_devices_are_told_apart(shell):
    other = torch.device("cuda", 1)
    shell.user_ns["here"] = torch.ones(MIB, device=DEVICE)
    shell.user_ns["there"] = torch.ones(2 * MIB, device=other)
    first, second = holdings_on(shell, [DEVICE, other], PATIENCE_S)
    assert [one.name for one in first.holdings if one.kind == "variable"] == ["here"]
    assert [one.name for one in second.holdings if one.kind == "variable"] == ["there"]
    assert second.level.allocated == torch.cuda.memory_allocated(other)
    assert second.named + second.native + second.rounding == second.level.allocated
