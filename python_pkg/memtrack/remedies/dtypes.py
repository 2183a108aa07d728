"""What is of float32, of 16 bits under autocast, or a mask of bytes: told by layers and sizes."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import Ground
from memtrack.remedies.recipe import Bound
from memtrack.remedies.scene import Scene

LOW_TYPES = (
    "Linear",
    "Conv",
    "NonDynamically",
    "Bilinear",
    "LSTM",
    "GRU",
    "RNN",
    "MultiheadAttention",
)
"""Beginnings of the names of layers whose results are of 16 bits under autocast."""
_FULL_WORDS = ("LayerNorm", "RMSNorm", "GroupNorm", "Loss", "Softmax", "Embedding", "NewGELU")
"""In names of layers whose results are of 32 bits: autocast's list, and `pow` in NewGELU."""


class Flow(IntEnum):
    """What autocast makes of a block."""

    SAME = 0
    """It is none of autocast's: a parameter, its gradient, a batch of indices."""
    LOW = 1
    FULL = 2


def is_float32(ground: Ground) -> bool:
    """Tell whether most parameters are of float32, by their bytes and numbers of elements."""
    layers = ground.data.layers
    elements, size = int(layers["parameters"].sum()), int(layers["parameter_bytes"].sum())
    return elements > 0 and 3.5 * elements <= size <= 4.5 * elements


def is_byte_mask(scene: Scene) -> Array:
    """Return which blocks have a byte where another of the same call has four: masks of dropout."""
    call, size = scene["call"], scene["requested"]
    mine = (call >= 0) & (scene.born_in == PhaseKind.FORWARD)
    key = call * (1 << 42) + size
    fourfold = call * (1 << 42) + size * 4
    return np.asarray(mine & (size >= 1024) & np.isin(fourfold, key[mine]) & _makes_masks(scene))


def _makes_masks(scene: Scene) -> Array:
    kinds = scene.ground.layer_type
    known = np.array(
        [any(w in name for w in ("Dropout", "ReLU", "Pool")) for name in kinds] + [False]
    )
    return known[scene["layer"]]


def flows_of(scene: Scene, bound: Bound) -> Array:
    """Return the Flow of each block under autocast; `bound` decides what layers leave open."""
    kind = np.array(
        [*(_layer_flow(scene.ground, row, bound) for row in _rows(scene)), _root(bound)]
    )
    flow = kind[scene["layer"]]
    of_step = scene.grows_with_batch & ~scene.of_category(Category.INPUT, Category.OTHER)
    # A gradient on its way to a weight is computed from 16-bit operands, and cast after that.
    return np.where(of_step, flow, int(Flow.SAME))


def _rows(scene: Scene) -> range:
    return range(len(scene.ground.data.layers))


def _root(bound: Bound) -> int:
    return int(Flow.LOW if bound is Bound.LEAST else Flow.FULL)


def _layer_flow(ground: Ground, row: int, bound: Bound) -> int:
    name = ground.layer_type[row]
    if name.startswith(LOW_TYPES):
        return int(Flow.LOW)
    if any(word in name for word in _FULL_WORDS):
        return int(Flow.FULL)
    if ground.is_leaf[row]:
        return int(Flow.FULL if bound is Bound.MOST else Flow.LOW)
    return int(_container_flow(ground, row, bound))


def _container_flow(ground: Ground, row: int, bound: Bound) -> Flow:
    """Return that of what a layer with others inside makes itself: a residual stream is of 32 bits."""
    layers = ground.data.layers
    inside = np.flatnonzero(layers["parent"] == row)
    normed = any(
        "Norm" in ground.layer_type[one] and "Batch" not in ground.layer_type[one] for one in inside
    )
    outermost = layers["parent"][row] < 0
    if normed or outermost:
        return Flow.LOW if bound is Bound.LEAST and not outermost else Flow.FULL
    return Flow.LOW
