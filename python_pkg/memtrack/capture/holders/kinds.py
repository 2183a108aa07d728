"""What an object is to the search for holders, told by its type alone.

No question goes to the object: lazy proxies answer by loading what they stand for.
"""

from __future__ import annotations

from types import FrameType, ModuleType
from typing import Any

import torch

ATOM, THING, TENSOR, STORAGE, NODE, FRAME, CLASS, MODULE = range(8)
"""ATOM can hold nothing; NODE is of an autograd graph; MODULE is entered by its own name only."""

_CAN_HOLD = 1 << 14
"""`Py_TPFLAGS_HAVE_GC`: types without it hold no other objects (Include/object.h)."""


class Kinds(dict[type, int]):
    """The kind of each type, found when it is first asked for."""

    def __missing__(self, kind: type) -> int:
        self[kind] = found = _kind(kind)
        return found


def _kind(kind: Any) -> int:
    family: tuple[Any, ...] = type.__dict__["__mro__"].__get__(kind)
    if not type.__dict__["__flags__"].__get__(kind) & _CAN_HOLD:
        return ATOM
    for known, answer in _KNOWN:
        if known in family:
            return answer
    if any("next_functions" in type.__dict__["__dict__"].__get__(one) for one in family):
        return NODE
    return THING


_KNOWN = (
    (torch.Tensor, TENSOR),
    (torch.UntypedStorage, STORAGE),
    (FrameType, FRAME),
    (ModuleType, MODULE),
    (type, CLASS),
)
