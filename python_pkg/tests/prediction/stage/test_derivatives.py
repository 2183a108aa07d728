"""Derivatives forwards and of functions: torch's own formulas are scripted, zeros lie in memory."""

import torch
from prediction.tested_gpu import GPU, KERNELS

from memtrack.prediction.stage.known import compute
from memtrack.prediction.stage.stage import Stage

ZERO = torch.ops.aten._efficientzerotensor.default


def test_zeros_without_memory_are_made_to_lie_in_memory():
    assert torch._efficientzerotensor((4,))._is_zerotensor()
    made = compute(ZERO, ([4],), {})
    assert not made._is_zerotensor()
    assert made.tolist() == [0.0] * 4
    added = compute(torch.ops.aten.add.Tensor, (torch._efficientzerotensor((4,)), 2.0), {})
    assert added.tolist() == [2.0] * 4


def test_a_hessian_runs():
    with Stage(GPU, KERNELS) as stage:
        found = torch.func.hessian(lambda v: (v**3).sum())(torch.randn(8, device="cuda"))
        assert found.shape == (8, 8)
        assert stage.claimed_device(found).type == "cuda"


def test_formulas_of_torch_are_scripted_and_the_users_functions_are_not():
    def formula(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with Stage(GPU, KERNELS) as stage:
        assert torch.jit.script(formula) is formula
        assert [one.operation for one in stage.assumptions] == ["torch.jit.script"]
        formula.__module__ = "torch._decomp.decompositions_for_jvp"
        assert hasattr(torch.jit.script(formula), "graph")
