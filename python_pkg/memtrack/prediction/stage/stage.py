"""The stage: a block of code in which CUDA programs run without data and without a GPU."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import torch

from memtrack.capture import torch_api
from memtrack.capture.recorder import Recorder
from memtrack.errors import UnavailableError, UsageError
from memtrack.i18n import text
from memtrack.prediction.kernels.context import Effects, Gpu, KernelTable
from memtrack.prediction.stage import legacy
from memtrack.prediction.stage.assumptions import Assumption, Assumptions
from memtrack.prediction.stage.claims import outer_claim_of
from memtrack.prediction.stage.cuda import CudaFace, Memory
from memtrack.prediction.stage.distributed import Group
from memtrack.prediction.stage.foreign import Foreign
from memtrack.prediction.stage.functions import Functions
from memtrack.prediction.stage.known import quiet, value_of
from memtrack.prediction.stage.libraries import Libraries
from memtrack.prediction.stage.loading import Loading
from memtrack.prediction.stage.moves import Moves
from memtrack.prediction.stage.operations import Operations
from memtrack.prediction.stage.patches import Patches
from memtrack.prediction.stage.process import Process
from memtrack.prediction.stage.session import Session
from memtrack.prediction.stage.tensors import TensorFace

OLDEST = (2, 4)
"""The first torch whose autocast and optimizers ask devices the way that is answered here."""
_active: list[Stage] = []


class Stage:
    """Run a program as if on `gpu`, with the kernels of `kernels`; `count` GPUs are there.

    ```
    with Stage(gpu, kernels) as stage:
        model = Model().cuda()
        ...
    stage.assumptions
    ```
    Enter it once. Everything it changes in the process is put back when the block ends, however it
    ends; tensors that outlive it are meta tensors.
    """

    def __init__(self, gpu: Gpu, kernels: KernelTable, count: int = 1) -> None:
        version = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2])
        if version < OLDEST:
            raise UnavailableError(
                text(
                    "Predicting needs torch 2.4 or later; this is {version}.",
                    version=torch.__version__,
                )
            )
        self._kernels = kernels
        self._assumptions = Assumptions()
        self._operations = Operations(gpu, kernels, self._assumptions)
        self._moves = Moves(self._operations, count)
        self._functions = Functions(self._operations, kernels, self._moves)
        self._loading = Loading()
        self._libraries = Libraries(self._assumptions, self._loading)
        self._foreign = Foreign(self._assumptions)
        self._process = Process(self._assumptions, Group(self._assumptions, self._told))
        self._cuda = CudaFace(gpu, self._moves, count)
        self._face = TensorFace(self._operations, self._moves)
        self._exit = contextlib.ExitStack()

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What has been taken for granted so far."""
        return self._assumptions.all()

    def claimed_device(self, tensor: torch.Tensor) -> torch.device | None:
        """Return the device a tensor claims, `meta` for the program's own meta tensors.

        None for a tensor that is not of this prediction, such as a real one from outside.
        """
        claim = outer_claim_of(tensor)
        return None if claim is None else claim.device

    def known_value(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the values of a tensor without data where they are known, as a CPU tensor."""
        with quiet():
            return value_of(tensor)

    def on_effects(self, listener: Callable[[Any, Effects, torch.device], None]) -> None:
        """Have `listener(op, effects, device)` called for operations that need scratch and such.

        It is called inside the operation, before a dispatch mode above sees the outputs.
        """
        self._operations.on_effects = listener

    def _told(self, name: str, effects: Effects, device: torch.device) -> None:
        self._operations.on_effects(name, effects, device)

    def count_memory(self, memory: Memory) -> None:
        """Let `memory` answer `torch.cuda.memory_allocated()` and its like."""
        self._cuda.memory = memory

    def __enter__(self) -> Stage:
        if _active:
            raise UsageError(text("A prediction is running already."), text("Wait for its end."))
        if torch_api.in_backward():
            raise UsageError(text("A prediction cannot begin inside a backward pass."))
        _active.append(self)
        enter = self._exit
        enter.callback(_active.remove, self)
        try:
            self._begin(enter)
        except BaseException:
            enter.close()
            raise
        return self

    def _begin(self, enter: contextlib.ExitStack) -> None:
        enter.callback(self._operations.outside.close)
        enter.callback(self._process.close)
        session = Session()
        enter.callback(session.restore)
        patches = Patches()
        enter.callback(patches.close)
        enter.enter_context(_eager())
        self._face.install(patches)
        self._cuda.install(patches)
        legacy.install(patches)
        patches.replace(Recorder, "__init__", _not_recorded)
        self._loading.install(enter)
        self._libraries.install(patches)
        self._foreign.install(patches)
        self._process.install(patches)
        patches.replace(torch, "clear_autocast_cache", self._clearing)
        torch.backends.mha.set_fastpath_enabled(False)
        self._take_over_default(patches)
        enter.enter_context(torch.inference_mode(False))
        enter.enter_context(torch.enable_grad())
        enter.enter_context(self._operations)
        enter.enter_context(self._functions)

    def _clearing(self, original: Any) -> Any:
        """Let go of the kept casts with those of torch: the outermost autocast has ended."""

        def clear() -> None:
            forget = getattr(self._kernels, "forget_casts", None)
            if forget is not None:
                forget()
            original()

        return clear

    def _take_over_default(self, patches: Patches) -> None:
        """Let default devices from outside act through our mode, since they lie below it."""
        kind = torch.utils._device.DeviceContext
        below = [one for one in _function_modes() if isinstance(one, kind)]
        local = [one for one in below if one is not _global_default()]
        if local:
            self._functions.default = local[-1].device

        def passing(original: Any) -> Any:
            def act(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if mode in below or mode is _global_default():
                    return func(*args, **(kwargs or {}))
                return original(mode, func, types, args, kwargs)

            return act

        patches.replace(kind, "__torch_function__", passing)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._exit.close()
        self._libraries.explain(error)
        if error is None:
            self._process.raise_failure()


def _not_recorded(original: Any) -> Any:
    """Let the prediction's own recorder begin, and none that the program makes."""

    def make(recorder: Any, *args: Any, **kwargs: Any) -> None:
        if type(recorder) is Recorder:
            raise UsageError(
                text("A recording cannot begin inside a prediction."),
                text("The prediction is one itself: leave memtrack out of the function."),
            )
        original(recorder, *args, **kwargs)

    return make


@contextlib.contextmanager
def _eager() -> Iterator[None]:
    """Let functions that were compiled outside run as they are written."""
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        # Optimizers import it on their first step, and it checks what torch.cuda has then.
        importlib.import_module("torch._dynamo")
        yield
        return
    with set_stance("force_eager"):
        yield


def _function_modes() -> list[Any]:
    """Return the function modes of this thread, outermost first."""
    depth = torch._C._len_torch_function_stack()
    return [torch._C._get_function_stack_at(place) for place in range(depth)]


def _global_default() -> Any:
    """Return the mode of `torch.set_default_device`, None where it has not been called."""
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
