"""The table of CUDA kernels, as the stage asks it: rows below autograd, swaps above."""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels import (  # noqa: F401 - each declares its rows
    attention,
    cells,
    convolution,
    dropout,
    lookups,
    losses,
    normalization,
    pointwise,
    products,
    recurrent,
    reductions,
    softmaxes,
)
from memtrack.prediction.kernels.autocast import (
    FULL,
    LOWER,
    TO_FULL,
    WIDEST,
    Casts,
    told_full,
    widest,
)
from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.recurrent import MODES
from memtrack.prediction.kernels.registry import ROWS, SWAPS


class CudaKernels:
    """One prediction's table; it keeps the casts of autocast."""

    def __init__(self) -> None:
        self._casts = Casts()

    @property
    def rows(self) -> frozenset[str]:
        """Names of the operations that `run` wants to see."""
        return frozenset(ROWS)

    @property
    def swaps(self) -> frozenset[str]:
        """Names of the operations that `swap` wants to see."""
        return frozenset(SWAPS)

    def run(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
    ) -> Any:
        """Return an operation's outputs on meta, or NotImplemented; declare what it needs besides."""
        kernel = ROWS.get(_name(op))
        return NotImplemented if kernel is None else kernel(op, args, kwargs, context)

    def swap(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
    ) -> Any:
        """Return the outputs of what CUDA calls in place of a composite, cast as autocast does."""
        name = _name(op)
        if context.device is None or context.device.type != "cuda":
            return NotImplemented
        cast = context.autocast is not None
        if cast:
            given = self._cast(name, args, kwargs, context)
            cast = given is not None
            args, kwargs = given or (args, kwargs)
        kernel = SWAPS.get(name)
        outputs = NotImplemented if kernel is None else kernel(op, args, kwargs, context)
        if outputs is NotImplemented and cast:
            return op(*args, **kwargs)
        return outputs

    def forget_casts(self) -> None:
        """Let go of the casts of weights: the outermost autocast was left."""
        self._casts.forget()

    def _cast(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Return the arguments as autocast would have them, None where it leaves them alone."""
        if name in LOWER:
            target: torch.dtype | None = context.autocast
            if name in MODES and context.cudnn:  # whatever autocast's dtype is (`AutocastRNN.cpp`)
                target = torch.float16
        elif name in FULL:
            target = torch.float32
        elif name in TO_FULL:
            return (args, {**kwargs, "dtype": torch.float32}) if told_full(args, kwargs) else None
        elif name in WIDEST:
            target = widest((args, list(kwargs.values())))
        else:
            target = None
        if target is None:
            return None
        return (
            tuple(self._casts.cast(one, target) for one in args),
            {key: self._casts.cast(one, target) for key, one in kwargs.items()},
        )


def _name(op: Any) -> str:
    """Return an overload's name without namespace and overload."""
    name: str = op._schema.name
    return name.rpartition("::")[2]
