"""The tables of a recording: which columns there are, their types and what they mean.

A *cut* is a moment between events: cut `c` lies after event `c - 1` and before event `c`, so there
are `events + 1` of them and `[start, end)` of two cuts are the events in between. All bytes are
int64, all times nanoseconds since the recording began (int64), all references are row numbers
with -1 for none. A table may only gain columns, at the end, with a default for older files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """Type and default of one column; `default` fills the column when an older file lacks it."""

    dtype: str
    default: int = -1


def _columns(**dtypes: str | ColumnSpec) -> Mapping[str, ColumnSpec]:
    specs = {n: d if isinstance(d, ColumnSpec) else ColumnSpec(d) for n, d in dtypes.items()}
    return MappingProxyType(specs)


EVENTS = _columns(
    time_ns="<i8",
    kind="u1",  # EventKind
    device="<i2",  # row of devices
    bytes="<i8",  # size of the block or segment, never negative
    allocation="<i4",  # row of allocations for ALLOC, FREE and FREE_REQUESTED
    address="<u8",
    stream="<i8",
)
"""In the order they happened. Memory in use changes at ALLOC and FREE, reserved at SEGMENT_*."""

ALLOCATIONS = _columns(
    device="<i2",
    bytes="<i8",  # what the allocator charged (rounded on CUDA, the storage's size on the CPU)
    requested="<i8",  # what was asked for
    start="<i8",  # event that allocated it; -1: alive before the recording
    end="<i8",  # event that freed it; the number of events: still alive at the end
    category="u1",  # Category
    layer="<i4",  # layer it belongs to (parameter, buffer, gradient, optimizer state) or made it
    call="<i4",  # call that made it, if one did
    phase="<i4",  # phase it was made in; -1: before the recording
    stack="<i4",  # where in the user's code; row of stacks
    name="<i4",  # string, such as `h.0.attn.weight` or `exp_avg of h.0.attn.weight`
    address="<u8",
    stream="<i8",
)
"""One row a block of memory, from its allocation to its release. Alive at cut c: start < c <= end."""

LAYERS = _columns(
    parent="<i4",
    depth="<i2",
    name="<i4",  # string: last part of the path (`mlp`); of a root its label
    path="<i4",  # string: `model.h.0.mlp`, the root's label included
    type="<i4",  # string: class name
    aliases="<i4",  # string: other paths of the same module, joined by ", "; -1: none
    subtree="<i4",  # rows in the subtree, itself included; descendants follow directly
    parameters="<i8",  # number of elements of its own parameters, each storage once
    parameter_bytes="<i8",
    trainable="<i8",  # elements that require grad
    tied="u1",  # 1: shares a parameter that an earlier layer owns
)
"""The module tree in pre-order, one row a module object, roots one after the other."""

CALLS = _columns(
    layer="<i4",
    parent="<i4",  # call it was made from
    kind="u1",  # CallKind
    phase="<i4",
    start="<i8",  # cut
    end="<i8",  # cut
    start_ns="<i8",
    end_ns="<i8",
    backward_start="<i8",  # cuts around its backward, its children's included; -1: none seen
    backward_end="<i8",
    backward_start_ns="<i8",
    backward_end_ns="<i8",
    output_shape="<i4",  # string such as `8×512×768`; several outputs joined by ", "
    output_dtype="<i4",  # string such as `float32`
    output_bytes="<i8",  # storages of the outputs, each once
    needs_grad="u1",
    failed="u1",  # an exception left the call
)
"""One row a call of a module's forward, in the order they began."""

SAVED = _columns(
    call="<i4",
    allocation="<i4",
    cut="<i8",
)
"""What autograd kept for backward: a row the first time a call saves an allocation."""

PHASES = _columns(
    kind="u1",  # PhaseKind
    step="<i4",
    start="<i8",
    end="<i8",
    start_ns="<i8",
    end_ns="<i8",
)
"""Back to back: they cover every cut of the recording, `other` filling the gaps."""

MARKS = _columns(cut="<i8", time_ns="<i8", label="<i4")
"""Moments the user named."""

SAMPLES = _columns(
    cut="<i8",
    time_ns="<i8",
    device="<i2",
    reserved="<i8",  # held by the caching allocator; -1: there is none
    process="<i8",  # the whole process on this device; -1: unknown
    used="<i8",  # the device, all processes; -1: unknown
)
"""What the allocator and the driver reported at phase boundaries."""

DEVICES = _columns(
    kind="<i4",  # string: `cpu`, `cuda`, …
    index="<i2",
    name="<i4",  # string: `NVIDIA H200`
    total="<i8",  # bytes of the device; -1: unknown
    context="<i8",  # CUDA context and libraries of this process; -1: unknown
)
"""The devices whose memory was watched."""

SEGMENTS = _columns(
    device="<i2",
    address="<u8",
    bytes="<i8",
    start="<i8",  # event that took it from the device; -1: before the recording
    end="<i8",  # event that gave it back; the number of events: still held at the end
    stream="<i8",
    pool="<i4",  # string: id of a private pool such as `0.1`; -1: the default pool
    small=ColumnSpec("u1"),  # 1: of the pool for blocks of up to 1 MiB
    expandable=ColumnSpec("u1"),  # 1: a mapped range of an expandable segment
    stack="<i4",
)
"""Memory the caching allocator took from the device: `cudaMalloc`ed, or mapped ranges. Held at cut
c: start < c <= end. Their sum at a cut is what is reserved. Empty where there is no such history."""

READINGS = _columns(
    cut="<i8",
    time_ns="<i8",
    device="<i2",
    kind="u1",  # ReadingKind
    label="<i4",  # string: the label of a mark
)
"""Moments at which the allocator's own statistics were read."""

STATISTICS = _columns(
    reading="<i4",
    name="<i4",  # string such as `allocated_bytes.all.peak`, as `torch.cuda.memory_stats` has it
    value="<i8",
)
"""What each reading said: a row a statistic, zeros left out."""

FRAMES = _columns(file="<i4", function="<i4", line="<i4")
"""Lines of source, each once."""

STACKS = _columns(frame="<i4", parent="<i4")
"""A trie: a stack is its innermost frame and the row of the stack that called it."""

TABLES: Mapping[str, Mapping[str, ColumnSpec]] = MappingProxyType(
    {
        "events": EVENTS,
        "allocations": ALLOCATIONS,
        "layers": LAYERS,
        "calls": CALLS,
        "saved": SAVED,
        "phases": PHASES,
        "marks": MARKS,
        "samples": SAMPLES,
        "devices": DEVICES,
        "segments": SEGMENTS,
        "readings": READINGS,
        "statistics": STATISTICS,
        "frames": FRAMES,
        "stacks": STACKS,
    }
)


class Table:
    """Read-only columns of one length: `table["bytes"]` is a NumPy array, `len(table)` its rows."""

    __slots__ = ("_columns", "_rows", "name")

    def __init__(self, name: str, columns: Mapping[str, Any]) -> None:
        """Take `columns` as they are or cast; a missing column gets its default.

        Raises ValueError when lengths differ or a column is not one of whole numbers.
        """
        specs = TABLES[name]
        arrays = {
            column: whole_numbers(values, f"{name}.{column}") for column, values in columns.items()
        }
        lengths = {len(values) for values in arrays.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of {name} differ in length: {sorted(lengths)}")
        self.name = name
        self._rows = lengths.pop() if lengths else 0
        self._columns = {
            column: _readonly(arrays.get(column), spec, self._rows)
            for column, spec in specs.items()
        }

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, column: str) -> Array:
        return self._columns[column]

    def __repr__(self) -> str:
        return f"<{self.name}: {self._rows} rows of {', '.join(self._columns)}>"

    @property
    def columns(self) -> Mapping[str, Array]:
        """Every column by name, in the order of the schema."""
        return MappingProxyType(self._columns)

    def row(self, index: int) -> dict[str, int]:
        """Return one row as plain integers, for messages and tests."""
        return {name: int(values[index]) for name, values in self._columns.items()}


def whole_numbers(values: Any, where: str) -> Array:
    """Return `values` as an array; ValueError unless it is a row of integers (or empty)."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{where} has {array.ndim} dimensions")
    if array.dtype.kind not in "iub" and len(array):
        raise ValueError(f"{where} is not of whole numbers")
    return array


def _readonly(values: Array | None, spec: ColumnSpec, rows: int) -> Array:
    dtype = np.dtype(spec.dtype)
    if values is None:
        default = spec.default if dtype.kind == "i" else 0
        array = np.full(rows, default, dtype=dtype)
    else:
        array = values.astype(dtype, copy=False)
        if array.flags.writeable:
            array = array.view()
    array.flags.writeable = False
    return array
