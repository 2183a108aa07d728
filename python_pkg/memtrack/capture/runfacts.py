"""What a run was made of besides its memory: batches, dtypes of parameters, versions of the driver."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import torch

from memtrack.capture.tensors import shape_of
from memtrack.devices import DriverError, nvidia_driver

KEY = "run"
"""Where these facts are in `Facts.extra`."""
MOST_BATCHES = 8
MOST_INPUTS = 16
_CONF = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


class RunFacts:
    """Gathered while a run goes on; holds names and numbers alone."""

    def __init__(self) -> None:
        self._batches: dict[tuple[Any, ...], None] = {}
        self._elements: dict[str, int] = {}

    def saw_batch(self, layer: int, inputs: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Take what the model in row `layer` was called with, each combination of shapes once."""
        if len(self._batches) >= MOST_BATCHES:
            return
        named = [(name, shape_of(tensor), tensor.dtype) for name, tensor in inputs]
        self._batches[layer, tuple(named[:MOST_INPUTS])] = None

    def saw_model(self, model: torch.nn.Module) -> None:
        """Count the elements of a model's parameters by their dtype."""
        with suppress(Exception):  # a parameter without a shape yet: nothing is known of it
            for parameter in model.parameters():
                dtype = _name(parameter.dtype)
                self._elements[dtype] = self._elements.get(dtype, 0) + parameter.numel()

    def to_json(self, on_cuda: bool) -> dict[str, Any]:
        """Return the facts as plain JSON; what is not known is left out.

        `batches` as people write them, `parameters` in elements by dtype, `allocator_conf` the
        variable that sets the allocator up, `cuda` and `driver` their versions.
        """
        conf = next((value for name in _CONF if (value := os.environ.get(name))), "")
        found: dict[str, Any] = {
            "batches": [_written(inputs) for _, inputs in self._batches],
            "parameters": dict(self._elements),
            "allocator_conf": conf,
        }
        if on_cuda:
            found |= {"cuda": torch.version.cuda, "hip": torch.version.hip, "driver": _driver()}
        return {name: value for name, value in found.items() if value}


def _written(inputs: tuple[tuple[str, tuple[int, ...] | None, torch.dtype], ...]) -> str:
    return ", ".join(
        f"{name} {'×'.join(map(str, shape)) if shape else 'scalar'} {_name(dtype)}"
        for name, shape, dtype in inputs
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _driver() -> str:
    """Return the version of NVIDIA's driver, "" where it does not tell."""
    driver = nvidia_driver()
    if driver is None:
        return ""
    try:
        told = driver.ask("nvmlSystemGetDriverVersion")
    except DriverError:
        return ""
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
