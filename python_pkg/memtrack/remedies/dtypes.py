"""What is of float32, of 16 bits under autocast, or a mask of bytes: told by layers and sizes."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import SCALE, Ground
from memtrack.remedies.recipe import Bound
from memtrack.remedies.scene import Scene

RECURRENT = ("LSTM", "GRU", "RNN")
"""Types of layers that cuDNN runs as a whole, all steps at once."""
LOW_TYPES = (
    "Linear",
    "Conv1",
    "Conv2",
    "Conv3",
    "ConvTranspose",
    "NonDynamically",
    "Bilinear",
    *RECURRENT,
    "MultiheadAttention",
)
"""Beginnings of the names of layers whose results are of 16 bits under autocast."""
_FULL_WORDS = ("LayerNorm", "RMSNorm", "GroupNorm", "Loss", "Softmax", "Embedding", "NewGELU")
"""In names of layers whose results are of 32 bits: autocast's list, and `pow` in NewGELU."""

_CASTING_NORMS = ("LayerNorm", "RMSNorm", "GroupNorm")
"""In names of norms that take float32 alone, and keep a copy of what is given to them."""


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


def keeps_its_size(scene: Scene) -> Array:
    """Return which blocks are of no floating type that a remedy would change: masks, indices, sums."""
    return is_byte_mask(scene) | is_index(scene) | is_partial_sum(scene)


def is_index(scene: Scene) -> Array:
    """Return which blocks are numbers of rows or places: what embeddings keep, and what pooling does of 8 bytes."""
    ground = scene.ground
    saved = scene.is_saved & ~scene.of_category(Category.PARAMETER)
    tables = np.array([*(one.startswith("Embedding") for one in ground.layer_type), False])
    found = saved & scene.kept_by(tables) & ~scene.kept_by(~tables)
    pools = np.array(["Pool" in one for one in ground.layer_type] + [False])[scene["layer"]]
    outputs = np.append(ground.data.calls["output_bytes"], -1)[scene["call"]]
    indices = pools & saved & (scene["call"] >= 0) & (scene["requested"] == 2 * outputs)
    return np.asarray(found | indices)


def is_partial_sum(scene: Scene) -> Array:
    """Return which blocks of backward are gone with the next event: sums of a bias's gradient, of float32.

    Blocks of threads leave them in memory for the last one to add (`Reduce.cuh`, `global_memory_size`).
    """
    kinds = np.array([*(one.startswith(LOW_TYPES) for one in scene.ground.layer_type), False])
    brief = scene["end"] - scene["start"] == SCALE
    temporary = scene.of_category(Category.TEMPORARY) & (scene.born_in == PhaseKind.BACKWARD)
    return np.asarray(brief & temporary & kinds[scene["layer"]])


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
    flow = np.where(_follows_full(scene, kind), int(Flow.FULL), flow)
    if bound is not Bound.LEAST:
        normed = _read_by_norms(scene)
        flow = np.where((flow == Flow.LOW) & normed, int(Flow.FULL), flow)
    of_step = scene.grows_with_batch & ~scene.of_category(Category.INPUT, Category.OTHER)
    # A gradient on its way to a weight is computed from 16-bit operands, and cast after that.
    return np.where(of_step, flow, int(Flow.SAME))


def _follows_full(scene: Scene, kind: Array) -> Array:
    """Return what dropout gives of an input of 32 bits: of the layer, norm or embedding, that ran before it."""
    calls, rows = scene.ground.data.calls, scene.ground.calls
    leaves = rows[scene.ground.is_leaf[calls["layer"][rows]]]
    leaves = leaves[np.argsort(calls["start"][leaves], kind="stable")]
    drops = np.array([*(one.startswith("Dropout") for one in scene.ground.layer_type), False])
    found = np.zeros(len(calls) + 1, dtype=bool)
    if len(leaves) > 1:
        full = kind[calls["layer"][leaves[:-1]]] == Flow.FULL
        found[leaves[1:]] = drops[calls["layer"][leaves[1:]]] & full
    return np.asarray(found[scene["call"]])


def _read_by_norms(scene: Scene) -> Array:
    """Return what norms keep of their inputs: in float32, whatever made these, as residual streams are too."""
    kinds = scene.ground.layer_type
    norms = np.array([*(any(w in one for w in _CASTING_NORMS) for one in kinds), False])
    return np.asarray(scene.kept_by(norms) & ~norms[scene["layer"]])


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
    # What a layer with others inside makes itself: products' sums, but for what norms read of it.
    outermost = ground.data.layers["parent"][row] < 0
    return int(Flow.FULL if outermost else Flow.LOW)
