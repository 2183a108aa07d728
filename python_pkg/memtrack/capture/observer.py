"""What to write down when something happens: the callbacks behind every hook.

Comes in: modules called, operations done, tensors saved, optimizers stepping. Goes out: rows of the
tables being built. Nothing here installs or removes a hook; `recorder` does.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import torch

from memtrack.capture import torch_api
from memtrack.capture.blocks import Blocks, plain_tensors, storage_of
from memtrack.capture.calls import NONE, Calls
from memtrack.capture.dispatch import tensors_among
from memtrack.capture.hindsight import PRECEDENCE
from memtrack.capture.layers import Layers
from memtrack.capture.moments import Moments
from memtrack.capture.optimizers import Optimizers, parameters_of, states_of
from memtrack.capture.phases import Phases
from memtrack.capture.samples import Samples
from memtrack.capture.stacks import StackReader
from memtrack.capture.tensors import named_tensors_in, tensors_in
from memtrack.capture.ticks import Meter
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import CallKind, Category, PhaseKind
from memtrack.recording.tables import Array

UNREAD = -2
FOREIGN_RANK = PRECEDENCE[Category.GRADIENT]
"""A parameter nobody named outranks only what has no name."""


class Observer:
    """One recording being written. Keeps no tensor, module or optimizer alive."""

    def __init__(self, names: Callable[[str], str] | None, follows_life: bool = True) -> None:
        self.builder = RecordingBuilder()
        builder = self.builder
        self.moments = Moments(builder["events"])
        self.blocks = Blocks(builder, self.moments, follows_life)
        self.layers = Layers(builder)
        self.calls = Calls(builder["calls"], builder.strings, self.moments)
        self.phases = Phases(builder["phases"], self.moments)
        self.samples = Samples(builder["samples"], builder["devices"], self.moments)
        self.stacks = StackReader(builder.stacks, names)
        self.optimizers = Optimizers()
        self.meter = Meter(self.moments)
        self.blocks.on_change = self.meter.change
        self.notices: set[str] = set()
        self.on_new_step: Callable[[], bool] = lambda: True
        """Asked before a step begins; False when the recording has ended there."""
        self.on_late_step: Callable[[], None] = lambda: None
        """Told when a step turns out to have begun some time ago."""
        self.adopt: Callable[[torch.nn.Module], int] = lambda module: NONE
        """Asked about an untracked module called outside any other; returns its new root row."""
        self._thread = threading.get_ident()
        self._backward_task = torch_api.NO_GRAPH_TASK
        self._op_start = (0, 0)
        self._op_call = NONE
        self._saved = builder["saved"]
        self._saved_ns = array("q")
        self._ranks: dict[int, int] = {}
        self._targets: list[tuple[int, int]] = []

    # what is there already

    def notice_living(self, tensors: list[torch.Tensor]) -> None:
        """Count tensors that were alive before the recording."""
        for tensor in tensors:
            for plain in plain_tensors(tensor):
                self.blocks.sight(plain)

    def notice_model(self, root: int) -> None:
        """Name the parameters, buffers and gradients of a root."""
        for tensor, entry in self.layers.owned(root):
            category = Category.PARAMETER if entry.is_parameter else Category.BUFFER
            self._claim(tensor, category, entry.layer, entry.name)
            if entry.is_parameter and tensor.grad is not None:
                self._claim(tensor.grad, Category.GRADIENT, entry.layer, entry.name)

    def notice_models(self) -> None:
        """Name the parameters, buffers and gradients of all tracked models as they are now."""
        for root in self.layers.roots():
            self.notice_model(root)

    def notice_state(self, optimizer: torch.optim.Optimizer) -> None:
        """Name the state of an optimizer after the parameters it belongs to."""
        for state_name, key, tensor in states_of(optimizer):
            layer, owner = self._owner(key)
            name = f"{state_name} of {owner}" if owner else state_name
            self._claim(tensor, Category.OPTIMIZER_STATE, layer, name)

    # modules

    def before_forward(self, module: torch.nn.Module, args: Any) -> None:
        """A module is about to run."""
        if threading.get_ident() != self._thread and not self._in_backward():
            self.notices.add("threads")
            return
        layer = self.layers.row(module)
        if layer < 0:
            if self.calls.depth or self._in_backward():
                return
            layer = self.adopt(module)
            if layer < 0:
                return
        recompute = self._in_backward()
        is_outset = self.layers.is_root(layer) and not recompute
        if is_outset and not self._begin_root(layer, args, torch_api.caller_kwargs()):
            return
        kind = CallKind.RECOMPUTE if recompute else CallKind.FORWARD
        self.calls.begin(layer, kind, self.phases.row)

    def after_forward(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        """A module has returned or raised."""
        layer = self.layers.row(module)
        if layer < 0 or not self.calls.open_calls_of(layer):
            return
        failed = output is None and _is_failing()
        outputs = list(tensors_in(output))
        self.calls.end(layer, outputs, self._distinct_bytes(outputs), failed)
        if self.layers.is_root(layer) and not self.calls.depth and not self._in_backward():
            self.phases.leave(PhaseKind.FORWARD)
            self.samples.take(self.blocks.device_rows())

    def _begin_root(self, layer: int, args: Any, kwargs: dict[str, Any]) -> bool:
        if self.calls.depth:
            if not self._is_stale(layer):
                return True
            self.calls.abandon()
            self.phases.leave_all()
        if self.layers.has_parameters(layer):
            if self.phases.steps.forward_begins_one(torch.is_grad_enabled(), layer):
                if not self.on_new_step():
                    return False
                self.phases.next_step()
            self.notice_model(layer)
        for name, tensor in named_tensors_in(args, ""):
            self._claim(tensor, Category.INPUT, NONE, name)
        for name, tensor in named_tensors_in(kwargs, ""):
            self._claim(tensor, Category.INPUT, NONE, name)
        self.phases.enter_forward(torch.is_grad_enabled(), layer)
        return True

    def _is_stale(self, layer: int) -> bool:
        """Tell whether open calls of `layer` were left by an interrupt rather than being under way."""
        running = 0
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if torch_api.calls_module(frame.f_code):
                running += self.layers.row(frame.f_locals["self"]) == layer
            frame = frame.f_back
        return self.calls.open_calls_of(layer) >= running

    # operations

    def before_operation(self) -> None:
        """An operation is about to run: note where backward stands."""
        task = torch_api.graph_task_id()
        if (task != torch_api.NO_GRAPH_TASK) != (self._backward_task != torch_api.NO_GRAPH_TASK):
            self._backward_changed(task)
        call = self.calls.current
        if call < 0 and task != torch_api.NO_GRAPH_TASK:
            call = self.calls.of_node(torch_api.current_node())
            self._op_start = (self.moments.cut(), self.moments.now_ns())
        self._op_call = call

    def after_operation(self, args: Any, kwargs: dict[str, Any], outputs: Any) -> None:
        """An operation has run: count the storages it made and any that were not known."""
        call, blocks = self._op_call, self.blocks
        for tensor in tensors_among(args):
            if not blocks.knows(tensor):
                for plain in plain_tensors(tensor):
                    blocks.sight(plain)
        stack = layer = UNREAD
        for tensor in tensors_among(outputs):
            if blocks.knows(tensor):
                continue
            if stack == UNREAD:
                stack, layer = self.stacks.read(), self.calls.layer_of(call)
            for plain in plain_tensors(tensor):
                blocks.sight(plain, layer, call, stack)
        if self._backward_task != torch_api.NO_GRAPH_TASK and call >= 0:
            self.calls.ran_backward(call, *self._op_start)

    def saved(self, tensor: torch.Tensor) -> int:
        """Autograd keeps a tensor for backward. Return the call that saves it."""
        call = self.calls.current
        for plain in plain_tensors(tensor):
            row = self.blocks.sight(plain)
            if row < 0:
                continue
            self._mark_foreign(tensor, row)
            if call < 0 and tensor.grad_fn is None and not tensor.requires_grad:
                self._targets.append((row, self.phases.forward_start_ns))
            if self.calls.first_save(call, row):
                self._saved.append((call, row, self.moments.cut()))
                self._saved_ns.append(self.moments.now_ns())
        return call

    def saved_ns(self) -> Array:
        """Return when each row of the saved table was written, nanoseconds."""
        return np.array(self._saved_ns, dtype="i8")

    def target_candidates(self) -> tuple[Array, Array]:
        """Return constants that a loss keeps: their rows, and when the forward before it began."""
        rows, times = zip(*self._targets, strict=True) if self._targets else ((), ())
        return np.array(rows, dtype="i8"), np.array(times, dtype="i8")

    # backward and optimizer

    def backward_ended(self) -> None:
        """The backward pass under way is over."""
        self._backward_task = torch_api.NO_GRAPH_TASK
        self.notice_models()
        self.phases.leave(PhaseKind.BACKWARD)
        self.samples.take(self.blocks.device_rows())

    def unpacked(self, call: int) -> None:
        """Backward reads a tensor that `call` saved; told where operations are not watched."""
        task = torch_api.graph_task_id()
        if task != torch_api.NO_GRAPH_TASK and self._backward_task == torch_api.NO_GRAPH_TASK:
            self._backward_changed(task)
        if not self.calls.depth:
            self.calls.unpacked(call)

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer is about to step."""
        if threading.get_ident() != self._thread:
            return
        self.optimizers.add(optimizer)
        for parameter in parameters_of(optimizer):
            if parameter.grad is not None:
                layer, name = self._owner(parameter)
                self._claim(parameter.grad, Category.GRADIENT, layer, name)
        if self.phases.enter_optimizer(id(optimizer)):
            self.on_late_step()

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer has stepped."""
        if threading.get_ident() != self._thread:
            return
        if self.optimizers.has_new_state(optimizer):
            self.notice_state(optimizer)
        self.phases.leave_optimizer(id(optimizer))
        self.samples.take(self.blocks.device_rows())

    def settle(self) -> None:
        """Close what an exception or interrupt has left open; the user's code is not running."""
        self.calls.abandon()
        self._backward_task = torch_api.NO_GRAPH_TASK
        self.phases.leave_all()

    def calls_seen(self) -> int:
        """Return how many calls of tracked modules there have been."""
        return len(self.builder["calls"])

    def adopt_thread(self) -> None:
        """Take this thread for the one that runs the training loop."""
        self._thread = threading.get_ident()
        self.calls.adopt_thread()

    def _backward_changed(self, task: int) -> None:
        if task == torch_api.NO_GRAPH_TASK:
            self.backward_ended()
            return
        self._backward_task = task
        self.phases.enter_backward()
        torch_api.queue_after_backward(self._after_task)

    def _after_task(self) -> None:
        outermost = torch_api.graph_task_id() in (self._backward_task, torch_api.NO_GRAPH_TASK)
        if outermost and self._backward_task != torch_api.NO_GRAPH_TASK:
            self.backward_ended()

    def _in_backward(self) -> bool:
        return torch_api.graph_task_id() != torch_api.NO_GRAPH_TASK

    # storages

    def _claim(self, tensor: torch.Tensor, category: Category, layer: int, name: str) -> None:
        """Name what a tensor's storage is for, unless it is known for something that outranks it."""
        if self._ranks.get(self.blocks.row_of(tensor), 0) >= PRECEDENCE[category]:
            return
        table = self.builder["allocations"]
        for plain in plain_tensors(tensor):
            row = self.blocks.sight(plain)
            if row < 0 or self._ranks.get(row, 0) >= PRECEDENCE[category]:
                continue
            self._ranks[row] = PRECEDENCE[category]
            string = self.builder.strings.add(name) if name else NONE
            table.set(row, category=int(category), layer=layer, name=string)

    def _mark_foreign(self, tensor: torch.Tensor, row: int) -> None:
        """Name a parameter of a model that runs untracked; its own model may name it better."""
        if row < 0 or row in self._ranks:
            return
        if isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter):
            self._ranks[row] = FOREIGN_RANK
            self.builder["allocations"].set(row, category=int(Category.PARAMETER))

    def _owner(self, parameter: Any) -> tuple[int, str]:
        """Return the layer and name of a parameter by its storage."""
        if not isinstance(parameter, torch.Tensor):
            return NONE, ""
        table = self.builder["allocations"]
        for plain in plain_tensors(parameter):
            row = self.blocks.row_of(plain)
            if row >= 0 and table.get(row, "category") == Category.PARAMETER:
                name = table.get(row, "name")
                return table.get(row, "layer"), self.builder.strings.get(name)
        return NONE, ""

    def _distinct_bytes(self, tensors: list[torch.Tensor]) -> int:
        sizes: dict[int, int] = {}
        for tensor in tensors:
            for plain in plain_tensors(tensor):
                storage = storage_of(plain)
                if storage is not None:
                    sizes[storage._cdata] = storage.nbytes()
        return sum(sizes.values())


def _is_failing() -> bool:
    """Tell whether an exception is leaving the forward, other than checkpointing's early stop."""
    error = sys.exc_info()[0]
    return error is not None and error.__name__ != "_StopRecomputationError"
