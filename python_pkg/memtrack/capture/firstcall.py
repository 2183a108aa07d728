"""The first call of a model in a program that asks for no recording: where one can begin.

Waiting for it costs nothing, leaves the program all it sets up before, CUDA and its environment
variables included, and finds the model where it will train.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.utils import _python_dispatch

from memtrack.capture import backends, torch_api
from memtrack.capture.compiled import CompiledCalls
from memtrack.capture.recorder import Recorder

_current_mode: Callable[[], Any] = getattr(
    _python_dispatch, "_get_current_dispatch_mode", lambda: None
)


class FirstCall:
    """Calls `begin(recorder)` in the first call of a model on the main thread, which is recorded.

    `label` names the recording, `steps` ends it after that many. `failed` is told what of ours has
    failed instead. A call inside of what would lie under our hooks and go before them, such as
    checkpointing, or of what writes the call down, such as tracing, a CUDA graph and `torch.compile`,
    is not it.
    """

    def __init__(
        self,
        steps: int | None,
        label: str,
        begin: Callable[[Recorder], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._steps = steps
        self._label = label
        self._begin = begin
        self._failed = failed
        self._handle: Any = register_module_forward_pre_hook(self._called)
        self._begun: Recorder | None = None
        self._compiled = CompiledCalls(self._called, self._compiled_returned)
        self._compiled.start()

    def stop(self) -> None:
        """Wait no more."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.remove()
            self._compiled.stop()

    def _called(self, module: torch.nn.Module, args: Any) -> None:
        # What follows would become part of the user's compiled function.
        if torch_api.is_compiling():
            return
        if self._handle is None or not _may_begin():
            return
        self.stop()
        try:
            recorder = Recorder(steps=self._steps, label=self._label)
            self._begin(recorder)
            recorder.enter_call(module, args)
            self._begun = recorder
        except Exception as problem:  # noqa: BLE001 - the program must go on
            self._failed(problem)

    def _compiled_returned(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        """The call in which we have begun is over: the recorder's own watch has come too late for it."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.leave_call(module, args, output)


def _may_begin() -> bool:
    return (
        not backends.is_capturing()
        and threading.current_thread() is threading.main_thread()
        and not torch_api.is_tracing()
        and torch_api.top_saved_tensor_hooks() is None
        and _current_mode() is None
    )
