"""How the stage asks a table of kernels, and that remembered answers are those given at first."""

import torch
from prediction.programs import PROGRAMS
from prediction.tested_gpu import GPU, KERNELS, NoKernels
from torch import nn

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.stage.operations import Operations
from memtrack.prediction.stage.stage import Stage


class Table(NoKernels):
    """A row for `mm` with scratch, a swap for dropout."""

    rows = frozenset(("mm", "native_dropout"))
    swaps = frozenset(("dropout",))

    def __init__(self):
        self.asked = []

    def run(self, op, args, kwargs, context: KernelContext):
        self.asked.append((str(op), context.backward, str(context.device)))
        context.scratch(1000)
        context.keep("handle", 64)
        return NotImplemented

    def swap(self, op, args, kwargs, context: KernelContext):
        if op is torch.ops.aten.dropout.default:
            return torch.ops.aten.native_dropout(args[0], args[1], args[2])[0]
        return NotImplemented


def run_with(table, listener):
    with Stage(GPU, table) as stage:
        stage.on_effects(listener)
        weight = torch.ones(4, 4, device="cuda", requires_grad=True)
        for _ in range(3):
            (torch.randn(2, 4, device="cuda") @ weight).sum().backward()
        torch.ones(2, 2) @ torch.ones(2, 2)


def test_rows_are_asked_once_for_the_same_arguments_and_their_effects_come_each_time():
    table, seen = Table(), []
    run_with(table, lambda op, effects, device: seen.append((effects.scratch, str(device))))
    assert table.asked == [
        ("aten.mm.default", False, "cuda:0"),
        ("aten.mm.default", True, "cuda:0"),
    ]
    assert seen == [([1000], "cuda:0")] * 6


def test_swaps_are_differentiated_and_claim_the_device():
    with Stage(GPU, Table()) as stage:
        inputs = torch.ones(4, device="cuda", requires_grad=True)
        output = nn.functional.dropout(inputs, 0.5, training=True)
        assert output.grad_fn.name() == "NativeDropoutBackward0"
        assert stage.claimed_device(output).type == "cuda"
        output.sum().backward()
        assert stage.claimed_device(inputs.grad).type == "cuda"


def shapes(program, monkeypatch, remembers):
    """Return shape, strides and dtype of everything a program makes."""
    made = []
    run, outputs = Operations._run, Operations._outputs

    def forgetful(self, *args):
        if not remembers:
            self._remembered.clear()
        found = outputs(self, *args)
        many = found if isinstance(found, (list, tuple)) else (found,)
        tensors = [one for one in many if isinstance(one, torch.Tensor)]
        made.extend((tuple(one.size()), one.stride(), one.dtype) for one in tensors)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Operations, "_outputs", forgetful)
        patch.setattr(Operations, "_run", run)
        with Stage(GPU, KERNELS):
            program()
    return made


def test_remembered_outputs_are_those_of_torch_on_meta(monkeypatch):
    for name in ("moved_by_cuda", "mixed_precision", "pictures", "transformer_layer", "tied"):
        program = PROGRAMS[name]
        slow = shapes(program, monkeypatch, remembers=False)
        assert shapes(program, monkeypatch, remembers=True) == slow
        assert len(slow) > 40


def test_remembered_outputs_follow_the_default_dtype():
    with Stage(GPU, KERNELS):
        whole = torch.ones(3, dtype=torch.int64, device="cuda")
        for dtype in (torch.float32, torch.float64, torch.float16):
            torch.set_default_dtype(dtype)
            assert torch.zeros(3, device="cuda").dtype is dtype
            assert (whole / 2).dtype is whole.mul(1.5).dtype is dtype
