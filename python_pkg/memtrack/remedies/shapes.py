"""Tensors that grow faster than the batch: attention's matrix of length × length, and logits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category
from memtrack.recording.tables import Array
from memtrack.remedies.base import Ground, after_cut
from memtrack.remedies.recipe import Bound, Cost, Recipe, of_training
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NO_LAYERS, entry

_MOST_HEADS = 256
_LEAST_VOCABULARY = 4096
_CHUNK = 1024
"""Positions of a chunk, as in the advice's code."""
_LEAST_SHARE = 0.02


def shape_of(written: str) -> list[tuple[int, ...]]:
    """Return the shapes in what a call's output is written as: `8×512×768, 8`."""
    shapes = []
    for part in written.split(", "):
        sizes = part.split("×")
        if all(size.isdigit() for size in sizes):
            shapes.append(tuple(int(size) for size in sizes))
    return shapes


def attention_layers(ground: Ground) -> Array:
    """Return which layers are attention by their names, False for none."""
    return np.array([*("Attention" in one or "Attn" in one for one in ground.layer_type), False])


def attention_calls(scene: Scene) -> Iterator[tuple[int, int, int, int]]:
    """Go through calls of attention: the call, and batch, length and width of its output."""
    ground, calls = scene.ground, scene.ground.data.calls
    mine = attention_layers(ground)
    for call in ground.calls.tolist():
        layer = int(calls["layer"][call])
        if not mine[layer]:
            continue
        shapes = shape_of(ground.data.string(int(calls["output_shape"][call])))
        if shapes and len(shapes[0]) == 3:
            yield (call, *shapes[0])


def quadratic(scene: Scene) -> Array:
    """Return which blocks are attention matrices: batch × heads × length × length, of 1 to 4 bytes."""
    found = np.zeros(len(scene), dtype=bool)
    layers = scene.ground.data.layers
    known: dict[int, set[int]] = {}
    streams, kept = _streams(scene), _kept_sizes(scene)
    for call, batch, length, width in attention_calls(scene):
        matrix = batch * length * length
        output = batch * length * width
        sizes = {
            size
            for size in kept.get(call, ())
            if size % matrix == 0
            and 1 <= size // (4 * matrix) <= _MOST_HEADS
            and width % (size // (4 * matrix)) == 0
            and size > 4 * output  # below that lie queries, and biases that all of a batch share
            and size not in streams  # keys and values of a longer encoder
        }
        layer = int(scene.ground.data.calls["layer"][call])
        masks = {size // 4 for size in sizes} - {4 * output}
        known.setdefault(layer, set()).update(sizes | masks)
    for layer, sizes in known.items():
        inside = (scene["layer"] >= layer) & (
            scene["layer"] < layer + int(layers["subtree"][layer])
        )
        found |= inside & np.isin(scene["requested"], list(sizes))
    return found & scene.grows_with_batch


def _streams(scene: Scene) -> set[int]:
    """Return the float32 bytes of what layers give that is batch × length × width: keys have these too."""
    calls = scene.ground.data.calls
    written = np.unique(calls["output_shape"][scene.ground.calls]).tolist()
    shapes = [one for name in written for one in shape_of(scene.ground.data.string(name))]
    return {4 * math.prod(one) for one in shapes if len(one) == len("bsw")}


def _kept_sizes(scene: Scene) -> dict[int, set[int]]:
    """Return the sizes, as recorded, of what each call made and autograd keeps."""
    mine = (scene["call"] >= 0) & (scene["row"] >= 0) & scene.is_saved
    sizes = scene.ground.data.allocations["requested"][scene["row"][mine]]
    found: dict[int, set[int]] = {}
    for call, size in zip(scene["call"][mine].tolist(), sizes.tolist(), strict=True):
        found.setdefault(call, set()).add(size)
    return found


@of_training
def refuse_fused_attention(scene: Scene) -> Text | None:
    """Tell why it does not apply: no matrix of length × length is kept."""
    if not len(scene.ground.calls):
        return NO_LAYERS
    if quadratic(scene).any():
        return None
    return text("No attention matrix (length × length) was seen: the fused kernels are in use")


def fused_attention(scene: Scene, bound: Bound) -> Scene:
    """Leave the matrices away; a number for each row of them is kept in their place."""
    del bound
    matrices = quadratic(scene)
    length = _lengths(scene)
    return scene.resized(matrices, 1 / np.maximum(length, 1))


def _lengths(scene: Scene) -> Array:
    length = np.ones(len(scene), dtype=np.int64)
    layers = scene.ground.data.layers
    for call, _, of_call, _ in attention_calls(scene):
        layer = int(scene.ground.data.calls["layer"][call])
        inside = (scene["layer"] >= layer) & (
            scene["layer"] < layer + int(layers["subtree"][layer])
        )
        length[inside] = of_call
    return length


def logits_like(scene: Scene) -> tuple[Array, int]:
    """Return which blocks are as large as the logits, and how many positions these have."""
    ground, calls = scene.ground, scene.ground.data.calls
    found, most = np.zeros(len(scene), dtype=bool), 0
    for call in ground.calls.tolist():
        layer = int(calls["layer"][call])
        if not ground.is_leaf[layer] or ground.block_of[layer] >= 0:
            continue
        for shape in shape_of(ground.data.string(int(calls["output_shape"][call]))):
            positions = math.prod(shape[:-1])
            if shape[-1] >= _LEAST_VOCABULARY and positions > 1:
                found |= _as_large(scene, positions, shape[-1])
                most = max(most, positions)
    return found, most


def _as_large(scene: Scene, positions: int, width: int) -> Array:
    """Return blocks of that many numbers of 2 or 4 bytes; losses that shift leave one position of each away."""
    size = scene["requested"]
    outside = scene.ground.block_of[scene["layer"]] < 0
    found = np.zeros(len(scene), dtype=bool)
    for number in (2, 4):
        whole = positions * width * number
        found |= (size <= whole) & (size > 0.97 * whole) & (size % (width * number) == 0)
    return found & outside & scene.grows_with_batch


@of_training
def refuse_chunks(scene: Scene) -> Text | None:
    """Tell why it does not apply: no logits, or too few."""
    if not len(scene.ground.calls):
        return NO_LAYERS
    mine, positions = logits_like(scene)
    if not mine.any():
        return text("No output of a vocabulary's width was seen")
    if (
        positions <= _CHUNK
        or int(scene["bytes"][mine & scene.at_peak].sum()) < _LEAST_SHARE * scene.peak
    ):
        return text("The logits are a small part of the peak")
    return None


def chunked(scene: Scene, bound: Bound) -> Scene:
    """Let only a chunk of the logits, of the loss and of their gradients be there at a time.

    The last layer's gradient is then added up chunk by chunk, which takes a second one; none in LEAST.
    """
    mine, positions = logits_like(scene)
    share = min(1.0, _CHUNK / max(positions, 1))
    rows = np.flatnonzero(mine & scene.of_category(Category.OUTPUT))
    layers = set(scene["layer"][rows].tolist())
    changed = scene.resized(mine, share)
    if bound is Bound.LEAST:
        return changed
    weights = [
        (call, int(scene["requested"][_weights_like(scene, call)].max(initial=0)))
        for call in scene.ground.calls.tolist()
        if int(scene.ground.data.calls["layer"][call]) in layers
        and scene.ground.data.calls["backward_start"][call] >= 0
    ]
    some = [(call, size) for call, size in weights if size]
    calls = np.array([call for call, _ in some], dtype=np.int64)
    begin = after_cut(scene.ground.data.calls["backward_start"][calls])
    over = after_cut(np.maximum(scene.ground.data.calls["backward_end"][calls], 0))
    return changed.adding(start=begin, end=over, requested=[size for _, size in some])


def _weights_like(scene: Scene, call: int) -> Array:
    """Return what backward makes of a parameter's size for the layer of a call."""
    layer = int(scene.ground.data.calls["layer"][call])
    gradients = scene.is_weight_shaped | scene.of_category(Category.GRADIENT)
    return np.asarray(gradients & (scene["layer"] == layer))


FUSED_ATTENTION = Recipe(
    entry("fused_attention"), Cost.NONE, 30, refuse_fused_attention, fused_attention
)
CHUNKED_LOGITS = Recipe(entry("logits_in_chunks"), Cost.LOW, 48, refuse_chunks, chunked)
