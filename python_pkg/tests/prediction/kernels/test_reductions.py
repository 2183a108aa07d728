"""Reductions, lookups and losses: what lies in memory beside their outputs."""

import pytest
import torch
from prediction.tested_gpu import GPU
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from memtrack.prediction.kernels.reductions import partial_results
from memtrack.prediction.kernels.table import CudaKernels
from memtrack.prediction.stage.facts import ACCUMULATING
from memtrack.prediction.stage.stage import Stage

SMS = 132
MEASURED = [
    (1024, 1024, 8_388_608),
    (4096, 1024, 33_554_432),
    (1024, 4096, 33_554_432),
    (32_000, 256, 65_536_000),
]
"""Rows, columns and bytes of the norms inside Adafactor's step on an H200."""


@pytest.fixture
def scratch():
    """Return the greatest scratch of each operation while a stage is on."""
    found = {}

    def listen(op, effects, device):
        name = op._schema.name.rpartition("::")[2]
        size = sum(effects.scratch) + max((max(one) for one in effects.sequences), default=0)
        found[name] = max(found.get(name, 0), size)

    with Stage(GPU, CudaKernels()) as stage:
        stage.on_effects(listen)
        yield found


@pytest.mark.parametrize(("rows", "columns", "measured"), MEASURED)
def test_partial_results_are_as_measured(rows, columns, measured):
    assert partial_results(rows, columns, SMS) == measured


def test_partial_results_never_grow_with_fewer_processors_and_vanish_for_short_columns():
    for rows in (64, 1000, 5000, 100_000):
        for columns in (8, 96, 777, 4096):
            small, large = (partial_results(rows, columns, n) for n in (40, SMS))
            assert small <= large
            assert large % columns == 0
    assert partial_results(60, 4096, SMS) == 0


def test_sums_of_truth_values_are_cast_and_sums_of_halves_are_not(scratch):
    mask = torch.randn(512, 700, device="cuda") > 0
    mask.sum(-1)
    assert scratch.pop("sum") == 512 * 700 * 8
    mask.half().sum(-1, dtype=torch.float32)
    assert "sum" not in scratch
    torch.ones(512, 700, device="cuda", dtype=torch.int32).cumsum(-1)
    assert scratch["cumsum"] == 512 * 700 * 8


def test_a_reduced_loss_keeps_the_storage_of_its_elements(scratch):
    x, y = torch.randn(2, 300, 500, device="cuda")
    for loss in (functional.mse_loss, functional.smooth_l1_loss):
        assert loss(x, y).untyped_storage().nbytes() == x.nbytes
        assert loss(x, y, reduction="none").shape == x.shape
    assert functional.l1_loss(x, y).untyped_storage().nbytes() == 4


def test_cross_entropy_under_autocast_keeps_logarithms_in_fp32_once(scratch):
    logits = torch.randn(256, 1000, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    target = torch.randint(1000, (256,), device="cuda")
    for options in ({}, {"label_smoothing": 0.1}, {"weight": torch.ones(1000, device="cuda")}):
        with torch.autocast("cuda", torch.bfloat16):
            loss = functional.cross_entropy(logits, target, **options)
        assert loss.dtype is torch.float32
        loss.backward()
        assert logits.grad.dtype is torch.bfloat16
    shares = torch.rand(256, 1000, device="cuda", dtype=torch.bfloat16)
    with torch.autocast("cuda", torch.bfloat16):
        assert functional.cross_entropy(logits, shares).shape == ()


def test_cells_are_one_node_with_the_gates_kept(scratch):
    for kind, gates, node in ((torch.nn.LSTMCell, 4, "Lstm"), (torch.nn.GRUCell, 5, "Gru")):
        cell = kind(24, 48, bias=node == "Gru").cuda()
        output = cell(torch.randn(6, 24, device="cuda"))
        output = output[0] if node == "Lstm" else output
        assert node in output.grad_fn.name()
        kept = output.grad_fn._saved_result2 if node == "Lstm" else output.grad_fn._saved_result1
        assert kept.numel() == 6 * 48 * gates
        output.sum().backward()
        assert all(one.grad.shape == one.shape for one in cell.parameters())


def test_kernels_read_arguments_given_by_name(scratch):
    x = torch.randn(64, 32, device="cuda", dtype=torch.float16, requires_grad=True)
    assert torch.softmax(x, dim=-1, dtype=torch.float32).dtype is torch.float32
    assert torch.log_softmax(input=x, dim=-1).shape == x.shape
    assert torch.dropout(x, p=0.1, train=True).grad_fn.name() == "NativeDropoutBackward0"
    assert torch.cumprod(x, dim=0).shape == x.shape


class Watch(TorchDispatchMode):
    """Notes of each accumulation whether its output is the tensor it adds to."""

    def __init__(self):
        super().__init__()
        self.in_place = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        output = func(*args, **(kwargs or {}))
        name = func._schema.name.rpartition("::")[2]
        if name in ACCUMULATING:
            self.in_place[name] = output.data_ptr() == args[0].data_ptr()
        return output


def test_gradients_of_lookups_are_added_to_the_zeros_they_begin_with(scratch):
    table = torch.randn(500, 64, device="cuda", requires_grad=True)
    rows = torch.randint(500, (40,), device="cuda")
    with Watch() as watch:
        found = (table[rows], table.index_select(0, rows), table.gather(0, rows[:, None]))
        (sum(one.sum() for one in found) + table.max(0).values.sum()).backward()
    assert set(watch.in_place) == ACCUMULATING
    assert all(watch.in_place.values())
    assert table.grad.shape == table.shape


class Spread(torch.autograd.Function):
    """A gradient that the program itself adds up, out of place."""

    @staticmethod
    def forward(ctx, table, rows):
        ctx.save_for_backward(table, rows)
        return table.gather(0, rows)

    @staticmethod
    def backward(ctx, gradient):
        table, rows = ctx.saved_tensors
        return torch.zeros_like(table).scatter_add(0, rows, gradient), None


def test_a_program_that_adds_out_of_place_in_its_backward_gets_a_new_tensor(scratch):
    table = torch.randn(500, 64, device="cuda", requires_grad=True)
    with Watch() as watch:
        Spread.apply(table, torch.randint(500, (40, 64), device="cuda")).sum().backward()
    assert watch.in_place == {"scatter_add": False}
