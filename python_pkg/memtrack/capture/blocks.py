"""The life of tensor storages, as allocations: each storage once, from first sight to release.

A storage is named by the address of its C++ object. torch keeps one Python object per storage
(since 2.2), so a weak reference to it dies at the moment the memory is released, and nothing is
kept alive by watching; before, the storages known are asked at every event. Views and slices are charged to the storage they share.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch

from memtrack.capture import watched
from memtrack.capture.moments import Moments
from memtrack.capture.watched import Polled, Watched
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import Category, EventKind

UNWATCHED = -1
_FREE, _ALLOC = int(EventKind.FREE), int(EventKind.ALLOC)
_UNKNOWN = int(Category.UNKNOWN)
_PATIENCE_S = 0.001


class Blocks:
    """Allocations of watched devices. Rows are those of the `allocations` table being built.

    #### Why deaths are queued
    A storage can die anywhere: in the middle of our own code, in a garbage collection, on an autograd
    thread. All that runs then is the append of a deque, in which no interrupt of the user's can be
    lost. Every reading of the clock of events (`Moments.cut`) and every birth first writes down the
    deaths before it.
    """

    def __init__(self, builder: RecordingBuilder, moments: Moments) -> None:
        self._moments = moments
        self._allocations = builder["allocations"]
        self._events = builder["events"]
        self._devices = builder["devices"]
        self._strings = builder.strings
        self._device_rows: dict[torch.device, int] = {}
        self._polls = not watched.CAN_CALL_BACK
        self._watched: dict[int, Watched | Polled] = {}
        self._lock = threading.Lock()
        self._dead: deque[Watched | Polled] = deque()
        moments.before_cut = self.bury
        self.begun = False
        """Set once everything alive before the recording has been sighted."""
        self.on_change: Callable[[int], None] = lambda change: None
        """Called after each event, and for what is alive at the start, with the signed bytes."""

    def row_of(self, tensor: torch.Tensor) -> int:
        """Return the allocation of a plain tensor's storage if it is watched, else -1."""
        self.bury()
        storage = storage_of(tensor)
        one = None if storage is None else self._watched.get(storage._cdata)
        return UNWATCHED if one is None else one.row

    def knows(self, tensor: torch.Tensor) -> bool:
        """Tell, fast, whether a plain tensor's storage is watched at the size it has now."""
        if type(tensor) not in _PLAIN:
            return False
        if self._dead:
            self.bury()
        storage = storage_of(tensor)
        one = None if storage is None else self._watched.get(storage._cdata)
        return one is not None and bool(one.size == storage.nbytes())

    def sight(self, tensor: torch.Tensor, layer: int = -1, call: int = -1, stack: int = -1) -> int:
        """Return the allocation of a plain tensor's storage, watching it from now on.

        One not seen before counts as made just now by `call` of `layer` at `stack`, or as alive
        before the recording until `begun` is set. Returns -1 for tensors without memory of their
        own (meta, fake, sparse).
        """
        self.bury()
        storage = storage_of(tensor)
        if storage is None:
            return UNWATCHED
        key: int = storage._cdata
        size: int = storage.nbytes()
        one = self._watched.get(key)
        if one is not None and one.size == size:
            return one.row
        if tensor.device.type == "meta" or is_fake(tensor):
            return UNWATCHED
        if not self._lock.acquire(timeout=_PATIENCE_S):
            return UNWATCHED
        try:
            if one is None:
                device = self.device_row(tensor.device)
                self._watch(storage, key, size, device, layer, call, stack)
            else:
                self._resize(one, size)
            return self._watched[key].row
        finally:
            self._lock.release()

    def release_all(self) -> None:
        """Stop watching; what is alive stays alive in the recording."""
        self.bury()
        self._watched.clear()

    def _watch(
        self, storage: Any, key: int, size: int, device: int, layer: int, call: int, stack: int
    ) -> None:
        one = Polled(storage) if self._polls else Watched(storage, self._dead.append)
        one.key, one.size, one.device = key, size, device
        one.row = self._block(device, size, key, layer, call, stack, _UNKNOWN, -1)
        self._watched[key] = one

    def bury(self) -> None:
        """Write down the deaths since the last time."""
        dead = self._dead
        if self._polls:
            known = self._watched.values()
            dead.extend(one for one in known if isinstance(one, Polled) and one.has_died())
        while dead:
            one = dead[0]
            if self._watched.get(one.key) is one:
                self._end(one)
                del self._watched[one.key]
            dead.popleft()

    def _end(self, one: Watched | Polled) -> None:
        self._event(_FREE, one.row, one.device, one.size, one.key)
        self.on_change(-one.size)

    def _resize(self, one: Watched | Polled, size: int) -> None:
        """Record a storage that was resized in place as a release and a new allocation."""
        self._end(one)
        layer, call, stack, category, name = (
            self._allocations.get(one.row, column)
            for column in ("layer", "call", "stack", "category", "name")
        )
        one.row = self._block(one.device, size, one.key, layer, call, stack, category, name)
        one.size = size

    def _block(
        self,
        device: int,
        size: int,
        key: int,
        layer: int,
        call: int,
        stack: int,
        category: int,
        name: int,
    ) -> int:
        row = len(self._allocations)
        address, charged = self._placed(device, row, size, key)
        start = len(self._events) if self.begun else -1
        self._allocations.append(
            (device, charged, size, start, -1, category, layer, call, -1, stack, name, address, 0)
        )
        if self.begun:
            self._event(_ALLOC, row, device, charged, address)
        self.on_change(charged)
        return row

    def _placed(self, device: int, row: int, size: int, key: int) -> tuple[int, int]:
        """Return where an allocation lies and what it is charged, bytes."""
        return key, size

    def _event(self, kind: int, row: int, device: int, size: int, key: int) -> None:
        self._events.append((self._moments.now_ns(), kind, device, size, row, key, 0))

    def device_row(self, device: torch.device) -> int:
        """Return the row of a device, which is watched from now on."""
        row = self._device_rows.get(device)
        if row is None:
            add = self._strings.add
            name = add(device_name(device))
            row = self._devices.add(kind=add(device.type), index=device.index or 0, name=name)
            self._device_rows[device] = row
        return row

    def device_rows(self) -> dict[torch.device, int]:
        """Return the rows of the devices seen so far."""
        return dict(self._device_rows)


_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})


def plain_tensors(value: torch.Tensor, nesting: int = 4) -> Iterator[torch.Tensor]:
    """Yield the tensors that hold the memory of `value`: itself, or a subclass's inner ones."""
    flatten = None if type(value) in _PLAIN else getattr(value, "__tensor_flatten__", None)
    inner: list[torch.Tensor] = []
    if flatten is not None and nesting > 0:
        with contextlib.suppress(Exception):  # the user's own code
            names, _ = flatten()
            inner = [getattr(value, name) for name in names]
    if not inner:
        yield value
    for tensor in inner:
        yield from plain_tensors(tensor, nesting - 1)


def storage_of(tensor: torch.Tensor) -> Any:
    """Return a tensor's storage, None when it has none (sparse, not yet initialised, wrapped).

    A subclass's own idea of `untyped_storage` is not asked: it is the user's code.
    """
    if type(tensor) in _PLAIN:
        try:
            return tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return None
    with torch._C.DisableTorchFunctionSubclass(), contextlib.suppress(Exception):
        return tensor.untyped_storage()
    return None


def is_plain(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor is of torch's own type, whose memory is its storage."""
    return type(tensor) in _PLAIN


def is_fake(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor has no data, as under `FakeTensorMode`."""
    return type(tensor) not in _PLAIN and type(tensor).__name__ in (
        "FakeTensor",
        "FunctionalTensor",
    )


def device_name(device: torch.device) -> str:
    """Return how people know a device: `NVIDIA H200`, `CPU`."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return device.type.upper()
