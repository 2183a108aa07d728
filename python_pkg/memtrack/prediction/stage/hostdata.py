"""Arguments whose values torch's own C++ reads on the host: lengths, sizes of batches, places to split.

Such a tensor must be known; given to C++ without data it would be read at address 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import refused
from memtrack.prediction.stage.claims import is_meta
from memtrack.prediction.stage.known import quiet, value_of

FROM_PYTHON = {
    "lstm": (1,),
    "gru": (1,),
    "rnn_tanh": (1,),
    "rnn_relu": (1,),
    "ctc_loss": (2, 3),
    "tensor_split": (1,),
}
"""Arguments by the name of what Python calls; of the recurrent ones it is `batch_sizes`."""
RECURRENT = frozenset(("lstm", "gru", "rnn_tanh", "rnn_relu"))
_AS_NUMBERS = frozenset(("ctc_loss", "tensor_split"))


def with_values(name: str, places: tuple[int, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with real values at `places`; PredictionError where they are not known."""
    found = list(args)
    for place in places:
        one = found[place] if place < len(found) else None
        if not isinstance(one, torch.Tensor):
            continue
        with quiet():
            value = value_of(one) if is_meta(one) else one
            if value is None:
                raise refused(name, text("the lengths it is given are not known"))
            found[place] = value.tolist() if name in _AS_NUMBERS else value.clone()
    return tuple(found)


def packed(
    inputs: torch.Tensor, lengths: torch.Tensor, batch_first: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what `torch._pack_padded_sequence` does, which reads and writes lengths in C++."""
    numbers = _numbers("pack_padded_sequence", lengths)
    if any(one < other for one, other in pairwise(numbers)):
        raise RuntimeError("`lengths` array must be sorted in decreasing order")
    sizes = [sum(length > step for length in numbers) for step in range(numbers[0])]
    data: torch.Tensor = _Pack.apply(inputs, sizes, batch_first)  # type: ignore[no-untyped-call]
    return data, torch.tensor(sizes)


class _Pack(torch.autograd.Function):
    """One node, as in C++: rows of the sequences, step by step."""

    @staticmethod
    def forward(
        ctx: Any, inputs: torch.Tensor, sizes: list[int], batch_first: bool
    ) -> torch.Tensor:
        ctx.shape, ctx.sizes, ctx.batch_first = inputs.shape, sizes, batch_first
        steps = inputs.transpose(0, 1) if batch_first else inputs
        rest = steps.shape[2:]
        pieces = [
            steps[begin:end, :size].contiguous().view(-1, *rest)
            for begin, end, size in _runs(sizes)
        ]
        return torch.cat(pieces)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        gradient = gradients[0]
        whole = gradient.new_zeros(ctx.shape)
        steps = whole.transpose(0, 1) if ctx.batch_first else whole
        row = 0
        for begin, end, size in _runs(ctx.sizes):
            rows = size * (end - begin)
            piece = gradient[row : row + rows].view(end - begin, size, *steps.shape[2:])
            steps[begin:end, :size].copy_(piece)
            row += rows
        return whole, None, None


def padded(
    data: torch.Tensor,
    batch_sizes: torch.Tensor,
    batch_first: bool,
    padding_value: float,
    total_length: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what `torch._pad_packed_sequence` does, which writes lengths where there is no data.

    As in C++ the output is filled, then each run of equal batch sizes is copied in.
    """
    sizes = _numbers("pad_packed_sequence", batch_sizes)
    steps, batch = max(total_length, len(sizes)), sizes[0]
    shape = (steps, batch, *data.shape[1:])
    output = torch.full(shape, padding_value, dtype=data.dtype, device=data.device)
    row = 0
    for begin, end, size in _runs(sizes):
        rows = size * (end - begin)
        piece = data[row : row + rows].view(end - begin, size, *data.shape[1:])
        output[begin:end, :size].copy_(piece)
        row += rows
    lengths = torch.tensor([sum(size > place for size in sizes) for place in range(batch)])
    return (output.transpose(0, 1) if batch_first else output), lengths


def _numbers(name: str, tensor: torch.Tensor) -> list[int]:
    (real,) = with_values(name, (0,), (tensor,))
    with quiet():
        numbers: list[int] = real.tolist()
    return numbers


def _runs(sizes: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (begin, end, size) of runs of equal sizes."""
    begin = 0
    while begin < len(sizes):
        end = begin
        while end < len(sizes) and sizes[end] == sizes[begin]:
            end += 1
        yield begin, end, sizes[begin]
        begin = end


def flattened(weights: list[torch.Tensor], *shape: Any) -> torch.Tensor:
    """Return what `torch._cudnn_rnn_flatten_weight` does: one buffer that all weights become views of.

    cuDNN itself is asked nothing; it lays weights out one after another.
    """
    whole = torch.empty(
        sum(one.numel() for one in weights), dtype=weights[0].dtype, device=weights[0].device
    )
    place = 0
    for one in weights:
        part = whole[place : place + one.numel()].view(one.shape)
        part.copy_(one)
        one.data = part
        place += one.numel()
    return whole
