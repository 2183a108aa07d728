"""What the error shown last keeps alive, counted when another one is on its way.

Python and notebooks keep the traceback of an error until the next is shown, and with it the variables
of every function that failed. When the next failure is explained, that traceback is gone already.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from memtrack.diagnosis.evidence import HeldFact

EXCEPTION = "exception"
MOST_FRAMES, MOST_VALUES = 300, 2_000
"""Frames, and values of each, that are looked at: together some milliseconds."""


def held_by_last_error(device: torch.device) -> Sequence[HeldFact]:
    """Return what variables of the error that was shown last hold on `device`, each storage once.

    Left out are parameters and what the variables of a cell or module hold as well: that is not alive
    because of an error. Values are looked at directly and one level inside lists, tuples and
    dictionaries.
    """
    held: dict[int, int] = {}
    known: set[int] = set()
    entry = getattr(sys, "last_traceback", None)
    for _ in range(MOST_FRAMES):
        if entry is None:
            break
        frame = entry.tb_frame
        found = _storages(frame.f_locals.values(), device)
        if frame.f_locals is frame.f_globals:
            known.update(found)
        else:
            held.update(found)
        entry = entry.tb_next
    size = sum(held[pointer] for pointer in held.keys() - known)
    return [HeldFact("sys.last_value", EXCEPTION, size)] if size else []


def _storages(values: Iterable[Any], device: torch.device) -> dict[int, int]:
    """Return the bytes of each storage among values, by its address."""
    storages = (one.untyped_storage() for one in _tensors_in(values) if one.device == device)
    return {storage.data_ptr(): storage.nbytes() for storage in storages}


def _tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    found = []
    for value in list(values)[:MOST_VALUES]:
        kind = type(value)
        inside: list[Any] = [value]
        if kind in (list, tuple):
            inside = list(value)[:MOST_VALUES]
        elif kind is dict:
            inside = list(value.values())[:MOST_VALUES]
        found += [one for one in inside if type(one) is torch.Tensor]
    return found
