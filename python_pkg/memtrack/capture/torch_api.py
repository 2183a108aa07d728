"""The parts of torch that are not promised, each with what to do where it is missing.

Nothing else in memtrack names a private attribute of torch.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

import torch
from torch.nn.modules import module as module_hooks
from torch.optim import optimizer as optimizer_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

NO_GRAPH_TASK = -1
NO_SEQUENCE = -1
_ACCUMULATE_GRAD_SEQUENCE = 2**64 - 1


def _no_graph_task() -> int:
    return NO_GRAPH_TASK


def _no_node() -> None:
    return None


def _no_sequence() -> int:
    return NO_SEQUENCE


_C: Any = torch._C
_autograd: Any = getattr(_C, "_autograd", None)

graph_task_id: Callable[[], int] = getattr(_C, "_current_graph_task_id", _no_graph_task)
"""Return the id of the backward pass this thread is in, -1 outside (torch 2.1 and later)."""

current_node: Callable[[], Any] = getattr(_C, "_current_autograd_node", _no_node)
"""Return the autograd node being evaluated on this thread, None outside (torch 2.1 and later)."""

next_sequence: Callable[[], int] = getattr(_autograd, "_get_sequence_nr", _no_sequence)
"""Return the number the next autograd node made on this thread will have."""

caching_allocator_is_on: Callable[[], bool] = getattr(
    _C, "_cuda_cudaCachingAllocator_is_enabled", lambda: True
)
"""Tell whether CUDA's caching allocator caches; True where it cannot be switched off at run time."""


def in_backward() -> bool:
    """Tell whether this thread is inside a backward pass.

    Modes and hooks that are pushed or popped there are as before when it is over, since the engine
    puts the state of the thread back; older versions put back even hooks that were freed meanwhile.
    """
    return graph_task_id() != NO_GRAPH_TASK


def may_have_gradient(tensor: torch.Tensor) -> bool:
    """Tell whether asking for `tensor.grad` makes sense; of other tensors torch warns."""
    try:
        return tensor.requires_grad and (tensor.is_leaf or tensor.retains_grad)
    except (AttributeError, RuntimeError, NotImplementedError):  # half-made or wrapped
        return False


def unseen() -> Any:
    """Return a context in which neither modes nor tensor classes of the user's hear of our reading.

    Without it each `tensor.shape` of ours would run their `__torch_function__`, which may count, print
    or raise. About 160 ns.
    """
    return torch._C.DisableTorchFunction()


def node_sequence(node: Any) -> int:
    """Return the number of an autograd node, -1 for gradient accumulators and unknown nodes."""
    try:
        number = int(node._sequence_nr())
    except (AttributeError, RuntimeError, TypeError):
        return NO_SEQUENCE
    return NO_SEQUENCE if number >= _ACCUMULATE_GRAD_SEQUENCE else number


def register_module_hooks(
    before: Callable[[Any, Any], None], after: Callable[[Any, Any, Any], None]
) -> list[RemovableHandle]:
    """Register hooks around the forward of every module; `after` also runs when it raises.

    They are the global ones, kept by torch and not by the modules, so that a tracked model can be
    pickled, copied and compared as if it were not.
    """
    return [
        module_hooks.register_module_forward_pre_hook(before),
        module_hooks.register_module_forward_hook(after, always_call=True),
    ]


def caller_kwargs() -> dict[str, Any]:
    """Return the keyword arguments of the forward whose pre-hook calls this; {} when not found.

    Global pre-hooks are not given them. They are a variable of the frame that runs the hook.
    """
    frame = sys._getframe(1)
    for _ in range(_HOOK_DEPTH):
        if frame.f_code in _HOOK_RUNNERS or frame.f_code.co_name == "inner":
            kwargs = frame.f_locals.get("kwargs")
            return kwargs if type(kwargs) is dict else {}
        if frame.f_back is None:
            break
        frame = frame.f_back
    return {}


def calls_module(code: CodeType) -> bool:
    """Tell whether a frame of this code is the call of a module, its `self`."""
    return code in _HOOK_RUNNERS


def compiled_call(module: torch.nn.Module) -> Callable[..., Any] | None:
    """Return what `module.compile()` has put in the place of the module's call, None without."""
    found: Callable[..., Any] | None = module.__dict__.get("_compiled_call_impl")
    return found


def set_compiled_call(module: torch.nn.Module, call: Callable[..., Any]) -> None:
    """Put something in its place; copies and pickles of the module leave it out."""
    module.__dict__["_compiled_call_impl"] = call


def watched_call(
    self: torch.nn.Module,
    compiled: Callable[..., Any],
    before: Callable[[torch.nn.Module, Any], None],
    after: Callable[[torch.nn.Module, Any, Any], None],
) -> Callable[..., Any]:
    """Return the call of a compiled module with `before` and `after` told of it, as hooks are."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before(self, args)
        try:
            output = compiled(*args, **kwargs)
        except BaseException:
            after(self, args, None)
            raise
        after(self, args, output)
        return output

    return call


def _codes_in(function: Callable[..., Any]) -> Iterator[CodeType]:
    """Return the code of the functions that are made in a function."""
    return (one for one in function.__code__.co_consts if isinstance(one, CodeType))


_HOOK_RUNNERS = frozenset({torch.nn.Module._call_impl.__code__, *_codes_in(watched_call)})
_HOOK_DEPTH = 6


tracing_state: Callable[[], Any] = _C._get_tracing_state
"""Return what `torch.jit.trace` is writing on this thread, None where it is not."""


def _never() -> bool:
    return False


is_compiling: Callable[[], bool] = getattr(
    torch.compiler, "is_compiling", getattr(torch._utils, "is_compiling", _never)
)
"""Tell whether `torch.compile` is tracing the caller; the first is there from torch 2.3 on."""


def is_tracing() -> bool:
    """Tell whether `torch.jit.trace` is writing down what this thread does."""
    return tracing_state() is not None


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """Hide what is done inside from `torch.jit.trace`."""
    state = _C._get_tracing_state()
    _C._set_tracing_state(None)
    try:
        yield
    finally:
        _C._set_tracing_state(state)


def register_optimizer_hooks(
    before: Callable[[Any, Any, Any], None], after: Callable[[Any, Any, Any], None]
) -> list[RemovableHandle]:
    """Register hooks around the step of every `torch.optim.Optimizer`."""
    return [
        optimizer_hooks.register_optimizer_step_pre_hook(before),
        optimizer_hooks.register_optimizer_step_post_hook(after),
    ]


CAN_TELL_SAVED_TENSOR_HOOKS = hasattr(_autograd, "_top_saved_tensors_default_hooks")
"""Whether the innermost pair of saved-tensor hooks can be read (torch 2.2 and later)."""


def top_saved_tensor_hooks() -> tuple[Any, Any] | None:
    """Return the innermost (pack, unpack) pair of this thread; None without one or if unknown."""
    if not CAN_TELL_SAVED_TENSOR_HOOKS:
        return None
    for arguments in ((True,), ()):
        try:
            pair = _autograd._top_saved_tensors_default_hooks(*arguments)
        except TypeError:
            continue
        return tuple(pair) if pair else None
    return None


def push_saved_tensor_hooks(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
    """Push a pair; raises RuntimeError while the feature is disabled on this thread."""
    _autograd._push_saved_tensors_default_hooks(pack, unpack)


def pop_saved_tensor_hooks() -> None:
    """Pop the innermost pair."""
    _autograd._pop_saved_tensors_default_hooks()


def is_compiled_module(module: torch.nn.Module) -> bool:
    """Tell whether `module` runs through `torch.compile`."""
    if compiled_call(module) is not None:
        return True
    return type(module).__name__ == "OptimizedModule" and "_orig_mod" in module._modules


COMPILES_UNDER_MODES = hasattr(TorchDispatchMode, "ignore_compile_internals")
"""Whether `torch.compile` goes on compiling while a dispatch mode is there that allows it."""


def original_of(module: torch.nn.Module) -> torch.nn.Module:
    """Return the module that a compiled one stands for, any other module itself."""
    if type(module).__name__ == "OptimizedModule":
        original = module._modules.get("_orig_mod")
        return module if original is None else original
    return module


def is_scripted_module(module: torch.nn.Module) -> bool:
    """Tell whether `module` is a TorchScript module, whose inner modules run unseen."""
    return isinstance(module, torch.jit.ScriptModule)


def cuda_statistics(index: int) -> Mapping[Any, Any]:
    """Return the nested dictionary behind `torch.cuda.memory_stats` of a CUDA or ROCm device.

    Bytes and counts. 18 µs on an H200, where flattening it takes as long again. {} while CUDA is
    not initialised, which this does not change, and where torch has no such function.
    """
    read = getattr(_C, "_cuda_memoryStats", None)
    if read is None or not torch.cuda.is_initialized():
        return {}
    statistics: Mapping[Any, Any] = read(index)
    return statistics


def on_out_of_memory(receiver: Callable[[int, int, int, int], None] | None) -> None:
    """Have `receiver` called whenever CUDA's allocator cannot serve a request; None: nobody.

    It is given the ordinal of the device, the bytes that were asked of the device, those this process
    may have there, and those that are free, on the failing thread and before torch raises. torch keeps
    an observer for ever, so there is one of ours a process, whichever copy of this module attached
    it. It is attached when CUDA is initialised, now or later; this never initialises it. Where torch
    has no such thing, or its allocator refuses (cudaMallocAsync), nothing is ever told.
    """
    trampoline = getattr(torch.cuda, _TRAMPOLINE, None)
    if trampoline is None:
        if receiver is None or not hasattr(_C, _ATTACH):
            return
        trampoline = _Trampoline()
        setattr(torch.cuda, _TRAMPOLINE, trampoline)
        torch.cuda._lazy_call(trampoline.attach)
    trampoline.receiver = receiver


class _Trampoline:
    """What torch calls, for as long as the process lives; it raises nothing, come what may."""

    def __init__(self) -> None:
        self.receiver: Callable[[int, int, int, int], None] | None = None

    def attach(self) -> None:
        with contextlib.suppress(Exception):
            getattr(_C, _ATTACH)(self)

    def __call__(self, device: int, segment: int, allowed: int, free: int) -> None:
        receiver = self.receiver
        # What is raised here would take the place of the user's error.
        with contextlib.suppress(BaseException):
            if receiver is not None:
                receiver(device, segment, allowed, free)


_TRAMPOLINE = "_memtrack_out_of_memory"
_ATTACH = "_cuda_attach_out_of_memory_observer"

history_is_on: Callable[[], bool] = getattr(_C, "_cuda_isHistoryEnabled", lambda: False)
"""Tell whether CUDA's allocator writes down what it does."""


def snapshot_without_history() -> dict[str, Any] | None:
    """Return the state of CUDA's allocator, without its history, in well under a millisecond a segment.

    None where only both together can be had (torch before 2.11 with its history on). May raise what
    the backend raises.
    """
    if "include_traces" in _parameters(getattr(torch.cuda, "memory_snapshot", None)):
        found: dict[str, Any] = _C._cuda_memorySnapshot((0, 0, False))
        return found
    return None if history_is_on() else snapshot_with_history()


def snapshot_with_history() -> dict[str, Any]:
    """Return the state of CUDA's allocator with the history it has kept: 2 to 7 µs an entry."""
    memory: Any = torch.cuda.memory
    found: dict[str, Any] = memory._snapshot()
    return found


def _parameters(function: Callable[..., Any] | None) -> tuple[str, ...]:
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount]


def runs_backward(code: CodeType) -> bool:
    """Tell whether a frame of this code runs a backward pass on this thread or another."""
    return code in _BACKWARD_RUNNERS


def steps_optimizer(code: CodeType) -> bool:
    """Tell whether a frame of this code is the step of an optimizer of torch."""
    return code in _STEP_RUNNERS


_BACKWARD_RUNNERS = frozenset({torch.autograd.backward.__code__, torch.autograd.grad.__code__})
_STEP_RUNNERS = frozenset(_codes_in(torch.optim.Optimizer.profile_hook_step))


def parameters_of_node(node: Any) -> list[torch.Tensor]:
    """Return the leaves whose gradients an autograd node computes, directly or through a view or cast."""
    found: list[torch.Tensor] = []
    waiting = [(node, 0)]
    while waiting:
        one, depth = waiting.pop()
        variable = getattr(one, "variable", None)
        if isinstance(variable, torch.Tensor):
            found.append(variable)
        elif one is not None and (depth == 0 or one.name() in _VIEWS) and depth < _NODE_DEPTH:
            waiting += [(following, depth + 1) for following, _ in one.next_functions]
    return found


_NODE_DEPTH = 4
_VIEWS = frozenset(
    f"{name}Backward0"
    for name in ("T", "View", "UnsafeView", "Transpose", "Permute", "ToCopy", "Expand", "Alias")
)
