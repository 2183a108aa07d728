"""What leads from one object to another it refers to, as code where there is such code.

Values are compared by identity alone, and keys are shown if they are plain: no code of the user's
runs, and no tensor is looked into.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from memtrack.capture.holders.roots import locals_of

FRAME_MARK = " → "
BY_TENSOR = "[tensor]"
"""The piece for a key that is a tensor: it may have a name of its own."""
ELSEWHERE = "…"
_LONGEST_KEY = 40
_MOST_LOOKED_AT = 200_000
_OF_MODULES = ("_parameters", "_buffers", "_modules")


def label(holder: Any, held: Any) -> str:
    """Return what leads from `holder` to `held`, "" where it goes without saying."""
    kind = type(holder)
    exact = _LABELS.get(kind)
    if exact is not None:
        return exact(holder, held)
    for family, spell in _FAMILIES:
        if issubclass(kind, family):
            found = spell(holder, held)
            if found is not None:
                return found
    return _attribute(holder, held)


def _of_list(holder: Any, held: Any) -> str:
    for place, item in enumerate(holder[:_MOST_LOOKED_AT]):
        if item is held:
            return f"[{place}]"
    return f"[{ELSEWHERE}]"


def _of_dict(holder: Any, held: Any) -> str:
    for key, value in _items(holder):
        if value is held:
            return f"[{_spelled(key)}]"
    return ".keys()"


def _items(holder: Any) -> list[tuple[Any, Any]]:
    return list(dict.items(holder))[:_MOST_LOOKED_AT]


def _spelled(key: Any) -> str:
    """Return a key as code if that takes no code of the user's and no look into a tensor."""
    if type(key) in (str, int, bool, float):
        text = repr(key)
        return text if len(text) <= _LONGEST_KEY else f"{text[: _LONGEST_KEY - 1]}…"
    if isinstance(type(key), type) and issubclass(type(key), torch.Tensor):
        return BY_TENSOR[1:-1]
    return ELSEWHERE


def _of_set(holder: Any, held: Any) -> str:
    return f"{{{ELSEWHERE}}}"


def _of_function(holder: Any, held: Any) -> str:
    for cell, name in zip(holder.__closure__ or (), holder.__code__.co_freevars, strict=False):
        if cell is held:
            return f".<closure {name}>"
    if held is holder.__closure__:
        return ""
    for attribute in ("__defaults__", "__kwdefaults__", "__dict__"):
        if getattr(holder, attribute) is held:
            return "" if attribute == "__dict__" else f".{attribute}"
    return f".{ELSEWHERE}"


def _of_method(holder: Any, held: Any) -> str:
    return ".__self__" if held is holder.__self__ else ".__func__"


def _of_traceback(holder: Any, held: Any) -> str:
    if held is not holder.tb_frame:
        return ""
    code = held.f_code
    return f"{FRAME_MARK}{code.co_name}() line {holder.tb_lineno}"


def _of_frame(holder: Any, held: Any) -> str:
    for name, value in locals_of(holder).items():
        if value is held:
            return f": {name}"
    if type(held) is types.CellType:
        return ""
    return f": {ELSEWHERE}"


def _of_running(attribute: str) -> Callable[[Any, Any], str]:
    def spell(holder: Any, held: Any) -> str:
        frame = getattr(holder, attribute)
        return "" if frame is None or frame is held else _of_frame(frame, held)

    return spell


def _of_exception(holder: BaseException, held: Any) -> str | None:
    for attribute in ("__cause__", "__context__"):
        if getattr(holder, attribute) is held:
            return f".{attribute}"
    if held is holder.__traceback__:
        return ""
    return ".args" if held is holder.args else None


def _of_tensor(holder: Any, held: Any) -> str | None:
    kind = type(held)
    if issubclass(kind, torch.Tensor):
        return ".grad"
    return ".grad_fn" if _is_node(kind) else None


def _is_node(kind: type) -> bool:
    return any("next_functions" in vars(one) for one in kind.__mro__)


def _of_module(holder: Any, held: Any) -> str | None:
    own = object.__getattribute__(holder, "__dict__")
    for name in _OF_MODULES:
        if own.get(name) is held:
            return ""
    return None


def of_attributes(holder: Any, held: Any) -> str:
    """Return what leads out of the dictionary of an object, or of the parts of a module."""
    for key, value in _items(holder):
        if value is not held:
            continue
        if type(key) is not str:
            return f"[{_spelled(key)}]"
        if key in _OF_MODULES:
            return ""
        return f".{key}" if key.isidentifier() else f"[{key if key.isdigit() else _spelled(key)}]"
    return ".keys()"


def _of_class(holder: Any, held: Any) -> str | None:
    return "" if type(held) is dict else None


def _attribute(holder: Any, held: Any) -> str:
    """Return the attribute of an object that holds `held`: of its dictionary or its slots."""
    if _is_node(type(holder)):
        return "" if _is_node(type(held)) else f" ({type(holder).__name__})"
    own = attributes(holder)
    if own is held:
        return ""
    if own is not None and any(value is held for _, value in _items(own)):
        return of_attributes(own, held)
    for name, slot in _slots(type(holder)):
        try:
            if slot.__get__(holder) is held:
                return f".{name}"
        except AttributeError:  # not set
            continue
    return f".<{type(holder).__name__}>"


def attributes(thing: Any) -> dict[str, Any] | None:
    """Return the dictionary of an object, None where its type gives another for it, as proxies do."""
    for one in type(thing).__mro__:
        found = vars(one).get("__dict__")
        if found is not None:
            if type(found) not in (types.GetSetDescriptorType, types.MemberDescriptorType):
                return None
            own = found.__get__(thing)
            return own if type(own) is dict else None
    return None


def _slots(kind: type) -> list[tuple[str, Any]]:
    return [
        (name, member)
        for one in kind.__mro__
        for name, member in vars(one).items()
        if type(member) is types.MemberDescriptorType
    ]


_LABELS: Mapping[type, Callable[[Any, Any], str]] = {
    list: _of_list,
    tuple: _of_list,
    dict: _of_dict,
    set: _of_set,
    frozenset: _of_set,
    types.FunctionType: _of_function,
    types.MethodType: _of_method,
    types.CellType: lambda holder, held: "",
    types.TracebackType: _of_traceback,
    types.FrameType: _of_frame,
    types.GeneratorType: _of_running("gi_frame"),
    types.CoroutineType: _of_running("cr_frame"),
    types.AsyncGeneratorType: _of_running("ag_frame"),
}
_FAMILIES: tuple[tuple[type, Callable[[Any, Any], str | None]], ...] = (
    (torch.Tensor, _of_tensor),
    (torch.nn.Module, _of_module),
    (BaseException, _of_exception),
    (type, _of_class),
    (dict, _of_dict),
    (list, lambda holder, held: _of_list(list(list.__iter__(holder)), held)),
    (tuple, lambda holder, held: _of_list(tuple(tuple.__iter__(holder)), held)),
)
