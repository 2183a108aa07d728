"""The storages behind a tensor, those of one kind of device, and whether they are still alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from memtrack.capture.blocks import is_fake, plain_tensors, storage_of


class Found(NamedTuple):
    """A storage: the address of its C++ object, its bytes, its device, and the storage itself."""

    key: int
    bytes: int
    device: torch.device
    storage: Any


def storages_of(tensor: torch.Tensor, devices: Sequence[torch.device]) -> Iterator[Found]:
    """Yield the storages of a tensor on one of `devices` that have memory of their own."""
    if is_fake(tensor):
        return
    for plain in plain_tensors(tensor):
        storage = storage_of(plain)
        if storage is not None:
            yield from found_on(storage, devices)


def found_on(storage: Any, devices: Sequence[torch.device]) -> Iterator[Found]:
    """Yield an untyped storage if it is on one of `devices` and holds something."""
    try:
        size, place = int(storage.nbytes()), storage.device
    except (RuntimeError, NotImplementedError, AttributeError):
        return
    for device in devices if size else ():
        if place.type == device.type and (place.index or 0) == (device.index or 0):
            yield Found(int(storage._cdata), size, device, storage)


class Census:
    """Which of some storages are still alive, and their bytes. Nothing is kept alive by it."""

    def __init__(self, found: Iterable[Found]) -> None:
        unique = {one.key: one for one in found}
        self._known = [(StorageWeakRef(one.storage), one.bytes) for one in unique.values()]

    def alive_bytes(self) -> int:
        """Return the bytes of those that are alive."""
        return sum(size for reference, size in self._known if not reference.expired())
