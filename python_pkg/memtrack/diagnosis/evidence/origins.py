"""What was running when each block was made, from phases or, without them, from Python stacks.

Autograd runs CUDA's backward on threads of its own, which have no Python frames: blocks without a
stack are backward's where others have one. That is an inference, and told as such.
"""

from __future__ import annotations

import re

import numpy as np

from memtrack.recording import PhaseKind, RecordingData
from memtrack.recording.tables import Array

_OPTIMIZER = re.compile(r"/torch/optim/|/(bitsandbytes|apex|deepspeed)/.*optim")
_BACKWARD = re.compile(r"/torch/(_tensor|autograd/)")
_RECOMPUTED = re.compile(r"/torch/utils/checkpoint\.py$")
_RECOMPUTE = re.compile(r"backward|recompute|unpack")
_MODULE = re.compile(r"/torch/nn/modules/module\.py$")
_MANY = 0.5
"""With stacks on at least this share of the blocks, one without is of another kind of thread."""
_RANK = (PhaseKind.OTHER, PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER)


def kinds_of_allocations(data: RecordingData) -> Array:
    """Return the code of a `PhaseKind` for each allocation."""
    phase, stack = data.allocations["phase"], data.allocations["stack"]
    by_phase = np.append(data.phases["kind"], PhaseKind.OTHER)[phase]
    if knows_phases(data):
        return np.asarray(by_phase)
    by_stack = np.append(kinds_of_stacks(data), without_stack(data))[stack]
    # A snapshot may tell of the optimizer's steps, and of no other phase.
    return np.where(by_phase == PhaseKind.OPTIMIZER, by_phase, by_stack)


def knows_phases(data: RecordingData) -> bool:
    """Tell whether forward and backward were seen as such."""
    kinds = (PhaseKind.FORWARD, PhaseKind.BACKWARD)
    return bool(np.isin(data.phases["kind"], kinds).any())


def without_stack(data: RecordingData) -> PhaseKind:
    """Return what a block without a stack belongs to."""
    stack = data.allocations["stack"]
    started = stack[data.allocations["start"] >= 0]
    has = float((started >= 0).mean()) if len(started) else 0.0
    return PhaseKind.BACKWARD if has >= _MANY else PhaseKind.OTHER


def kinds_of_stacks(data: RecordingData) -> Array:
    """Return the code of a `PhaseKind` for each stack, by the frames it is made of."""
    rank = _ranks_of_frames(data)[data.stacks["frame"]]
    # A stack stands after the one that called it.
    parent = data.stacks["parent"].tolist()
    ranks = rank.tolist()
    for row, caller in enumerate(parent):
        if caller >= 0 and ranks[caller] > ranks[row]:
            ranks[row] = ranks[caller]
    codes = np.array([int(kind) for kind in _RANK], dtype=np.uint8)
    return codes[np.array(ranks, dtype=np.int64)]


def _ranks_of_frames(data: RecordingData) -> Array:
    """Return for each frame an index into `_RANK`."""
    files, functions = data.frames["file"].tolist(), data.frames["function"].tolist()
    ranks = [
        _rank(data.string(file).replace("\\", "/"), data.string(function))
        for file, function in zip(files, functions, strict=True)
    ]
    return np.array(ranks, dtype=np.int64)


def _rank(file: str, function: str) -> int:
    if _OPTIMIZER.search(file) and function != "zero_grad":
        return 3
    if _BACKWARD.search(file) and "backward" in function:
        return 2
    if _RECOMPUTED.search(file) and _RECOMPUTE.search(function):
        return 2
    if _MODULE.search(file) and "call_impl" in function:
        return 1
    return 0
