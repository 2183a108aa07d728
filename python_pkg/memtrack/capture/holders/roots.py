"""The names that memory may be found under, in the order in which a reader knows them.

`shell` is an IPython shell or anything with some of its attributes; None outside of one. Whatever it
lacks is skipped.
"""

from __future__ import annotations

import builtins
import gc
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch

from memtrack.capture.holders.walk import Root
from memtrack.diagnosis.holdings import DEBUGGER, EXCEPTION, FRAME, MODULE, OURS, OUTPUT, VARIABLE
from memtrack.diagnosis.usernames import UNDERSCORES, namespace, user_variables

_SLOTS = (
    "InteractiveTB.tb",
    "last_execution_result.error_in_exec",
    "last_execution_result.error_before_exec",
    "SyntaxTB.last_syntax_error",
)
LAST_ERROR = ("last_exc", "last_value", "last_traceback")
_LIBRARIES = ("site-packages", "dist-packages")
_STANDARD = os.path.dirname(os.__file__) + os.sep


def variables(shell: Any) -> tuple[list[Root], list[Root], list[Root]]:
    """Return what the user has named: models, all else, optimizers; underscores last in each."""
    own = user_variables(shell)
    found: tuple[list[Root], list[Root], list[Root]] = ([], [], [])
    for name in sorted(own, key=lambda name: name.startswith("_")):
        kind = type(own[name])
        place = 0 if issubclass(kind, torch.nn.Module) else 2 if _is_optimizer(kind) else 1
        found[place].append(Root(VARIABLE, name, own[name]))
    return found


def _is_optimizer(kind: type) -> bool:
    return issubclass(kind, torch.optim.Optimizer)


def outputs(shell: Any) -> Iterator[Root]:
    """Yield what IPython keeps of what cells displayed."""
    history = namespace(shell).get("_oh")
    for number, value in list(history.items()) if isinstance(history, dict) else []:
        yield Root(OUTPUT, f"Out[{number}]", value)
    hook = getattr(shell, "displayhook", None)
    for name in UNDERSCORES:
        yield Root(OUTPUT, name, getattr(hook, name, None))
    hidden = getattr(shell, "user_ns_hidden", None) or {}
    for name, value in list(namespace(shell).items()):
        if name.startswith("_") and name in hidden and name != "_oh" and hidden[name] is value:
            yield Root(OUTPUT, name, value)
    result = getattr(shell, "last_execution_result", None)
    yield Root(OUTPUT, "last_execution_result.result", getattr(result, "result", None))


def exceptions(shell: Any) -> Iterator[Root]:
    """Yield the exceptions and tracebacks that Python and IPython keep, and the debugger's."""
    for name in LAST_ERROR:
        yield Root(EXCEPTION, f"sys.{name}", getattr(sys, name, None))
    for slot in _SLOTS:
        yield Root(EXCEPTION, slot, attribute(shell, slot))
    yield Root(DEBUGGER, "InteractiveTB.pdb", attribute(shell, "InteractiveTB.pdb"))


def ours(shell: Any) -> Iterator[Root]:
    """Yield what memtrack itself may keep: the recording of the magic."""
    registry = attribute(shell, "magics_manager.registry")
    magics = registry.get("MemtrackMagics") if registry is not None else None
    yield Root(OURS, "%memtrack", magics)


def attribute(shell: Any, path: str) -> Any:
    """Return a dotted attribute, None where there is none."""
    for name in path.split("."):
        shell = getattr(shell, name, None)
    return shell


def globals_of_modules() -> tuple[list[Root], list[Root]]:
    """Return the globals of the user's modules, and those of libraries but functions and classes."""
    mine: list[Root] = []
    theirs: list[Root] = []
    for name, module in list(sys.modules.items()):
        if name in _MAIN or not issubclass(type(module), ModuleType):
            continue
        kind = OURS if name.partition(".")[0] == "memtrack" else MODULE
        own = is_users(getattr(module, "__file__", None))
        for key, value in list(vars(module).items()):
            if (name == "sys" and key.startswith("last_")) or type(value) in _NO_HOLDERS:
                continue  # the last error has a stage of its own
            if not own and issubclass(type(value), _CODE):
                continue
            some = mine if own and kind == MODULE else theirs
            some.append(Root(kind, f"{name}.{key}", value))
    return mine, theirs


def is_users(file: Any) -> bool:
    """Tell whether a module's file is the user's: of no library and not Python's own."""
    if not isinstance(file, str) or file.startswith(_STANDARD):
        return False
    return not any(f"{os.sep}{name}{os.sep}" in file for name in _LIBRARIES)


def class_roots(classes: Iterable[type]) -> Iterator[Root]:
    """Yield classes under their names: what they hold is in their attributes."""
    for one in classes:
        yield Root(MODULE, f"{one.__module__}.{one.__qualname__}", dict(vars(one)))


def running_frames() -> Iterator[Root]:
    """Yield the variables of the functions that run now, on this thread and on others."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    current = threading.get_ident()
    for ident, frame in list(sys._current_frames().items()):
        above: FrameType | None = frame
        thread = "" if ident == current else f"{names.get(ident, ident)}: "
        while above is not None:
            if not _is_machinery(above):
                name = f"{thread}{above.f_code.co_name}()"
                yield Root(FRAME, name, locals_of(above))
            above = above.f_back


def _is_machinery(frame: FrameType) -> bool:
    """Tell whether a frame is IPython's or ours; a module's variables have names already."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    optimised = frame.f_code.co_flags & _OPTIMISED
    return not optimised or package in ("memtrack", "IPython", "ipykernel", "traitlets")


def locals_of(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a frame. Before Python 3.13 the frame keeps what was asked: not here."""
    shown = frame.f_locals
    found = dict(shown)
    alone = 3  # the frame, `shown` and the argument of getrefcount
    if (
        type(shown) is dict
        and frame.f_code.co_flags & _OPTIMISED
        and sys.getrefcount(shown) <= alone
    ):
        shown.clear()
    return found


def barriers(shell: Any) -> Iterator[Any]:
    """Yield what must not be entered: namespaces with names of their own, and IPython itself."""
    yield namespace(shell)
    yield getattr(shell, "user_ns_hidden", None)
    yield getattr(shell, "user_global_ns", None)
    yield namespace(shell).get("_oh")
    yield builtins.__dict__
    yield sys.modules
    for module in list(sys.modules.values()):
        if issubclass(type(module), ModuleType):
            yield vars(module)
    for part in ("displayhook", "history_manager", "magics_manager", "kernel", "events"):
        yield getattr(shell, part, None)
    for part in ("InteractiveTB", "SyntaxTB", "last_execution_result", "display_pub", "Completer"):
        yield getattr(shell, part, None)
    yield from (shell, gc.garbage)


_CODE = (FunctionType, type)
_MAIN = ("__main__", "__mp_main__")
_NO_HOLDERS = frozenset({str, int, float, bool, bytes, type(None), ModuleType})
_OPTIMISED = 1
"""`CO_OPTIMIZED`: the variables are in the frame, not in a namespace."""
