"""A recording as a snapshot of torch's allocator, for pytorch.org/memory_viz and `torch.cuda._memory_viz`.

The fields are those of `torch.cuda.memory._snapshot()` of torch 2.10: segments with their blocks at
the end, a trace a device, marks as annotations. Categories are in `category`, which memory_viz
colours by, and layers in `user_metadata`. The viewer's own unpickler knows protocol 4 at most.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from memtrack.allocator.seed import segment_addresses
from memtrack.errors import UsageError
from memtrack.exports.layout import HeldBlock, HeldSegment, Layout, layout_of
from memtrack.i18n import text
from memtrack.recording.categories import Category, EventKind, PhaseKind
from memtrack.recording.data import RecordingData
from memtrack.recording.store import written_whole

PROTOCOL = 4
SUFFIX = ".pickle"
_PACKED = (".gz", ".xz", ".bz2", ".zst", ".zip")

_ACTIONS = {
    EventKind.SEGMENT_ALLOC: "segment_alloc",
    EventKind.SEGMENT_FREE: "segment_free",
    EventKind.SEGMENT_MAP: "segment_map",
    EventKind.SEGMENT_UNMAP: "segment_unmap",
    EventKind.OOM: "oom",
}
Entry = dict[str, Any]


def write_snapshot(data: RecordingData, path: str | os.PathLike[str]) -> Path:
    """Write `data` as a pickle and return its path; `.pickle` is added where there is no ending.

    Raises UsageError for a name that promises a packed file, OSError as the system gives it (no space,
    no permission); the target is then unchanged.
    """
    target = Path(path)
    if target.suffix in _PACKED:
        raise UsageError(
            text(
                "Snapshots are written unpacked: {ending} would not be true.", ending=target.suffix
            ),
            text("Did you mean '{word}'?", word=str(target.with_suffix(""))),
        )
    if not target.suffix:
        target = target.with_name(target.name + SUFFIX)
    snapshot = snapshot_of(data)
    with written_whole(target) as file:
        pickle.dump(snapshot, file, protocol=PROTOCOL)
    return target


def snapshot_of(data: RecordingData) -> dict[str, Any]:
    """Return what `torch.cuda.memory._snapshot()` would at the end of the recording."""
    indices = _indices(data)
    traces: list[list[Entry]] = [[] for _ in range(max(indices, default=0) + 1)]
    segments: list[Entry] = []
    frames = _Frames(data)
    for device, index in enumerate(indices):
        layout = layout_of(data, device)
        traces[index] = list(_Trace(data, device, layout, frames).entries())
        segments += [_segment(data, index, held, frames) for held in layout.segments]
    snapshot: dict[str, Any] = {
        "segments": sorted(segments, key=lambda segment: int(segment["address"])),
        "device_traces": traces,
        "external_annotations": list(_annotations(data, indices)),
    }
    settings = data.facts.extra.get("allocator_settings")
    if isinstance(settings, dict):
        snapshot["allocator_settings"] = settings
    return snapshot


def _indices(data: RecordingData) -> list[int]:
    """Return the place of each device in the snapshot: CUDA's own numbers, the others after them."""
    devices = data.devices
    kinds = [data.string(int(kind)) for kind in devices["kind"]]
    taken = {
        int(i) for kind, i in zip(kinds, devices["index"], strict=True) if kind == "cuda" and i >= 0
    }
    following = max(taken, default=-1) + 1
    indices = []
    for kind, index in zip(kinds, devices["index"].tolist(), strict=True):
        if kind == "cuda" and index >= 0 and index not in indices:
            indices.append(index)
        else:
            indices.append(following)
            following += 1
    return indices


class _Frames:
    """Stacks as lists of frames, innermost first, each made once so that the file has it once."""

    def __init__(self, data: RecordingData) -> None:
        self._data = data
        self._known: dict[int, list[Entry]] = {}

    def of(self, stack: int) -> list[Entry]:
        """Return the frames of a stack, empty for -1."""
        found = self._known.get(stack)
        if found is None:
            found = self._known[stack] = [
                {"name": function, "filename": file, "line": line}
                for file, function, line in self._data.stack_frames(stack)
            ]
        return found


class _Trace:
    """The entries of one device."""

    def __init__(self, data: RecordingData, device: int, layout: Layout, frames: _Frames) -> None:
        self._data = data
        self._device = device
        self._layout = layout
        self._frames = frames
        self._segments = segment_addresses(data, device)
        began = zip(*(data.segments[name].tolist() for name in ("start", "stack")), strict=True)
        self._segment_stacks = {start: stack for start, stack in began if stack >= 0}
        self._failed_last, self._failed_stack = _last_failure(data, device)
        allocations = data.allocations
        self._addresses = layout.addresses.tolist()
        self._sizes = layout.sizes.tolist()
        self._requested = allocations["requested"].tolist()
        self._stacks = allocations["stack"].tolist()
        self._metadata = _metadata(data)
        mine = allocations["category"][allocations["device"] == device]
        known = bool((mine != Category.UNKNOWN).any())
        self._categories = _categories(data) if known else None

    def entries(self) -> Iterator[Entry]:
        """Go through them in order, a last one standing for the snapshot itself."""
        events = self._data.events
        rows = np.flatnonzero(events["device"] == self._device)
        times = events["time_ns"][rows] // 1000 + _epoch_us(self._data)
        columns = (events[name][rows].tolist() for name in ("kind", "allocation"))
        streams = np.maximum(events["stream"][rows], 0).tolist()
        done = events["kind"] == EventKind.FREE_COMPLETED
        late = set(events["allocation"][done].tolist())
        for row, time, kind, allocation, stream in zip(
            rows.tolist(), times.tolist(), *columns, streams, strict=True
        ):
            common = {"stream": stream, "time_us": time}
            if allocation >= 0 and not self._sizes[allocation]:
                continue  # it was never seen to be allocated, so that nobody knows where it lies
            if kind in _ACTIONS:
                yield from self._of_segment(row, EventKind(kind), common)
            elif kind == EventKind.ALLOC:
                yield from self._alloc(allocation, common)
            elif kind == EventKind.FREE:
                yield self._of_block("free_requested", allocation, common)
                if allocation not in late:
                    yield from self._completed(allocation, common)
            elif kind == EventKind.FREE_COMPLETED and allocation >= 0:
                yield from self._completed(allocation, common)
        yield self._last(int(times[-1]) if len(times) else _epoch_us(self._data))

    def _alloc(self, row: int, common: Entry) -> Iterator[Entry]:
        if self._layout.made_up:
            yield {"action": "segment_alloc", **self._segment_of(row), **common}
        yield self._of_block("alloc", row, common)

    def _completed(self, row: int, common: Entry) -> Iterator[Entry]:
        yield self._of_block("free_completed", row, common)
        if self._layout.made_up:
            yield {"action": "segment_free", **self._segment_of(row), **common}

    def _segment_of(self, row: int) -> Entry:
        return {"addr": self._addresses[row], "size": self._sizes[row]}

    def _of_block(self, action: str, row: int, common: Entry) -> Entry:
        entry = {"action": action, "addr": self._addresses[row], "size": self._requested[row]}
        entry.update(common)
        if self._stacks[row] >= 0:
            entry["frames"] = self._frames.of(self._stacks[row])
        if self._categories is not None:
            entry["category"] = self._categories[row]
        if action == "alloc" and row in self._metadata:
            entry["user_metadata"] = self._metadata[row]
        return entry

    def _of_segment(self, row: int, kind: EventKind, common: Entry) -> Iterator[Entry]:
        event = self._data.events.row(row)
        action, size = _ACTIONS[kind], event["bytes"]
        if kind == EventKind.OOM:  # its address is what the device had free
            entry = {"action": action, "device_free": event["address"], "size": size, **common}
            if row == self._failed_last:
                entry["frames"] = self._frames.of(self._failed_stack)
            yield entry
        elif not self._layout.made_up:
            address = self._segments.get(row, event["address"])
            entry = {"action": action, "addr": address, "size": size, **common}
            if row in self._segment_stacks:
                entry["frames"] = self._frames.of(self._segment_stacks[row])
            yield entry

    def _last(self, time_us: int) -> Entry:
        size = sum(block.size for held in self._layout.segments for block in held.blocks)
        entry = {"action": "snapshot", "addr": 0, "size": size, "stream": 0, "time_us": time_us}
        if self._categories is not None:
            # Where there are categories memory_viz fails unless one of them is this.
            entry["category"] = Category.UNKNOWN.id
        return entry


def _last_failure(data: RecordingData, device: int) -> tuple[int, int]:
    """Return the event of the last request that failed and the stack it came from, -1 for unknown."""
    events = data.events
    failed = np.flatnonzero((events["kind"] == EventKind.OOM) & (events["device"] == device))
    told = data.facts.extra.get("failures")
    found = told.get(str(device)) if isinstance(told, Mapping) else None
    stack = found.get("stack") if isinstance(found, Mapping) else None
    if not isinstance(stack, int) or not 0 <= stack < len(data.stacks):
        stack = -1
    return int(failed[-1]) if len(failed) else -1, stack


def _categories(data: RecordingData) -> list[str]:
    names = [category.id for category in Category]
    return [names[code] for code in data.allocations["category"].tolist()]


def _metadata(data: RecordingData) -> dict[int, str]:
    """Return what is known of an allocation besides its category: its name, else its layer."""
    allocations, paths = data.allocations, data.layers["path"].tolist()
    names, layers = allocations["name"].tolist(), allocations["layer"].tolist()
    return {
        row: data.string(name) if name >= 0 else data.string(paths[layer])
        for row, (name, layer) in enumerate(zip(names, layers, strict=True))
        if name >= 0 or layer >= 0
    }


def _segment(data: RecordingData, index: int, held: HeldSegment, frames: _Frames) -> Entry:
    requested = data.allocations["requested"]
    allocated = sum(block.size for block in held.blocks)
    return {
        "device": index,
        "address": held.address,
        "total_size": held.size,
        "allocated_size": allocated,
        "active_size": allocated,
        "requested_size": sum(int(requested[block.row]) for block in held.blocks),
        "stream": held.stream,
        "segment_type": "small" if held.small else "large",
        "segment_pool_id": _pool_id(held.pool),
        "is_expandable": held.expandable,
        "frames": frames.of(held.stack),
        "blocks": list(_blocks(data, held, frames)),
    }


def _blocks(data: RecordingData, held: HeldSegment, frames: _Frames) -> Iterator[Entry]:
    """Go through the blocks of a segment, what lies between them as inactive ones."""
    allocations, end = data.allocations, held.address
    last = HeldBlock(-1, held.address + held.size, 0)
    for block in [*held.blocks, last]:
        if block.address > end:
            free = block.address - end
            yield _block(end, free, free, "inactive", [])
        if block is not last:
            requested = int(allocations["requested"][block.row])
            stack = frames.of(int(allocations["stack"][block.row]))
            yield _block(block.address, block.size, requested, "active_allocated", stack)
        end = block.address + block.size


def _block(address: int, size: int, requested: int, state: str, frames: list[Entry]) -> Entry:
    return {
        "address": address,
        "size": size,
        "requested_size": requested,
        "state": state,
        "frames": frames,
    }


def _pool_id(pool: str) -> tuple[int, int]:
    first, _, second = pool.partition(".")
    return (int(first), int(second)) if first.isdigit() and second.isdigit() else (0, 0)


def _annotations(data: RecordingData, indices: list[int]) -> Iterator[Entry]:
    """Tell phases and marks as torch tells `record_function`: by name, steps from 1, start and end."""
    epoch, phases = _epoch_us(data), data.phases
    device = indices[0] if indices else 0
    spans = []
    for kind, step, start, end in zip(
        *(phases[name].tolist() for name in ("kind", "step", "start_ns", "end_ns")), strict=True
    ):
        if kind != PhaseKind.OTHER:
            spans.append((f"step {step + 1} {PhaseKind(kind).id}", start, end))
    for label, time in zip(
        data.marks["label"].tolist(), data.marks["time_ns"].tolist(), strict=True
    ):
        spans.append((data.string(label), time, time))
    for name, *edges in spans:
        for stage, time in zip(("START", "END"), edges, strict=True):
            yield {"name": name, "stage": stage, "device": device, "time_us": epoch + time // 1000}


def _epoch_us(data: RecordingData) -> int:
    """Return when the recording began, in microseconds since the epoch; 0 where that is not known."""
    try:
        started = datetime.fromisoformat(data.facts.started.replace("Z", "+00:00"))
    except ValueError:
        return 0
    if started.tzinfo is None:
        started = started.replace(tzinfo=timezone.utc)
    return int(started.timestamp() * 1_000_000)
