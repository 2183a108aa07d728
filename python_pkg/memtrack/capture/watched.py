"""Weak references to storages that know their allocation, and when the storage has died."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

CAN_CALL_BACK = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 2)
"""Whether Python's weak references to storages work. In torch 2.1 the Python object of a storage
comes and goes while the storage lives, so that they dangle."""


class Watched(weakref.ref):  # type: ignore[type-arg]
    """A weak reference whose callback comes at the moment the storage's memory is released."""

    __slots__ = ("device", "key", "row", "size")

    device: int
    key: int
    row: int
    size: int


class Polled:
    """A weak reference of torch's own, which has to be asked."""

    __slots__ = ("_storage", "device", "key", "row", "size")

    device: int
    key: int
    row: int
    size: int

    def __init__(self, storage: Any) -> None:
        self._storage = StorageWeakRef(storage)

    def has_died(self) -> bool:
        """Tell whether the storage's memory has been released."""
        return bool(self._storage.expired())
