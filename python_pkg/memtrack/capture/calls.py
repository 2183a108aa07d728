"""Calls of modules: the stack of those under way, and whose backward an autograd node is part of.

Autograd nodes are numbered in the order they are made on a thread. The numbers at the entry and
exit of each call therefore tell, in backward, which call made the node that is running, without a
hook on any tensor.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right

import numpy as np
import torch

from memtrack.capture import torch_api
from memtrack.capture.moments import Moments
from memtrack.capture.tensors import describe_dtype, describe_shape, shape_of
from memtrack.recording.builder import StringBuilder, TableBuilder
from memtrack.recording.categories import CallKind
from memtrack.recording.tables import Array

NONE = -1
MAX_DESCRIBED_OUTPUTS = 3


class _Numbers:
    """From which autograd node on which call made them, on one thread."""

    def __init__(self) -> None:
        self.sequences: list[int] = []
        self.owners: list[int] = []


class _Thread(threading.local):
    """The calls under way on one thread and its numbering of autograd nodes."""

    def __init__(self) -> None:
        self.stack: list[int] = []
        self.numbers = _Numbers()


class Calls:
    """Writes the call table."""

    def __init__(self, table: TableBuilder, strings: StringBuilder, moments: Moments) -> None:
        self._table = table
        self._strings = strings
        self._moments = moments
        self._thread = _Thread()
        self._main = self._thread.numbers
        self._descriptions: dict[tuple[object, ...], tuple[int, int]] = {}
        self._saved: set[tuple[int, int]] = set()
        self._unpack_ns = array("q")
        self._unpack_call = array("q")

    def adopt_thread(self) -> None:
        """Take this thread for the one whose forward passes are differentiated."""
        self._main = self._thread.numbers

    @property
    def current(self) -> int:
        """The innermost call under way on this thread, -1 outside."""
        stack = self._thread.stack
        return stack[-1] if stack else NONE

    @property
    def depth(self) -> int:
        """How many calls are under way on this thread."""
        return len(self._thread.stack)

    def layer_of(self, call: int) -> int:
        """Return the layer of a call, -1 for none."""
        return self._table.get(call, "layer") if call >= 0 else NONE

    def open_calls_of(self, layer: int) -> int:
        """Return how many calls of `layer` are under way on this thread."""
        return sum(1 for call in self._thread.stack if self.layer_of(call) == layer)

    def begin(self, layer: int, kind: CallKind, phase: int) -> int:
        """Push a call; return its row."""
        call = self._table.add(
            layer=layer,
            parent=self.current,
            kind=int(kind),
            phase=phase,
            start=self._moments.cut(),
            start_ns=self._moments.now_ns(),
        )
        self._thread.stack.append(call)
        self._number(call)
        return call

    def end(self, layer: int, outputs: list[torch.Tensor], output_bytes: int, failed: bool) -> None:
        """Pop the innermost call of `layer` and any that an exception left above it."""
        stack = self._thread.stack
        if not self.open_calls_of(layer):
            return
        while stack:
            call = stack.pop()
            done = self.layer_of(call) == layer
            self._close(call, failed or not done)
            if done:
                self._describe(call, outputs, output_bytes)
                break
        self._number(self.current)

    def abandon(self) -> None:
        """Close every call under way on this thread, as when an interrupt left them open."""
        stack = self._thread.stack
        while stack:
            self._close(stack.pop(), failed=True)
        self._number(NONE)

    def of_node(self, node: object) -> int:
        """Return the call whose forward made an autograd node of this thread, -1 when unknown."""
        sequence = torch_api.node_sequence(node)
        if sequence < 0 or not self._main.sequences or self._main.sequences[-1] < 0:
            return NONE
        at = bisect_right(self._main.sequences, sequence) - 1
        return self._main.owners[at] if at >= 0 else NONE

    def ran_backward(self, call: int, start: int, start_ns: int) -> None:
        """Widen the backward window of `call` to include what ran from `start` until now."""
        if self._table.get(call, "backward_start") < 0:
            self._table.set(call, backward_start=start, backward_start_ns=start_ns)
        self._table.set(
            call, backward_end=self._moments.cut(), backward_end_ns=self._moments.now_ns()
        )

    def unpacked(self, call: int) -> None:
        """Backward reads what `call` saved: from now on it runs that call's backward."""
        now = self._moments.now_ns()
        if self._unpack_call and self._unpack_call[-1] == call:
            return
        if self._unpack_call and self._unpack_call[-1] >= 0:
            self._table.set(self._unpack_call[-1], backward_end_ns=now)
        self._unpack_ns.append(now)
        self._unpack_call.append(call)
        if call >= 0:
            if self._table.get(call, "backward_start_ns") < 0:
                self._table.set(call, backward_start_ns=now)
            self._table.set(call, backward_end_ns=now)

    def backward_trace(self) -> tuple[Array, Array]:
        """Return when backward went on to which call: times in nanoseconds, calls (-1: none)."""
        return np.array(self._unpack_ns, dtype="i8"), np.array(self._unpack_call, dtype="i8")

    def first_save(self, call: int, allocation: int) -> bool:
        """Tell, once, that `call` saves `allocation`."""
        key = (call, allocation)
        if key in self._saved:
            return False
        self._saved.add(key)
        return True

    def close(self) -> None:
        """Give calls still under way an end, so that the table can be read while they run."""
        for call in self._thread.stack:
            self._table.set(call, end=self._moments.cut(), end_ns=self._moments.now_ns())

    def _close(self, call: int, failed: bool) -> None:
        self._table.set(
            call, end=self._moments.cut(), end_ns=self._moments.now_ns(), failed=int(failed)
        )

    def _describe(self, call: int, outputs: list[torch.Tensor], output_bytes: int) -> None:
        key = tuple((shape_of(tensor), tensor.dtype) for tensor in outputs)
        description = self._descriptions.get(key)
        if description is None:
            description = self._descriptions[key] = self._described(outputs)
        shape, dtype = description
        self._table.set(
            call,
            output_shape=shape,
            output_dtype=dtype,
            output_bytes=output_bytes,
            needs_grad=int(any(tensor.requires_grad for tensor in outputs)),
        )

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
