"""Calls of modules: the stack of those under way, and whose backward an autograd node is part of.

Hooks of modules are the costliest part of watching a model that launches many small kernels, so all
they do is append numbers to logs; `columns` makes the table of them.

Autograd nodes are numbered in the order they are made on a thread. The numbers at the entry and
exit of each call therefore tell, in backward, which call made the node that is running, without a
hook on any tensor.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable
from time import perf_counter_ns

import numpy as np
import torch

from memtrack.capture import torch_api
from memtrack.capture.moments import Moments
from memtrack.capture.tensors import describe_dtype, describe_shape, shape_of
from memtrack.recording.builder import StringBuilder
from memtrack.recording.tables import CALLS, Array

NONE = -1
MAX_DESCRIBED_OUTPUTS = 3
_BEGUN = ("layer", "parent", "kind", "phase", "start", "start_ns")
_BEGUN_WIDTH = len(_BEGUN)
_ENDED = ("call", "end", "end_ns", "failed")
_OUTPUTS = ("call", "output_shape", "output_dtype", "output_bytes", "needs_grad")
_BACKWARD = ("backward_start", "backward_start_ns", "backward_end", "backward_end_ns")


class _Numbers:
    """From which autograd node on which call made them, on one thread."""

    def __init__(self) -> None:
        self.sequences: list[int] = []
        self.owners: list[int] = []


class _Thread(threading.local):
    """The (call, layer) under way on one thread, innermost last, and its numbering of nodes."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int]] = []
        self.numbers = _Numbers()


class Calls:
    """Logs the calls of modules.

    `follows_life` where cuts are counted as events are written and backward asks which call made a
    node; else calls are placed by their times.
    """

    def __init__(self, strings: StringBuilder, moments: Moments, follows_life: bool) -> None:
        self._strings = strings
        self._moments = moments
        self._numbers_nodes = follows_life
        self._cut: Callable[[], int] = moments.cut if follows_life else int
        self._thread = _Thread()
        self._main = self._thread.numbers
        self._begun, self._ended, self._outputs = array("q"), array("q"), array("q")
        self._backward: dict[int, list[int]] = {}
        self._descriptions: dict[tuple[object, ...], tuple[int, int]] = {}
        self._unpack_ns, self._unpack_call = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._begun) // _BEGUN_WIDTH

    def adopt_thread(self) -> None:
        """Take this thread for the one whose forward passes are differentiated."""
        self._main = self._thread.numbers

    @property
    def current(self) -> int:
        """The innermost call under way on this thread, -1 outside."""
        stack = self._thread.stack
        return stack[-1][0] if stack else NONE

    @property
    def depth(self) -> int:
        """How many calls are under way on this thread."""
        return len(self._thread.stack)

    def layer_of(self, call: int) -> int:
        """Return the layer of a call, -1 for none."""
        return self._begun[call * _BEGUN_WIDTH] if call >= 0 else NONE

    def open_calls_of(self, layer: int) -> int:
        """Return how many calls of `layer` are under way on this thread."""
        return sum(1 for _, other in self._thread.stack if other == layer)

    def begin(self, layer: int, kind: int, phase: int) -> None:
        """Push a call."""
        stack = self._thread.stack
        begun = self._begun
        call = len(begun) // _BEGUN_WIDTH
        parent = stack[-1][0] if stack else NONE
        begun.extend((layer, parent, kind, phase, self._cut(), perf_counter_ns()))
        stack.append((call, layer))
        if self._numbers_nodes:
            self._number(call)

    def end(self, layer: int, failed: bool) -> int:
        """Pop the innermost call of `layer` and any that an exception left above it; return it.

        -1 when none is under way.
        """
        stack = self._thread.stack
        if not stack or (stack[-1][1] != layer and not self.open_calls_of(layer)):
            return NONE
        call, popped = stack.pop()
        while popped != layer:
            self._close(call, failed=True)
            call, popped = stack.pop()
        self._ended.extend((call, self._cut(), perf_counter_ns(), failed))
        if self._numbers_nodes:
            self._number(self.current)
        return call

    def describe(self, call: int, outputs: list[torch.Tensor], output_bytes: int) -> None:
        """Note what a call returned."""
        key = tuple((shape_of(tensor), tensor.dtype) for tensor in outputs)
        description = self._descriptions.get(key)
        if description is None:
            description = self._descriptions[key] = self._described(outputs)
        needs_grad = any(tensor.requires_grad for tensor in outputs)
        self._outputs.extend((call, *description, output_bytes, needs_grad))

    def abandon(self, failed: bool) -> None:
        """Close every call under way on this thread, `failed` when an interrupt left them open."""
        stack = self._thread.stack
        while stack:
            self._close(stack.pop()[0], failed)
        if self._numbers_nodes:
            self._number(NONE)

    def of_node(self, node: object) -> int:
        """Return the call whose forward made an autograd node of this thread, -1 when unknown."""
        sequence = torch_api.node_sequence(node)
        if sequence < 0 or not self._main.sequences or self._main.sequences[-1] < 0:
            return NONE
        at = bisect_right(self._main.sequences, sequence) - 1
        return self._main.owners[at] if at >= 0 else NONE

    def in_backward(self, node: object, since_ns: int) -> int:
        """Return the call whose backward runs now, -1 when unknown; the pass began at `since_ns`."""
        if self._numbers_nodes:
            return self.of_node(node)
        is_of_pass = bool(self._unpack_ns) and self._unpack_ns[-1] >= since_ns
        return self._unpack_call[-1] if is_of_pass else NONE

    def ran_backward(self, call: int, start: int, start_ns: int) -> None:
        """Widen the backward window of `call` to include what ran from `start` until now."""
        end, end_ns = self._moments.cut(), self._moments.now_ns()
        window = self._backward.get(call)
        if window is None:
            self._backward[call] = [start, start_ns, end, end_ns]
        else:
            window[2:] = end, end_ns

    def unpacked(self, call: int) -> None:
        """Backward reads what `call` saved: from now on it runs that call's backward."""
        if self._unpack_call and self._unpack_call[-1] == call:
            return
        self._unpack_ns.append(self._moments.now_ns())
        self._unpack_call.append(call)

    def backward_trace(self) -> tuple[Array, Array]:
        """Return when backward went on to which call: times in nanoseconds, calls (-1: none)."""
        return np.array(self._unpack_ns, dtype="i8"), np.array(self._unpack_call, dtype="i8")

    def columns(self) -> dict[str, Array]:
        """Return the call table as it stands; calls still under way end now."""
        begun = _rows(self._begun, len(_BEGUN))
        count = len(begun)
        columns = {name: np.full(count, spec.default) for name, spec in CALLS.items()}
        columns["needs_grad"][:] = columns["failed"][:] = 0
        for place, name in enumerate(_BEGUN):
            columns[name] = begun[:, place].copy()
        columns["end"][:], columns["end_ns"][:] = self._cut(), perf_counter_ns()
        _scatter(columns, _rows(self._ended, len(_ENDED)), _ENDED)
        for name in ("start_ns", "end_ns"):
            columns[name] -= self._moments.base_ns
        _scatter(columns, _rows(self._outputs, len(_OUTPUTS)), _OUTPUTS)
        windows = [(call, *window) for call, window in list(self._backward.items())]
        _scatter(columns, np.array(windows, dtype="i8").reshape(-1, 5), ("call", *_BACKWARD))
        return columns

    def _close(self, call: int, failed: bool) -> None:
        self._ended.extend((call, self._cut(), perf_counter_ns(), failed))

    def _described(self, outputs: list[torch.Tensor]) -> tuple[int, int]:
        if not outputs:
            return NONE, NONE
        shapes = [describe_shape(shape_of(tensor)) for tensor in outputs[:MAX_DESCRIBED_OUTPUTS]]
        if len(outputs) > MAX_DESCRIBED_OUTPUTS:
            shapes.append("…")
        dtypes = dict.fromkeys(describe_dtype(tensor.dtype) for tensor in outputs)
        return self._strings.add(", ".join(shapes)), self._strings.add(", ".join(dtypes))

    def _number(self, call: int) -> None:
        sequence = torch_api.next_sequence()
        numbers = self._thread.numbers
        if numbers.sequences and numbers.sequences[-1] == sequence:
            numbers.owners[-1] = call
            return
        numbers.sequences.append(sequence)
        numbers.owners.append(call)


def _rows(log: array[int], width: int) -> Array:
    """Return a log as a table of its own memory; a row still being written is left out."""
    rows = np.array(log, dtype="i8")
    return rows[: len(rows) // width * width].reshape(-1, width)


def _scatter(columns: dict[str, Array], rows: Array, names: tuple[str, ...]) -> None:
    """Write rows that begin with a call into that call's place; of several the last stays."""
    for place, name in enumerate(names[1:], start=1):
        columns[name][rows[:, 0]] = rows[:, place]
