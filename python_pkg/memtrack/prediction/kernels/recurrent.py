"""Recurrent networks: all layers and steps are one call of cuDNN, which keeps a reserve for backward.

Sources: `RNN.cpp` (`lstm`, `gru`), `cudnn/RNN.cpp` (`_cudnn_rnn`, `_cudnn_rnn_backward`). What the reserve
holds for each step was read off `bench/results/kernels.json`, exactly; the workspace was fitted to it
(an H200, cuDNN 9.19: within 5 %, but for one layer of 16-bit values, where persistent kernels vary).
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import HALVES, nbytes, row, swap

aten = torch.ops.aten
MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}
_LSTM, _GRU = 2, 3
GATES = {0: 1, 1: 1, _LSTM: 4, _GRU: 3}
RESERVED = {0: 1, 1: 1, _LSTM: 5, _GRU: 6}
"""Values kept of each step, layer, direction and hidden unit."""
STATES = {0: 53, 1: 53, _LSTM: 10, _GRU: 5}
"""States of one step in the workspace of each layer."""
_ALIGNMENT = 256
_DROPOUT_STATE = 49_152
"""Bytes of the generators' states for each multiprocessor."""
_BOTH_WAYS = 3.125


@swap("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Call cuDNN's. The weights are flat beforehand, except those of bf16 outside autocast."""
    if kwargs or not context.cudnn:
        return NotImplemented
    mode = MODES[op._schema.name.rpartition("::")[2]]
    packed = op._overloadname == "data"
    x, batch_sizes = args[0], (args[1].tolist() if packed else [])
    states, weights, biases, layers, dropout, train, both, *last = args[2 if packed else 1 :]
    hx, cx = (states[0], states[1]) if mode == _LSTM else (states, None)
    hidden = (cx if cx is not None else hx).shape[-1]
    projection = hx.shape[-1] if hx.shape[-1] != hidden else 0
    each = (4 if biases else 2) + bool(projection)
    flat = x.dtype is not torch.bfloat16 or context.autocast is not None
    buffer = torch.empty(0, dtype=x.dtype, device="meta") if flat else None
    if dropout > 0 and train:
        context.keep("cudnn dropout", _DROPOUT_STATE * context.gpu.multiprocessors)
    output, hy, cy, _, _ = aten._cudnn_rnn(
        x,
        weights,
        each,
        buffer,
        hx,
        cx,
        mode,
        hidden,
        projection,
        layers,
        bool(last and last[0]),
        dropout,
        train,
        both,
        batch_sizes,
        None,
    )
    return (output, hy, cy) if mode == _LSTM else (output, hy)


@row("_cudnn_rnn")
def forward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """Output, last states, what backward needs, and the weights where they were not flat."""
    x, weights, _, buffer, hx, cx, mode, hidden, projection = args[:9]
    layers, batch_first, dropout, train, both, batch_sizes = args[9:15]
    ways, width = 1 + both, projection or hidden
    first = batch_first and not batch_sizes
    shape = (*_steps_first(x.shape, first)[:-1], width * ways)
    output = torch.empty(shape, dtype=x.dtype, device="meta")
    if first:
        output = output.transpose(0, 1)
        context.scratch(nbytes(x))
    cells = x.numel() // max(x.shape[-1], 1) * hidden
    reserve = 0
    if train:
        values = ways * cells * (layers * RESERVED[mode] + layers - 1)
        masks = ways * cells * (layers - 1) // 8 if dropout > 0 else 0
        reserve = values * x.dtype.itemsize + masks + _ALIGNMENT
    _work(args, context)
    if buffer is None:
        buffer = torch.empty(sum(one.numel() for one in weights), dtype=x.dtype, device="meta")
    else:
        buffer = torch.empty(0, dtype=x.dtype, device="meta")
    last = torch.empty_like(cx) if cx is not None else torch.empty(0, device="meta")
    kept = torch.empty(reserve, dtype=torch.uint8, device="meta")
    return output, torch.empty_like(hx), last, kept, buffer


@row("_cudnn_rnn_backward")
def backward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """Gradients of input and states, then of all weights in one buffer; the workspace for each."""
    x, weights, _, _, hx, cx = args[:6]
    mode, hidden, projection, layers, batch_first, dropout, train, both, sizes = args[10:19]
    first = batch_first and not sizes
    dx = torch.empty(_steps_first(x.shape, first), dtype=x.dtype, device="meta")
    if first:
        dx = dx.transpose(0, 1)
        context.scratch(nbytes(x))
    for one in (hx, cx):
        context.scratch(nbytes(one) if one is not None else 0)
    settings = (mode, hidden, projection, layers, batch_first, dropout, train, both, sizes)
    _work((x, weights, 0, None, hx, cx, *settings), context)
    dcx = torch.empty_like(cx) if cx is not None else torch.empty(0, device="meta")
    buffer = torch.empty(sum(one.numel() for one in weights), dtype=x.dtype, device="meta")
    pieces = buffer.split([one.numel() for one in weights])
    gradients = [piece.view(one.shape) for piece, one in zip(pieces, weights, strict=True)]
    return dx, torch.empty_like(hx), dcx, gradients


def _steps_first(shape: Any, batch_first: bool) -> tuple[int, ...]:
    """Return a shape with the steps first, as cuDNN takes it."""
    return (shape[1], shape[0], shape[2]) if batch_first else tuple(shape)


def _work(args: tuple[Any, ...], context: KernelContext) -> None:
    """Declare cuDNN's workspace: gates of all steps by layer, and recurrent matrices regrouped."""
    x, hx, mode, hidden, layers, both = args[0], args[4], args[6], args[7], args[9], args[13]
    cells = x.numel() // max(x.shape[-1], 1) * hidden
    states = hx.shape[-2] * hidden
    half = x.dtype in HALVES
    layer = (GATES[mode] + 2 * half) * cells + STATES[mode] * states
    base = 16 * hidden * hidden + cells
    values = layers * layer if not both else 2 * layers * layer + (_BOTH_WAYS - 1) * base
    size = round((values + base) * x.dtype.itemsize)
    context.scratch(size + 2 * _ALIGNMENT)
    context.widen(size if half and layers == 1 else size // 20)
