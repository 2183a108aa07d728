"""Every hook of a recording: in, out, and aside for passes that go unwatched."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from memtrack.capture import dispatch, saved, torch_api
from memtrack.capture.compiled import CompiledCalls
from memtrack.capture.dispatch import OperationWatch
from memtrack.capture.engine import BackwardWatch
from memtrack.capture.guard import Guard
from memtrack.capture.observer import Observer
from memtrack.capture.quiet import HookWarning
from memtrack.capture.saved import SavedTensors


class Probes:
    """The hooks that call an observer, each behind the guard.

    `attach` and `detach` are for the whole recording: modules, optimizers, the engine of backward.
    `enter` and `leave` are for the thread that runs the loop: saved tensors, and operations where
    storages are followed one by one.
    """

    def __init__(self, observer: Observer, guard: Guard) -> None:
        self._observer = observer
        self._guard = guard
        around = guard.around
        self._operations = OperationWatch(
            around(observer.before_operation), around(observer.after_operation)
        )
        on_unpacked = _ignore if observer.follows_life else observer.unpacked
        self._saved = SavedTensors(around(observer.saved, otherwise=-1), around(on_unpacked))
        self._backward = BackwardWatch(
            around(observer.backward_begins), around(observer.backward_ends), _let_go
        )
        self._warning = HookWarning()
        self._compiled = CompiledCalls(
            around(observer.before_forward), around(observer.after_forward)
        )
        self._handles: list[RemovableHandle] = []
        self._module_handles: list[RemovableHandle] = []

    def attach(self) -> None:
        """Hook modules, optimizers and the engine of backward."""
        self._warning.start()
        self._backward.start()
        self._hook_modules()
        if self._observer.hides_compiled:
            self._compiled.start()
        around = self._guard.around
        self._handles += torch_api.register_optimizer_hooks(
            around(self._observer.before_step), around(self._observer.after_step)
        )

    def enter(self) -> bool:
        """Watch this thread; False when saved-tensor hooks are disabled on it."""
        if self._observer.follows_life:
            self._operations.enter()
        return self._saved.enter()

    def enter_call(self, module: torch.nn.Module, args: Any) -> None:
        """Watch a call whose hooks torch had gathered before ours were there."""
        self._guard.around(self._observer.before_forward)(module, args)

    def leave_call(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        """End a call that was entered so, where torch asks no hook that has come since."""
        self._guard.around(self._observer.after_forward)(module, args, output)

    def leave(self) -> None:
        """Pop our modes; where the user's lie on top of one, it stays and does nothing until it can go."""
        self._saved.leave()
        self._operations.leave()

    def watch_compiled(self, module: torch.nn.Module) -> None:
        """Watch the calls of a module that is compiled in place already."""
        if self._observer.hides_compiled:
            self._compiled.watch(module)

    def watch(self, watched: bool) -> None:
        """Put the hooks of modules and saved tensors back, or aside for a pass that needs none."""
        self._compiled.is_on = watched
        if watched:
            self._hook_modules()
            self._saved.enter()
        else:
            self._saved.leave()
            self._unhook_modules()

    def detach(self) -> None:
        """Take everything off. Safe at any time and any number of times."""
        try:
            self.leave()
        finally:
            self._backward.stop()
            self._unhook_modules()
            self._compiled.is_on = False
            self._compiled.stop()
            for handle in self._handles:
                handle.remove()
            self._handles.clear()
            self._warning.stop()

    def _hook_modules(self) -> None:
        around = self._guard.around
        self._module_handles += torch_api.register_module_hooks(
            around(self._observer.before_forward), around(self._observer.after_forward)
        )

    def _unhook_modules(self) -> None:
        for handle in self._module_handles:
            handle.remove()
        self._module_handles.clear()


def _let_go() -> None:
    """Pop what could not be popped in the backward pass that is over."""
    saved.drop_inactive()
    dispatch.drop_inactive()


def _ignore(call: int) -> None:
    """Where operations are watched, backward is followed one by one."""
