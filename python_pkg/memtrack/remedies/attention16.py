"""Attention in 16 bits: which kernel computes it then, and what of it stays of float32.

torch's own attention has three ways (`aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`, torch 2.4
to 2.12): the fused kernels take grouped heads in 16 bits only; a mask that wants gradients they never
take. What is left is written out, and that works in float32 whatever it is given
(`_scaled_dot_product_attention_math`, `attention.cpp`).
"""

from __future__ import annotations

import numpy as np

from memtrack.recording import Category
from memtrack.recording.tables import Array
from memtrack.remedies.base import Ground
from memtrack.remedies.dtypes import LOW_TYPES
from memtrack.remedies.recipe import Bound
from memtrack.remedies.scene import Scene
from memtrack.remedies.shapes import attention_layers, fused_attention, quadratic

_GROUPED = 0.75
"""Keys' share of the weights of queries below which heads are grouped."""


def in_16_bits(scene: Scene, bound: Bound) -> Scene:
    """Return the scene with the kernel that attention has in 16 bits, sizes still of float32.

    Only where heads are grouped do the fused kernels come in: keys and values are then no longer
    repeated for each head. In MOST they never do, in LEAST always.
    """
    matrices = quadratic(scene)
    if bound is Bound.MOST or not matrices.any():
        return scene
    fused = grouped(scene, matrices) if _is_of_torch(scene, matrices) else {}
    if not fused and bound is not Bound.LEAST:
        return scene
    return _unrepeated(fused_attention(scene, bound), fused, matrices)


def stays_full(scene: Scene, bound: Bound) -> Array:
    """Return what attention makes of float32 whatever it is given.

    Of attention that a model writes out this is softmax's result; of torch's own all but its output.
    """
    matrices = quadratic(scene)
    if bound is Bound.LEAST or not matrices.any():
        return np.zeros(len(scene), dtype=bool)
    if not _is_of_torch(scene, matrices):
        return softmax_results(scene)
    known = attention_layers(scene.ground)
    layers = np.unique(scene["layer"][matrices & known[scene["layer"]]])
    mine = np.isin(scene["layer"], layers) & scene.grows_with_batch
    mine[_last_of_calls(scene, mine & scene.is_saved)] = False
    return mine


def softmax_results(scene: Scene) -> Array:
    """Return the first attention matrix that each call keeps: softmax's own, which is of float32.

    Models that write attention out compute softmax in float32 whatever the rest is of.
    """
    rows = np.flatnonzero(quadratic(scene) & scene.is_saved & (scene["call"] >= 0))
    rows = rows[np.argsort(scene["start"][rows], kind="stable")]
    rows = rows[attention_layers(scene.ground)[scene["layer"][rows]]]
    _, first = np.unique(scene["call"][rows], return_index=True)
    found = np.zeros(len(scene), dtype=bool)
    found[rows[first]] = True
    return found


def with_cast_results(scene: Scene, bound: Bound) -> Scene:
    """Add the 16-bit copy of softmax's result that the next product keeps, where no dropout makes one of its own."""
    matrices = quadratic(scene)
    if bound is Bound.LEAST or not matrices.any() or _is_of_torch(scene, matrices):
        return scene
    kept = matrices & scene.is_saved & (scene["call"] >= 0)
    calls, counts = np.unique(scene["call"][kept], return_counts=True)
    alone = np.isin(scene["call"], calls[counts == 1])
    rows = np.flatnonzero(softmax_results(scene) & alone)
    return scene.adding(
        start=scene["start"][rows] + 1,
        end=scene["end"][rows],
        requested=scene["requested"][rows] // 2,
        category=int(Category.ACTIVATION),
        layer=scene["layer"][rows],
        call=scene["call"][rows],
    )


def grouped(scene: Scene, matrices: Array) -> dict[int, float]:
    """Return the layers with matrices whose heads share keys: these' share of what queries take."""
    shares = {}
    for layer in np.unique(scene["layer"][matrices]).tolist():
        share = keys_share(scene.ground, layer)
        if share < _GROUPED:
            shares[layer] = share
    return shares


def keys_share(ground: Ground, layer: int) -> float:
    """Return the weights of keys (the smallest of an attention's products) as a share of the largest's."""
    inside = np.flatnonzero(ground.data.layers["parent"] == layer).tolist()
    sizes = [size for size in (_product_of(ground, row) for row in inside) if size]
    return min(sizes) / max(sizes) if len(sizes) > 2 else 1.0


def _product_of(ground: Ground, layer: int) -> int:
    """Return the parameters of the largest product in a layer: of one with adapters beside it, its own."""
    layers = ground.data.layers
    inside = range(layer, layer + int(layers["subtree"][layer]))
    products = [
        row
        for row in inside
        if ground.is_leaf[row] and ground.layer_type[row].startswith(LOW_TYPES)
    ]
    return max((int(layers["parameters"][row]) for row in products), default=0)


def _is_of_torch(scene: Scene, matrices: Array) -> bool:
    """Tell whether torch's own attention made the matrices: by the name of the function, else by what it does."""
    return _is_named_for_torch(scene, matrices) or _scales_both(scene, matrices)


def _scales_both(scene: Scene, matrices: Array) -> bool:
    """Tell whether queries and keys are both scaled just before a call's first matrix, as torch's own does.

    Its product takes copies of the scaled ones, which it keeps for backward; these are there until then.
    Models that write attention out scale the matrix, or queries alone.
    """
    rows = np.flatnonzero(matrices & (scene["call"] >= 0))
    rows = rows[np.argsort(scene["start"][rows], kind="stable")]
    _, first = np.unique(scene["call"][rows], return_index=True)
    for place in rows[first].tolist():
        begin = scene["start"][place]
        of_call = np.flatnonzero((scene["call"] == scene["call"][place]) & (scene["start"] < begin))
        latest = of_call[np.argsort(-scene["start"][of_call], kind="stable")][:4]
        copies, scaled = latest[:2], latest[2:]
        sizes = [sorted(scene["requested"][some].tolist()) for some in (copies, scaled)]
        kept, gone = (
            scene.is_saved[copies],
            ~scene.is_saved[scaled] & (scene["end"][scaled] > begin),
        )
        if len(latest) == 4 and sizes[0] == sizes[1] and kept.all() and gone.all():
            return True
    return False


def _is_named_for_torch(scene: Scene, matrices: Array) -> bool:
    data = scene.ground.data
    rows = scene["row"][matrices & scene.is_saved & (scene["row"] >= 0)]
    stacks = np.unique(data.allocations["stack"][rows]).tolist()
    return any(
        "sdpa" in function for stack in stacks for _, function, _ in data.stack_frames(int(stack))
    )


def _unrepeated(scene: Scene, shares: dict[int, float], matrices: Array) -> Scene:
    """Leave of keys and values what their own heads take: the second and third that a call keeps."""
    share = np.array([*(shares.get(row, 1.0) for row in range(len(scene.ground.layer_type))), 1.0])
    mine = scene.is_saved & ~matrices & (share[scene["layer"]] < 1) & (scene["call"] >= 0)
    rows = np.flatnonzero(mine)
    rows = rows[np.lexsort((scene["start"][rows], scene["call"][rows]))]
    of_call: dict[int, list[int]] = {}
    for row in rows.tolist():
        of_call.setdefault(int(scene["call"][row]), []).append(row)
    chosen = np.zeros(len(scene), dtype=bool)
    for kept in of_call.values():
        alike = [row for row in kept if scene["requested"][row] == scene["requested"][kept[-1]]]
        if len(alike) >= len(("queries", "keys", "values", "output")):
            chosen[alike[1:3]] = True
    return scene.resized(chosen, share[scene["layer"]])


def _last_of_calls(scene: Scene, chosen: Array) -> Array:
    """Return the rows of the chosen blocks that each call made last."""
    rows = np.flatnonzero(chosen & (scene["call"] >= 0))
    rows = rows[np.argsort(-scene["start"][rows], kind="stable")]
    _, last = np.unique(scene["call"][rows], return_index=True)
    return rows[last]
