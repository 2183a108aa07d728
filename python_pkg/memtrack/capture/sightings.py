"""Where tensors were seen, and as what: names for the blocks of the allocator's own history.

Where the allocator tells when memory comes and goes, all that is noted is that a tensor's storage
was at an address at a time. Nothing is referenced, weakly or not; `merge` finds each sighting among
the blocks that were alive there and then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from memtrack.capture.blocks import is_fake, is_plain, plain_tensors, storage_of
from memtrack.capture.layers import OwnedTensor
from memtrack.capture.moments import Moments
from memtrack.recording.builder import StringBuilder
from memtrack.recording.categories import Category
from memtrack.recording.tables import Array

NOWHERE = 0
_GRADIENT = int(Category.GRADIENT)
_SIGHTING = ("address", "seen_ns", "category", "layer", "name")
_SAVE = ("call", "address", "seen_ns", "forward_ns")


class Sightings:
    """Logs what tensors on CUDA devices are; `columns` gives the logs."""

    def __init__(self, strings: StringBuilder, moments: Moments) -> None:
        self._strings = strings
        self._moments = moments
        self._seen, self._saves = array("q"), array("q")

    def claim(
        self, tensor: torch.Tensor, category: Category, layer: int = -1, name: str = ""
    ) -> None:
        """Name what a tensor's storage is for."""
        string = self._strings.add(name) if name else -1
        for plain in plain_tensors(tensor):
            address = address_of(plain)
            if address:
                now = self._moments.now_ns()
                self._seen.extend((address, now, int(category), layer, string))

    def claim_foreign(self, parameter: torch.Tensor) -> None:
        """Name a parameter of a model that runs untracked."""
        self.claim(parameter, Category.PARAMETER)

    def claim_gradients(self, owned: Iterable[tuple[torch.Tensor, OwnedTensor]]) -> None:
        """Name the gradients of parameters; done in every step, so a number each and no more."""
        now, seen = self._moments.now_ns(), self._seen
        for parameter, entry in owned:
            gradient = parameter.grad
            if gradient is None or not entry.is_parameter:
                continue
            if type(gradient) is torch.Tensor:
                address = address_of(gradient)
                seen.extend((address, now, _GRADIENT, entry.layer, entry.string))
            else:
                self.claim(gradient, Category.GRADIENT, entry.layer, entry.name)

    def save(self, tensor: torch.Tensor, call: int, forward_ns: int) -> None:
        """Note that autograd keeps a tensor for `call`.

        `forward_ns` is when the forward before it began, for a constant that no layer made: it may
        be the target of the loss. Else -1.
        """
        for plain in plain_tensors(tensor):
            address = address_of(plain)
            if address:
                self._saves.extend((call, address, self._moments.now_ns(), forward_ns))

    def owner(self, parameter: Any) -> tuple[int, str]:
        """Return the layer and name of a parameter by its storage: not known here, (-1, "")."""
        return -1, ""

    def columns(self) -> dict[str, Array]:
        """Return what was seen: `address`, `seen_ns`, `category`, `layer`, `name`."""
        return _columns(self._seen, _SIGHTING)

    def saves(self) -> dict[str, Array]:
        """Return what was saved: `call`, `address`, `seen_ns`, `forward_ns`."""
        return _columns(self._saves, _SAVE)


def address_of(tensor: torch.Tensor) -> int:
    """Return where the storage of a plain tensor on a CUDA device begins, 0 for any other tensor."""
    try:
        if not tensor.is_cuda:
            return NOWHERE
        if is_plain(tensor) and not tensor.storage_offset():
            return tensor.data_ptr()
    except (RuntimeError, NotImplementedError):
        return NOWHERE
    storage = None if is_fake(tensor) else storage_of(tensor)
    return NOWHERE if storage is None else int(storage.data_ptr())


def _columns(log: array[int], names: tuple[str, ...]) -> dict[str, Array]:
    values = np.array(log, dtype="i8")
    width = len(names)
    rows = values[: len(values) // width * width].reshape(-1, width)
    return {name: rows[:, place].copy() for place, name in enumerate(names)}
