"""What a run was made of is known from the run itself."""

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import memtrack  # noqa: E402


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(8, 4)
        self.narrow = nn.Linear(4, 2, bias=False, dtype=torch.bfloat16)
        self.tied = self.wide.weight

    def forward(self, x, *, scale=None):
        return self.narrow(self.wide(x).bfloat16())


def facts_of(model, calls):
    with memtrack.track(model) as recording:
        for args, kwargs in calls:
            model(*args, **kwargs)
    return recording.data.facts.extra["run"]


def test_batches_are_told_once_each_with_names_and_dtypes():
    model, x = Mixed(), torch.randn(5, 8)
    found = facts_of(model, [((x,), {}), ((x,), {}), ((x[:3],), {"scale": torch.tensor(2)})])
    assert found["batches"] == [
        "input 0 5×8 float32",
        "input 0 3×8 float32, scale scalar int64",
    ]


def test_parameters_are_counted_by_dtype_once_each():
    assert facts_of(Mixed(), [])["parameters"] == {"float32": 8 * 4 + 4, "bfloat16": 4 * 2}


def test_ever_new_shapes_do_not_pile_up():
    model = nn.Linear(2, 2)
    found = facts_of(model, [((torch.randn(rows, 2),), {}) for rows in range(1, 50)])
    assert len(found["batches"]) == 8


def test_the_allocators_variable_is_noted(monkeypatch):
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    found = facts_of(nn.Linear(2, 2), [])
    assert found["allocator_conf"] == "expandable_segments:True"
    assert not {"driver", "cuda"} & set(found)


def test_a_model_without_shapes_yet_is_no_failure():
    model = nn.LazyLinear(3)
    found = facts_of(model, [((torch.randn(2, 4),), {})])
    assert found["batches"] == ["input 0 2×4 float32"]


@pytest.mark.gpu
def test_cuda_and_its_driver_are_known():
    model = nn.Linear(2, 2).cuda()
    found = facts_of(model, [((torch.randn(2, 2, device="cuda"),), {})])
    assert found["cuda"] == torch.version.cuda
    assert found["driver"].split(".")[0].isdecimal()
