"""Cells of recurrent networks: two products, then one kernel for all gates.

Source: `RNN.cpp` (`LSTMCell`, `GRUCell` where `_thnn_fused_lstm_cell` is to be used) and `RNN.cu`.
"""

from __future__ import annotations

from typing import Any

import torch

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.registry import row, swap

aten = torch.ops.aten
_GRU_KEPT = 5
"""Values kept of each hidden unit: reset, update and new gate, the state before, its product."""


@swap("lstm_cell", "gru_cell")
def cell(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """Call the fused kernel on the products of input and state; biases are added inside it."""
    if kwargs or len(args) < 4:
        return NotImplemented
    x, state, w_input, w_hidden, *biases = args
    biases = [*biases, None, None][:2]
    is_gru = "gru_cell" in str(op)
    hidden = state if is_gru else state[0]
    gates = aten.linear(x, w_input), aten.linear(hidden, w_hidden)
    if is_gru:
        return aten._thnn_fused_gru_cell(*gates, hidden, *biases)[0]
    hy, cy, _ = aten._thnn_fused_lstm_cell(*gates, state[1], *biases)
    return hy, cy


@row("_thnn_fused_lstm_cell")
def lstm_forward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """State and cell, and the gates for backward."""
    gates, cx = args[0], args[2]
    return torch.empty_like(cx), torch.empty_like(cx), torch.empty_like(gates)


@row("_thnn_fused_lstm_cell_backward_impl")
def lstm_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Gradients of gates and cell, and their sum for the biases."""
    cx, _, gates, has_bias = args[2:6]
    bias = torch.empty(gates.shape[1], dtype=gates.dtype, device="meta") if has_bias else None
    return torch.empty_like(gates), torch.empty_like(cx), bias


@row("_thnn_fused_gru_cell")
def gru_forward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """The state, and what backward needs."""
    hx = args[2]
    kept = torch.empty(hx.shape[0], hx.shape[1] * _GRU_KEPT, dtype=hx.dtype, device="meta")
    return torch.empty_like(hx), kept


@row("_thnn_fused_gru_cell_backward")
def gru_backward(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext
) -> Any:
    """Gradients of both products and of the state, and their sums for the biases."""
    grad, kept, has_bias = args[:3]
    width = kept.shape[1] // _GRU_KEPT * 3
    gates = [torch.empty(kept.shape[0], width, dtype=kept.dtype, device="meta") for _ in range(2)]
    biases = [
        torch.empty(width, dtype=kept.dtype, device="meta") if has_bias else None for _ in range(2)
    ]
    return (*gates, torch.empty_like(grad), *biases)
