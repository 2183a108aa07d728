"""What lies around the tensors of a device at one moment, from what allocator and driver told.

Samples are few; between two of them what the process holds beside its allocator and what others
hold is taken to be as at the last. Figures that contradict each other are not measured any more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtrack.analysis.reserved import latest_sample, reserved
from memtrack.recording import RecordingData
from memtrack.recording.tables import Array


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Bytes beside the tensors, none negative. With the tensors they sum to `total` if that is known.

    `cache` is what the allocator holds free, `beside` what this process holds beside its allocator,
    `others` what else is in use: with `knows_process` other processes, else `beside` is in it. `fits`
    is False where more is held than the device has. A figure is measured if it was read at this
    very cut and contradicts no other.
    """

    total: int
    has_allocator: bool
    knows_process: bool
    fits: bool
    cache: int
    beside: int
    beside_measured: bool
    others: int
    others_measured: bool
    free: int
    free_measured: bool


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample seen from a cut: what was read (-1: not told) and what the allocator held there."""

    process: int
    used: int
    held: int
    cut: int
    is_here: bool
    """Whether it was taken at this cut and the allocator's own figure agrees."""


@dataclass(frozen=True, slots=True)
class _Bytes:
    size: int
    measured: bool = False


def surroundings(data: RecordingData, device: int, cut: int, levels: Array) -> Surroundings:
    """Return what lies around the tensors; `levels` are the bytes in use at every cut."""
    rows = [latest_sample(data, device, column, cut) for column in ("process", "used")]
    cuts = np.array([cut, *(data.samples["cut"][row] if row >= 0 else cut for row in rows)])
    told = reserved(data, device, cuts, levels)
    held = levels[cuts] if told is None else np.maximum(told, levels[cuts])
    process, used = (
        _sample(data, row, cut, int(size)) for row, size in zip(rows, held[1:], strict=True)
    )
    total = int(data.devices["total"][device])
    beside = _beside(process, int(data.devices["context"][device]))
    knows_process = beside is not None or data.string(data.devices["kind"][device]) == "cpu"
    beside = beside or _Bytes(0)
    is_nearer = process is not None and used is not None and _is_nearer(process, used, cut)
    beside, others = _with_others(used, beside, beside.size if is_nearer else 0)
    room = total - int(held[0])
    # Since the sample the allocator grew into what others, or else we ourselves, have given back.
    beside = _at_most(beside, room)
    others = _at_most(others, room - beside.size)
    free = max(room - beside.size - others.size, 0)
    return Surroundings(
        total=total,
        has_allocator=told is not None,
        knows_process=knows_process,
        fits=total < 0 or room >= 0,
        cache=int(held[0] - levels[cut]),
        beside=beside.size,
        beside_measured=beside.measured,
        others=others.size,
        others_measured=others.measured,
        free=free,
        free_measured=used is not None and used.is_here and total - free == used.used,
    )


def _sample(data: RecordingData, row: int, cut: int, held: int) -> _Sample | None:
    if row < 0:
        return None
    samples = data.samples
    agrees = samples["reserved"][row] in (-1, held)
    return _Sample(
        process=int(samples["process"][row]),
        used=int(samples["used"][row]),
        held=held,
        cut=int(samples["cut"][row]),
        is_here=bool(samples["cut"][row] == cut and agrees),
    )


def _beside(sample: _Sample | None, context: int) -> _Bytes | None:
    """Return what the process holds beside its allocator, None where nothing tells."""
    if sample is None:
        return None if context < 0 else _Bytes(context)
    rest = sample.process - sample.held
    return _Bytes(max(rest, 0), sample.is_here and rest >= 0)


def _is_nearer(process: _Sample, used: _Sample, cut: int) -> bool:
    """Tell whether the process was told at the cut, or later before it than what is in use was."""
    return used.cut < process.cut <= cut or process.cut == cut != used.cut


def _with_others(sample: _Sample | None, beside: _Bytes, least: int) -> tuple[_Bytes, _Bytes]:
    """Return what the process holds beside its allocator, and what is in use besides, by a sample.

    The former is `beside`, or down to `least` where the sample tells of less in use.
    """
    if sample is None:
        return beside, _Bytes(0)
    if sample.process >= 0:
        rest = sample.used - max(sample.process, sample.held)
        agree = sample.used >= sample.process >= sample.held
        return beside, _Bytes(max(rest, 0), sample.is_here and agree)
    rest = sample.used - sample.held - beside.size
    if rest >= 0:
        return beside, _Bytes(rest)
    left = max(beside.size + rest, least)
    return _Bytes(left, beside.measured and left == beside.size), _Bytes(0)


def _at_most(known: _Bytes, room: int) -> _Bytes:
    return known if known.size <= room else _Bytes(max(room, 0))
