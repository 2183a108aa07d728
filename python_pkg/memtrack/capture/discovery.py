"""What the process already holds when a recording begins: tensors and optimizers."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable

import torch

from memtrack.capture import torch_api


def living_objects() -> tuple[list[torch.Tensor], list[torch.optim.Optimizer]]:
    """Return the tensors and optimizers alive in this process.

    Types are tested with `type(o)`, never `isinstance(o, …)`, which would run the code of lazy
    proxies. Tensors held by C++ alone are not found.
    """
    tensors: list[torch.Tensor] = []
    optimizers: list[torch.optim.Optimizer] = []
    for found in gc.get_objects():
        kind = type(found)
        if issubclass(kind, torch.Tensor):
            tensors.append(found)
        elif issubclass(kind, torch.optim.Optimizer):
            optimizers.append(found)
    return tensors, optimizers


def share_parameters(optimizer: torch.optim.Optimizer, parameters: Iterable[torch.Tensor]) -> bool:
    """Tell whether an optimizer updates one of `parameters`."""
    wanted = {id(parameter) for parameter in parameters}
    groups = getattr(optimizer, "param_groups", ())
    return any(id(parameter) in wanted for group in groups for parameter in group["params"])


def living_modules() -> list[torch.nn.Module]:
    """Return the modules alive in this process."""
    return [found for found in gc.get_objects() if issubclass(type(found), torch.nn.Module)]


def compiled_modules() -> list[torch.nn.Module]:
    """Return the living modules that were compiled in place, by `model.compile()`."""
    if "torch._dynamo" not in sys.modules:  # nothing has been compiled: no need to look
        return []
    return [one for one in living_modules() if torch_api.compiled_call(one) is not None]
