"""Kernels that are not modelled: Triton's are launched on nothing, addresses for others are refused.

So are nested tensors, whose sizes are no numbers.

A tensor without data has no address on a device, so that a kernel that was really launched with one
would break the CUDA context of the process.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import is_meta, outer_claim_of
from memtrack.prediction.stage.patches import Patches

_LAUNCHERS = (
    ("triton.runtime.jit", "JITFunction"),
    ("triton.runtime.autotuner", "Autotuner"),
)
_NESTED = (
    "nested_tensor",
    "as_nested_tensor",
    "nested_tensor_from_jagged",
    "narrow",
    "masked_select",
)
_INTERFACE = "__cuda_array_interface__"


class Foreign:
    """Replaces what hands tensors to kernels of other libraries."""

    def __init__(self, assumptions: Assumptions) -> None:
        self._assumptions = assumptions

    def install(self, patches: Patches) -> None:
        """Put the replacements in; Triton is loaded where it is installed, as torch's compiler does."""
        patches.put(torch.Tensor, _INTERFACE, property(self._interface(patches)))
        for name in _NESTED:
            patches.replace(torch.nested, name, _refusing(f"torch.nested.{name}"))
        for module, name in _LAUNCHERS:
            with contextlib.suppress(ImportError, AttributeError):
                launcher = getattr(importlib.import_module(module), name)
                patches.replace(launcher, "run", self._launched)

    def _launched(self, original: Any) -> Any:
        """A kernel writes into what it is given and allocates nothing; what it writes is not known."""

        def run(kernel: Any, *args: Any, **kwargs: Any) -> None:
            for one in (*args, *kwargs.values()):
                claim = outer_claim_of(one) if isinstance(one, torch.Tensor) else None
                if claim is not None:
                    claim.forget()
            self._assumptions.add(f"triton {_name_of(kernel)}", text("it allocates nothing"))

        return run

    def _interface(self, patches: Patches) -> Any:
        original = vars(torch.Tensor)[_INTERFACE].__get__

        def interface(tensor: torch.Tensor) -> Any:
            with torch._C.DisableTorchFunction():
                is_ours = patches.is_ours() and bool(is_meta(tensor))
            if is_ours:
                raise refused(
                    f"Tensor.{_INTERFACE}",
                    text("kernels of other libraries would read a tensor without data"),
                )
            return original(tensor)

        return interface


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise refused(name, text("tensors of such a layout are not modelled"))

    return lambda original: refuse


def _name_of(kernel: Any) -> str:
    """Return what a kernel is called; one that is tuned wraps another."""
    while not hasattr(kernel, "__name__") and hasattr(kernel, "fn"):
        kernel = kernel.fn
    return str(getattr(kernel, "__name__", "kernel"))
