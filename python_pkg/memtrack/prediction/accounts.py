"""The predicted GPU's memory, kept by the simulated caching allocator while the program runs.

In: storages that claim a device, as `capture/blocks.py` follows them. Out: allocations charged as the
allocator charges them, events of the segments it takes, and the answers to `torch.cuda`'s questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import torch

from memtrack.allocator.blocks import Block
from memtrack.allocator.rules import SMALL_SIZE, page_size, round_size
from memtrack.allocator.settings import Settings
from memtrack.allocator.simulator import CachingAllocator
from memtrack.capture.blocks import UNWATCHED, Blocks, storage_of
from memtrack.capture.moments import Moments
from memtrack.capture.watched import Polled, Watched
from memtrack.prediction.kernels.context import Effects
from memtrack.prediction.stage.claims import storage_claim
from memtrack.recording.builder import RecordingBuilder
from memtrack.recording.categories import Category, EventKind

_FREE = int(EventKind.FREE)
_TAKEN = (EventKind.SEGMENT_ALLOC, EventKind.SEGMENT_MAP)
_TEMPORARY, _WORKSPACE = int(Category.TEMPORARY), int(Category.WORKSPACE)


class PredictedBlocks(Blocks):
    """Allocations of a predicted program: by what storages claim, sizes as CUDA's allocator charges.

    `gpu_name` is the name of every CUDA device of the prediction.
    """

    def __init__(
        self, builder: RecordingBuilder, moments: Moments, settings: Settings, gpu_name: str
    ) -> None:
        super().__init__(builder, moments)
        self._settings = settings
        self._gpu_name = gpu_name
        self._books: dict[int, Book] = {}
        self._segments = builder["segments"]
        self._kept: set[tuple[int, Hashable]] = set()
        self.unmodelled: dict[tuple[str, int], int] = {}
        """Operations whose kernels are not modelled, by name and layer: by how many bytes one may differ."""

    @property
    def uncertain(self) -> int:
        """The most bytes by which kernels that are not modelled may differ, of one operation."""
        return max(self.unmodelled.values(), default=0)

    @property
    def uncertain_names(self) -> list[str]:
        """Names of operations whose kernels are not modelled, the most uncertain first."""
        ordered = sorted(self.unmodelled, key=self.unmodelled.__getitem__, reverse=True)
        return list(dict.fromkeys(name for name, _ in ordered))

    @property
    def multiplies(self) -> bool:
        """Whether the program multiplied matrices, for which cuBLAS was loaded."""
        return any("cublas" in str(key) for _, key in self._kept)

    def sight(self, tensor: torch.Tensor, layer: int = -1, call: int = -1, stack: int = -1) -> int:
        """Return the allocation of a tensor's storage, watching it from now on.

        Torch functions must be disabled. A storage without bytes is none, as for CUDA's allocator.
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
        claim = storage_claim(storage)
        if claim is None or claim.device.type == "meta":
            return UNWATCHED
        if one is not None and size:
            self._resize(one, size)
        elif one is not None:
            self._end(one)
            del self._watched[key]
        elif size:
            device = self.device_row(claim.device)
            self._watch(storage, key, size, device, layer, call, stack)
        return self._watched[key].row if size else UNWATCHED

    def device_row(self, device: torch.device) -> int:
        """Return the row of a claimed device; CUDA devices are kept by an allocator each."""
        row = self._device_rows.get(device)
        if row is None:
            add = self._strings.add
            name = self._gpu_name if device.type == "cuda" else device.type.upper()
            row = self._devices.add(kind=add(device.type), index=device.index or 0, name=add(name))
            self._device_rows[device] = row
            if device.type == "cuda":
                self._books[row] = Book(row, self._settings, self)
        return row

    def book(self, device: torch.device) -> Book:
        """Return what is kept of a CUDA device."""
        return self._books[self.device_row(device)]

    def declare(
        self, name: str, effects: Effects, device: torch.device, layer: int, call: int, stack: int
    ) -> None:
        """Write down what an operation needed besides its outputs: come and gone, or kept."""
        row, place = self.device_row(device), (layer, call, stack)
        for key, size in effects.kept:
            if (row, key) not in self._kept:
                self._kept.add((row, key))
                self._block(row, size, 0, *place, _WORKSPACE, self._strings.add(_called(key)))
        together = [self._block(row, size, 0, *place, _TEMPORARY, -1) for size in effects.scratch]
        for pieces in effects.sequences:
            for size in pieces:
                self._release(self._block(row, size, 0, *place, _TEMPORARY, -1), row, size)
        for allocation, size in zip(reversed(together), reversed(effects.scratch), strict=True):
            self._release(allocation, row, size)
        if effects.uncertain:
            before = self.unmodelled.get((name, layer), 0)
            self.unmodelled[name, layer] = max(before, effects.uncertain)

    def segment_changed(self, device: int, kind: EventKind, address: int, size: int) -> int:
        """Write down that the allocator took memory of the device or gave it back; return the event."""
        event = len(self._events)
        self._events.append((self._moments.now_ns(), int(kind), device, size, -1, address, 0))
        return event

    def segment_row(self, device: int, address: int, size: int, event: int, small: bool) -> int:
        """Add a segment, or a page of an expandable one."""
        expandable = int(self._settings.expandable_segments)
        return self._segments.add(
            device=device,
            address=address,
            bytes=size,
            start=event,
            end=-1,
            stream=0,
            pool=-1,
            small=int(small),
            expandable=expandable,
        )

    def end_segment(self, row: int, event: int) -> None:
        """Say which event gave a segment back."""
        self._segments.set(row, end=event)

    def _end(self, one: Watched | Polled) -> None:
        self._release(one.row, one.device, one.size)

    def _release(self, row: int, device: int, size: int) -> None:
        book = self._books.get(device)
        address, charged = (0, size) if book is None else book.free(row)
        self._event(_FREE, row, device, charged, address)
        self.on_change(-charged)

    def _placed(self, device: int, row: int, size: int, key: int) -> tuple[int, int]:
        book = self._books.get(device)
        return (key, size) if book is None else book.malloc(row, size)


_LIBRARIES = {"cublas": "cuBLAS", "cudnn": "cuDNN"}


def _called(key: Hashable) -> str:
    """Return what a library's workspace is called: that of `cuBLAS`, or `cuBLAS in backward`.

    Autograd's thread has one of its own.
    """
    parts = key if isinstance(key, tuple) else (key,)
    words = " ".join(str(part) for part in parts if not isinstance(part, bool))
    library, _, rest = words.partition(" ")
    named = " ".join(filter(None, (_LIBRARIES.get(library, library), rest)))
    return f"{named} in backward" if any(part is True for part in parts) else named


class Book:
    """One predicted CUDA device: the simulated allocator, and what it answers a program that asks.

    Its capacity is not limited here, so that the whole need is found; `verdict.py` asks afterwards
    whether a device has as much.
    """

    def __init__(self, device: int, settings: Settings, blocks: PredictedBlocks) -> None:
        self._device = device
        self._settings = settings
        self._blocks = blocks
        self._allocator = CachingAllocator(settings)
        self._allocator.log = self._log
        self._live: dict[int, Block] = {}
        self._rows: dict[int, int] = {}
        self._small = False

    def malloc(self, row: int, size: int) -> tuple[int, int]:
        """Hand out memory for an allocation; return its address and what it is charged, bytes."""
        self._small = round_size(size, self._settings) <= SMALL_SIZE
        block = self._live[row] = self._allocator.malloc(size)
        return block.address, block.size

    def free(self, row: int) -> tuple[int, int]:
        """Take an allocation back; return its address and what it was charged."""
        block = self._live.pop(row)
        found = block.address, block.size
        self._allocator.free(block)
        return found

    def _log(self, kind: EventKind, address: int, size: int, stream: int) -> None:
        event = self._blocks.segment_changed(self._device, kind, address, size)
        for begin, part in self._parts(address, size):
            if kind in _TAKEN:
                row = self._blocks.segment_row(self._device, begin, part, event, self._small)
                self._rows[begin] = row
            else:
                self._blocks.end_segment(self._rows.pop(begin), event)

    def _parts(self, address: int, size: int) -> Iterator[tuple[int, int]]:
        """Go through the pages of a range of an expandable segment; any other is one part."""
        if not self._settings.expandable_segments:
            yield address, size
            return
        page = page_size(True, self._settings)
        for begin in range(address, address + size, page):
            yield begin, min(page, address + size - begin)

    # what `torch.cuda` asks

    def allocated(self) -> int:
        """Bytes of tensors now."""
        self._blocks.bury()
        return self._allocator.allocated

    def reserved(self) -> int:
        """Bytes that the allocator holds now."""
        return self._allocator.reserved

    def peak_allocated(self) -> int:
        """Most bytes of tensors since the peaks were reset."""
        return self._allocator.peak_allocated

    def peak_reserved(self) -> int:
        """Most bytes held since the peaks were reset."""
        return self._allocator.peak_reserved

    def reset_peaks(self) -> None:
        """Begin the peaks anew."""
        self._allocator.peak_allocated = self._allocator.allocated
        self._allocator.peak_reserved = self._allocator.reserved

    def empty_cache(self) -> None:
        """Give back what is not used."""
        self._blocks.bury()
        self._allocator.empty_cache()
