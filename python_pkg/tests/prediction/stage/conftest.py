"""A check around every test of the stage: the process is as it was."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest
import torch
from torch.nn import functional

_PYTESTS = "PYTEST_CURRENT_TEST"
OWNERS = (torch.Tensor, torch.UntypedStorage, torch.cuda, torch.nn.Module, functional, torch)


def _process() -> dict[str, object]:
    """Return everything a prediction may touch and has to put back."""
    found: dict[str, object] = {
        "environment": {name: os.environ[name] for name in os.environ if name != _PYTESTS}
    }
    for owner in OWNERS:
        entries = {name: id(value) for name, value in vars(owner).items() if name[:2] != "__"}
        found[owner.__name__] = {
            name: entries[name] for name in entries if not isinstance(vars(owner)[name], type(os))
        }
    found["tensor attributes"] = {name: id(getattr(torch.Tensor, name)) for name in ("to", "cuda")}
    found["random"] = (random.getstate(), str(np.random.get_state()))
    found["torch"] = torch.get_rng_state().tolist()
    found["dtype"] = torch.get_default_dtype()
    found["device"] = torch.get_default_device()
    found["autocast"] = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
    found["grad"] = torch.is_grad_enabled()
    found["cuda"] = torch.cuda.is_available()
    found["modes"] = torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()
    return found


@pytest.fixture(autouse=True)
def process_is_as_it_was():
    """Compare the process before and after."""
    before = _process()
    yield
    after = _process()
    for name, value in before.items():
        assert after[name] == value, name
