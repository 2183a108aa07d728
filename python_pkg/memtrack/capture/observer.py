"""What to write down when something happens: the callbacks behind every hook.

Comes in: modules called, operations done, tensors saved, backward begun, optimizers stepping. Goes
out: rows of the tables being built. Nothing here installs or removes a hook; `recorder` does.

Bytes are followed in one of two ways. Where the allocator keeps a history, `Sightings` note where
tensors are, and the history is read at the end. Elsewhere `Blocks` follow the life of each storage,
operation by operation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import Any

import torch

from memtrack.capture import torch_api
from memtrack.capture.blocks import Blocks, plain_tensors, storage_of
from memtrack.capture.calls import NONE, Calls
from memtrack.capture.casts import HALVES, cast_weight_of, is_cast_of
from memtrack.capture.dispatch import tensors_among
from memtrack.capture.layers import Layers
from memtrack.capture.moments import Moments
from memtrack.capture.naming import StorageNames
from memtrack.capture.optimizers import Optimizers, parameters_of, states_of
from memtrack.capture.passes import Passes
from memtrack.capture.phases import Phases
from memtrack.capture.runfacts import RunFacts
from memtrack.capture.samples import Samples
from memtrack.capture.sightings import Sightings
from memtrack.capture.stacks import StackReader
from memtrack.capture.tensors import named_tensors_in, tensors_in
from memtrack.capture.ticks import Meter
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import CallKind, Category, PhaseKind, ReadingKind

UNREAD = -2
_FORWARD, _RECOMPUTE = int(CallKind.FORWARD), int(CallKind.RECOMPUTE)
graph_task_id, NO_GRAPH_TASK = torch_api.graph_task_id, torch_api.NO_GRAPH_TASK


class Observer:
    """One recording being written. Keeps no tensor, module or optimizer alive.

    `follows_life` when storages are followed one by one, else the allocator's history is there, and
    `counts` tells how many allocations it has made and of how many bytes together. `blocks` makes what
    follows storages.
    """

    def __init__(
        self,
        names: Callable[[str], str] | None,
        follows_life: bool = True,
        counts: Callable[[], tuple[int, int]] | None = None,
        blocks: Callable[[RecordingBuilder, Moments], Blocks] = Blocks,
    ) -> None:
        self.builder = RecordingBuilder()
        builder = self.builder
        self.moments = Moments(builder["events"])
        self.follows_life = follows_life
        self.blocks = blocks(builder, self.moments)
        self.storages = StorageNames(builder, self.blocks, self.moments)
        self.sightings = Sightings(builder.strings, self.moments)
        self._names: StorageNames | Sightings = self.storages if follows_life else self.sightings
        self.layers = Layers(builder)
        self.calls = Calls(builder.strings, self.moments, follows_life)
        self.passes = Passes(self.moments, counts)
        self.phases = Phases(builder["phases"], self.moments)
        self.samples = Samples(builder["samples"], builder["devices"], self.moments)
        self.stacks = StackReader(builder.stacks, names)
        self.optimizers = Optimizers()
        self.meter = Meter(self.moments)
        self.blocks.on_change = self.meter.change
        self.notices: set[str] = set()
        self.facts = RunFacts()
        self.on_new_step: Callable[[], bool] = lambda: True
        """Asked before a step begins; False when the recording has ended there."""
        self.on_late_step: Callable[[], None] = lambda: None
        """Told when a step turns out to have begun some time ago."""
        self.on_boundary: Callable[[ReadingKind], None] = lambda kind: None
        """Told when a phase or a step has ended."""
        self.on_watch: Callable[[bool], None] = lambda watched: None
        """Told ahead of each forward pass whether it is watched, and when one unwatched is over."""
        self.adopt: Callable[[torch.nn.Module], int] = lambda module: NONE
        """Asked about an untracked module called outside any other; returns its new root row."""
        self._rows = self.layers.rows
        self._roots = self.layers.root_rows
        self._watching = True
        self._thread = get_ident()
        self._op_start = (0, 0)
        self._op_call = NONE

    @property
    def hides_compiled(self) -> bool:
        """Whether compiled parts stay compiled while we watch; else they run as written, hooks and all."""
        return torch_api.COMPILES_UNDER_MODES or not self.follows_life

    # what is there already

    def notice_living(self, tensors: list[torch.Tensor]) -> None:
        """Count tensors that were alive before the recording, and the gradients of leaves."""
        gradients = (one.grad for one in tensors if torch_api.may_have_gradient(one))
        for tensor in [*tensors, *(one for one in gradients if one is not None)]:
            if self.follows_life:
                for plain in plain_tensors(tensor):
                    self.blocks.sight(plain)
            else:
                self.sightings.claim(tensor, Category.OTHER)

    def notice_model(self, root: int) -> None:
        """Name the parameters, buffers and gradients of a root."""
        claim = self._names.claim
        for tensor, entry in self.layers.owned(root):
            category = Category.PARAMETER if entry.is_parameter else Category.BUFFER
            claim(tensor, category, entry.layer, entry.name)
        self._notice_gradients(root)

    def notice_models(self) -> None:
        """Name the parameters, buffers and gradients of all tracked models as they are now."""
        for root in self.layers.roots():
            self.notice_model(root)

    def _notice_gradients(self, root: int | None = None) -> None:
        if not self.follows_life:
            self.sightings.claim_gradients(self.layers.owned(root))
            return
        for tensor, entry in self.layers.owned(root):
            if entry.is_parameter and tensor.grad is not None:
                self.storages.claim(tensor.grad, Category.GRADIENT, entry.layer, entry.name)

    def notice_state(self, optimizer: torch.optim.Optimizer) -> None:
        """Name the state of an optimizer after the parameters it belongs to."""
        claim = self._names.claim
        for state_name, key, tensor in states_of(optimizer):
            layer, owner = self._owner(key)
            name = f"{state_name} of {owner}" if owner else state_name
            claim(tensor, Category.OPTIMIZER_STATE, layer, name)
        for parameter in parameters_of(optimizer):
            if not isinstance(parameter, torch.nn.Parameter) and self._owner(parameter)[0] < 0:
                claim(parameter, Category.OPTIMIZER_STATE, NONE, "master weights")

    # modules

    def before_forward(self, module: torch.nn.Module, args: Any) -> None:
        """A module is about to run."""
        in_backward = graph_task_id() != NO_GRAPH_TASK
        if get_ident() != self._thread and not in_backward:
            self.notices.add("threads")
            return
        layer = self._rows.get(id(module), NONE)
        if layer < 0:
            layer = self._layer_of_compiled(module)
        if layer < 0:
            if self.calls.depth or in_backward:
                return
            layer = self.adopt(module)
            if layer < 0:
                return
        if in_backward:
            self.calls.begin(layer, _RECOMPUTE, self.phases.row)
            return
        if layer in self._roots:
            kwargs = torch_api.caller_kwargs()
            if not self._begin_root(layer, module, args, kwargs):
                return
        self.calls.begin(layer, _FORWARD, self.phases.row)

    def after_forward(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        """A module has returned or raised."""
        layer = self._rows.get(id(module), NONE)
        if layer < 0:
            layer = self._layer_of_compiled(module)
        if layer < 0:
            return
        call = self.calls.end(layer, output is None and _is_failing())
        if call < 0:
            return
        is_root = layer in self._roots and not self.calls.depth and not self._in_backward()
        outputs = list(tensors_in(output))
        self.calls.describe(call, outputs, self._distinct_bytes(outputs))
        if is_root:
            self._end_root(output)

    def _layer_of_compiled(self, module: torch.nn.Module) -> int:
        """Return the layer that a compiled module outside the tree stands for, -1 for any other.

        Inside what is compiled no hook runs, so the layer is called once.
        """
        original = torch_api.original_of(module)
        if original is module or not self.hides_compiled:
            return NONE
        layer = self._rows.get(id(original), NONE)
        if layer >= 0:
            self.notice_compiled()
        return layer

    def notice_compiled(self) -> None:
        """Tell that a compiled part runs, whose inside only the allocator's history shows."""
        self.notices.add("compiled_unseen" if self.follows_life else "compiled")

    def _begin_root(self, layer: int, module: torch.nn.Module, args: Any, kwargs: Any) -> bool:
        if self.calls.depth:
            if not self._is_stale(layer):
                return True
            self.calls.abandon(failed=True)
            self.phases.leave_all()
        has_parameters = self.layers.has_parameters(layer)
        if has_parameters and self.phases.steps.forward_begins_one(torch.is_grad_enabled(), layer):
            if not self.on_new_step():
                return False
            self.phases.next_step()
        self.phases.enter_forward(torch.is_grad_enabled(), layer)
        if has_parameters:  # a loss or a metric is part of the pass before it
            self.facts.saw_batch(
                layer, (*named_tensors_in(args, ""), *named_tensors_in(kwargs, ""))
            )
            self._watch(self.passes.begin(layer, module.training, args, kwargs))
            if self._watching:
                self.notice_model(layer)
        for given in (args, kwargs):
            for name, tensor in named_tensors_in(given, ""):
                self._names.claim(tensor, Category.INPUT, NONE, name)
        return True

    def _watch(self, watched: bool) -> None:
        if watched != self._watching:
            self._watching = watched
            self.on_watch(watched)

    def _end_root(self, output: Any) -> None:
        for name, tensor in named_tensors_in(output, "output"):
            self._names.claim(tensor, Category.OUTPUT, NONE, name)
        self.phases.leave(PhaseKind.FORWARD)
        self.on_boundary(ReadingKind.PHASE)

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
        call = self.calls.current
        if call < 0 and self._in_backward():
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
        if call >= 0 and self._in_backward():
            self.calls.ran_backward(call, *self._op_start)

    def saved(self, tensor: torch.Tensor) -> int:
        """Autograd keeps a tensor for backward. Return the call that saves it."""
        call = self.calls.current
        is_constant = call < 0 and tensor.grad_fn is None and not tensor.requires_grad
        self._names.save(tensor, call, self.phases.forward_start_ns if is_constant else NONE)
        if isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter):
            self._names.claim_foreign(tensor)
        if tensor.dtype in HALVES:
            self._name_cast(tensor, call)
        return call

    def _name_cast(self, tensor: torch.Tensor, call: int) -> None:
        parameter = cast_weight_of(tensor)
        if parameter is None and call >= 0:
            own = self.layers.parameters_of(self.calls.layer_of(call))
            parameter = next((one for one in own if is_cast_of(tensor, one)), None)
        if parameter is not None:
            layer, name = self._owner(parameter)
            self._names.claim(tensor, Category.CAST_WEIGHT, layer, name)

    # backward and optimizer

    def backward_begins(self) -> None:
        """A backward pass enters autograd's engine."""
        if self._in_backward() or get_ident() != self._thread:
            return
        if not self._watching:  # the end of the forward was not seen
            self.calls.abandon(failed=False)
            self.phases.leave(PhaseKind.FORWARD)
        self.phases.enter_backward()

    def backward_ends(self) -> None:
        """A backward pass has left autograd's engine."""
        if self._in_backward() or get_ident() != self._thread:
            return
        if self.layers.has_lazy:  # its parameters came with the first forward
            self.notice_models()
        else:
            self._notice_gradients()
        self.phases.leave(PhaseKind.BACKWARD)
        self.passes.backward_ended()
        self._watch(True)
        self.on_boundary(ReadingKind.PHASE)

    def unpacked(self, call: int) -> None:
        """Backward reads a tensor that `call` saved; told where operations are not watched."""
        if not self.calls.depth and self._in_backward():
            self.calls.unpacked(call)

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer is about to step."""
        if get_ident() != self._thread:
            return
        self._watch(True)  # where backward did not go through autograd's engine
        self.optimizers.add(optimizer)
        for parameter in parameters_of(optimizer):
            if parameter.grad is not None and self.layers.owner(parameter) is None:
                layer, name = self._owner(parameter)
                self._names.claim(parameter.grad, Category.GRADIENT, layer, name)
        if self.phases.enter_optimizer(id(optimizer)):
            self.on_late_step()

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """An optimizer has stepped."""
        if get_ident() != self._thread:
            return
        if self.optimizers.has_new_state(optimizer):
            self.notice_state(optimizer)
        self.phases.leave_optimizer(id(optimizer))
        self.on_boundary(ReadingKind.PHASE)

    def settle(self) -> None:
        """Close what an exception or interrupt has left open; the user's code is not running."""
        self.calls.abandon(failed=True)
        self.passes.forget()
        self._watch(True)
        self.phases.leave_all()

    def calls_seen(self) -> int:
        """Return how many calls of tracked modules there have been."""
        return len(self.calls)

    def adopt_thread(self) -> None:
        """Take this thread for the one that runs the training loop."""
        self._thread = get_ident()
        self.calls.adopt_thread()

    def whereabouts(self) -> tuple[str, str, int]:
        """Return what this thread is doing: phase id, path of the layer ("": none), step from 1."""
        call, phases = self.calls.current, self.phases
        if call < 0 and self._in_backward():
            begun = self.builder["phases"].get(phases.row, "start_ns")
            call = self.calls.in_backward(torch_api.current_node(), begun)
        layer = self.calls.layer_of(call)
        path = "" if layer < 0 else self.builder.strings.get(self._path_string(layer))
        below = path.partition(".")[2]
        is_only_root = len(self._roots) == 1
        return phases.current.id, below if is_only_root and below else path, phases.step + 1

    def _path_string(self, layer: int) -> int:
        string: int = self.builder["layers"].get(layer, "path")
        return string

    def _in_backward(self) -> bool:
        return graph_task_id() != NO_GRAPH_TASK

    def _owner(self, parameter: Any) -> tuple[int, str]:
        """Return the layer and name of a parameter, (-1, "") of any other tensor."""
        if not isinstance(parameter, torch.Tensor):
            return NONE, ""
        entry = self.layers.owner(parameter)
        return self._names.owner(parameter) if entry is None else (entry.layer, entry.name)

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
