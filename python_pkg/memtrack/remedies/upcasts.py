"""What 16-bit programs compute in float32 on purpose: norms that are written out, and losses."""

from __future__ import annotations

import numpy as np

from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import LASTING, Ground
from memtrack.remedies.recipe import Bound
from memtrack.remedies.scene import Scene
from memtrack.remedies.shapes import logits_like

_OF_TORCH = (
    "LayerNorm",
    "RMSNorm",
    "GroupNorm",
    "BatchNorm",
    "SyncBatchNorm",
    "InstanceNorm",
    "LocalResponseNorm",
)
"""Beginnings of the names of torch's own norms: kernels that need no copy in float32."""
_UPCASTING = ("ForCausalLM", "LMHeadModel", "LMHead")
"""Ends of the names of models whose loss upcasts the logits (transformers, `loss/loss_utils.py`)."""
_TWO_COPIES = "T5LayerNorm"
"""Multiplies the 16-bit input, having squared its float32 copy: both are kept (transformers, `modeling_t5.py`)."""


def written_norms(scene: Scene) -> Array:
    """Return which layers are norms written out in Python, False for none.

    They keep what they have normalized beside what they return.
    """
    ground = scene.ground
    named = np.array(
        [*("Norm" in one and not one.startswith(_OF_TORCH) for one in ground.layer_type), False]
    )
    named[:-1] &= ground.is_leaf
    mine = np.flatnonzero(named[scene["layer"]] & scene.is_saved & (scene["call"] >= 0))
    wanted = np.append(ground.data.calls["output_bytes"], -1)[scene["call"][mine]]
    whole = mine[scene["requested"][mine] == wanted]
    counts = np.bincount(scene["call"][whole], minlength=1)
    several = np.unique(scene["layer"][whole[counts[scene["call"][whole]] > 1]])
    found = np.zeros(len(named), dtype=bool)
    found[several] = True
    return found


def norm_inputs(scene: Scene) -> tuple[Array, Array]:
    """Return what written norms keep of their inputs; and of it what they keep in 16 bits as well."""
    ground = scene.ground
    written = written_norms(scene)
    twice = np.array([*(one.endswith(_TWO_COPIES) for one in ground.layer_type), False])
    inputs = scene.kept_by(written) & ~written[scene["layer"]] & scene.grows_with_batch
    return inputs, inputs & scene.kept_by(twice)


def upcasts_logits(ground: Ground, bound: Bound) -> bool:
    """Tell whether the loss works on a float32 copy of the logits: models for generation do."""
    if bound is not Bound.LIKELY:
        return bound is Bound.MOST
    outermost = np.flatnonzero(ground.data.layers["parent"] < 0).tolist()
    return any(ground.layer_type[row].endswith(_UPCASTING) for row in outermost)


def of_loss(scene: Scene) -> Array:
    """Return what losses make: of the outermost layers, of layers named for it, and outside of all."""
    ground = scene.ground
    outermost = np.append(ground.data.layers["parent"] < 0, True)
    named = np.array([*("Loss" in one for one in ground.layer_type), True])
    outside = (ground.block_of[scene["layer"]] < 0) & ~scene.of_category(Category.OUTPUT)
    mine = outermost[scene["layer"]] | named[scene["layer"]]
    return np.asarray(mine & outside & scene.grows_with_batch)


def with_loss_of_16_bits(scene: Scene) -> Scene:
    """Have cross entropy under autocast as it is without an upcast in the program.

    log_softmax gives 16 bits there, since cross entropy names its dtype; nll_loss then casts that to
    float32 and gives a gradient of float32, of which what follows is of 16 bits (`autocast_mode.h`,
    `LossNLL.cpp`: `cross_entropy_loss`).
    """
    mine = logits_like(scene)[0] & of_loss(scene)
    kept = np.flatnonzero(mine & scene.is_saved & (scene.born_in == PhaseKind.FORWARD))
    if not len(kept):
        return scene
    gradients = mine & (scene.born_in == PhaseKind.BACKWARD)
    first, second = _first_and_second(scene, gradients, scene["end"][kept])
    low = np.zeros(len(scene), dtype=bool)
    low[kept] = True
    changed = scene.resized(low | (gradients & ~np.isin(scene["start"], first)), 0.5)
    until = np.where(second < LASTING, second, scene["end"][kept])
    return changed.adding(
        start=scene["start"][kept] + 1,
        end=np.minimum(until, scene["end"][kept]),
        requested=scene["requested"][kept],
        category=int(Category.ACTIVATION),
        layer=scene["layer"][kept],
        call=scene["call"][kept],
    )


def _first_and_second(scene: Scene, chosen: Array, before: Array) -> tuple[Array, Array]:
    """Return where the first and the second of the chosen blocks begin in the phase that ends some lives."""
    ground = scene.ground
    starts = np.sort(scene["start"][chosen])
    phase = np.searchsorted(ground.phase_start, starts, side="right")
    found = np.searchsorted(ground.phase_start, np.minimum(before, LASTING - 1), side="right")
    first, second = np.full(len(before), LASTING), np.full(len(before), LASTING)
    for place, one in enumerate(found.tolist()):
        inside = starts[phase == one]
        first[place] = inside[0] if len(inside) else LASTING
        second[place] = inside[1] if len(inside) > 1 else LASTING
    return first, second
