"""Optimizers with less state or fewer temporaries, and training fewer parameters."""

from __future__ import annotations

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import OLDER, before_cut
from memtrack.remedies.recipe import Bound, Cost, Recipe
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NO_PHASES, NO_STATE, entry, measured

_LARGE = 1 << 20
_EIGHT_BIT_LEAST = 4096
"""Elements: smaller tensors stay in 32 bits (bitsandbytes, `min_8bit_size`)."""
_EIGHT_BIT_BLOCK = 256
"""Elements that share a scale of 4 bytes (bitsandbytes 0.44 and later, `blocksize`)."""
_SECOND = ("exp_avg_sq", "max_exp_avg_sq")
_OF_KERNELS = {Bound.LEAST: 2 / 3, Bound.LIKELY: 4 / 3, Bound.MOST: 2.0}
"""What Adafactor keeps for convolutions, of their elements: of 3 × 3 two thirds, of 1 × 1 twice as many."""
RANK = 16
"""Of the adapters that are simulated."""


def _in_optimizer(scene: Scene) -> Array:
    return np.asarray(
        scene.of_category(Category.TEMPORARY) & (scene.born_in == PhaseKind.OPTIMIZER)
    )


def _largest_parameter(scene: Scene) -> int:
    return int(scene["requested"][scene.of_category(Category.PARAMETER)].max(initial=0))


def refuse_fused(scene: Scene) -> Text | None:
    """Tell why it does not apply: no temporaries of the optimizer were seen."""
    if not scene.ground.has_phases:
        return NO_PHASES
    size = int(scene["bytes"][_in_optimizer(scene)].max(initial=0))
    return None if size else text("The optimizer makes no temporaries")


def fused(scene: Scene, bound: Bound) -> Scene:
    """Run the optimizer as one kernel: no temporaries."""
    del bound
    return scene.only(~_in_optimizer(scene))


def looped(scene: Scene, bound: Bound) -> Scene:
    """Run the optimizer a parameter at a time: the temporaries of the largest, two of them."""
    del bound
    ground = scene.ground
    starts = ground.phase_start[ground.phase_kind == PhaseKind.OPTIMIZER]
    ends = ground.phase_end[ground.phase_kind == PhaseKind.OPTIMIZER]
    largest = _largest_parameter(scene)
    now = _in_optimizer(scene)
    if int(scene["bytes"][now].max(initial=0)) <= largest and not _is_foreach(scene, now):
        return scene
    bare = scene.only(~now)
    for _ in range(2):
        bare = bare.adding(start=starts, end=ends, requested=np.full(len(starts), largest))
    return bare


def _is_foreach(scene: Scene, temporaries: Array) -> bool:
    """Whether many temporaries are there at once, as of the foreach variants."""
    peak = 0
    alone = scene.only(temporaries)
    if len(alone):
        peak = alone.peak
    return peak > 3 * _largest_parameter(scene)


def refuse_states(scene: Scene) -> Text | None:
    """Tell why another optimizer would not help: there is no state at the peak."""
    if not scene.of_category(Category.OPTIMIZER_STATE).any():
        return NO_STATE
    return None


def refuse_less_than_adam(scene: Scene) -> Text | None:
    """Tell why it does not apply: the optimizer keeps one state a parameter or less."""
    refused = refuse_states(scene)
    if refused is not None:
        return refused
    if _per_parameter(scene) > 1.2:
        return None
    return text("The optimizer keeps one number a parameter or less already")


def _per_parameter(scene: Scene) -> float:
    """Return the optimizer's state as a multiple of the parameters' bytes."""
    alive = scene.at_peak
    state = int(scene["bytes"][scene.of_category(Category.OPTIMIZER_STATE) & alive].sum())
    return state / max(int(scene["bytes"][scene.of_category(Category.PARAMETER)].sum()), 1)


def _second_moments(scene: Scene) -> Array:
    """Return which states are second moments, told by their names; else every second of a layer and size."""
    states = scene.of_category(Category.OPTIMIZER_STATE)
    named = _named(scene, _SECOND)
    if (named & states).any():
        return named & states
    found = np.zeros(len(scene), dtype=bool)
    seen: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero(states).tolist():
        key = (int(scene["layer"][row]), int(scene["bytes"][row]))
        seen[key] = seen.get(key, 0) + 1
        found[row] = seen[key] % 2 == 0
    return found


def _named(scene: Scene, beginnings: tuple[str, ...]) -> Array:
    data = scene.ground.data
    known = np.array([*(one.startswith(beginnings) for one in data.strings), False], dtype=bool)
    names = np.append(data.allocations["name"], -1)[scene["row"]]
    return np.asarray(known[names])


def sgd(scene: Scene, bound: Bound) -> Scene:
    """Keep one state a parameter, and no temporaries."""
    del bound
    return scene.only(~(_second_moments(scene) | _in_optimizer(scene)))


def adafactor(scene: Scene, bound: Bound) -> Scene:
    """Keep a row and a column a matrix; one parameter's update is the temporary.

    A matrix of n elements is taken for a square one, whose row and column are the shortest. torch
    factors the last two dimensions, which of kernels of convolutions are the smallest.
    """
    states = scene.of_category(Category.OPTIMIZER_STATE)
    second = _second_moments(scene)
    elements = scene["requested"] // 4
    sides = np.minimum(2 * np.sqrt(np.maximum(elements, 1)), elements)
    share = np.where(elements <= _EIGHT_BIT_LEAST, 1.0, sides / np.maximum(elements, 1))
    kernels = np.array([*(name.startswith("Conv") for name in scene.ground.layer_type), False])
    is_kernel = kernels[scene["layer"]] & (elements > _EIGHT_BIT_LEAST)
    share = np.where(is_kernel & ~_is_matrix_like(scene), _OF_KERNELS[bound], share)
    leaner = scene.resized(second, share)
    gone = (states & ~second) | _in_optimizer(scene)
    alive = (leaner["requested"] > 0) & ~gone if len(leaner) == len(scene) else ~gone
    return _one_update(leaner.only(alive))


def _is_matrix_like(scene: Scene) -> Array:
    """Return what belongs to transformers' Conv1D, which is a matrix by another name."""
    names = np.array([*(name == "Conv1D" for name in scene.ground.layer_type), False])
    return names[scene["layer"]]


def _one_update(scene: Scene) -> Scene:
    ground = scene.ground
    kinds = ground.phase_kind == PhaseKind.OPTIMIZER
    starts, ends = ground.phase_start[kinds], ground.phase_end[kinds]
    return scene.adding(
        start=starts, end=ends, requested=np.full(len(starts), _largest_parameter(scene))
    )


def eight_bit(scene: Scene, bound: Bound) -> Scene:
    """Keep a byte a number and a scale for each 256 of them; small states stay as they are."""
    del bound
    elements = scene["requested"] // 4
    chosen = scene.of_category(Category.OPTIMIZER_STATE) & (elements >= _EIGHT_BIT_LEAST)
    leaner = scene.resized(chosen, 0.25 * (1 + 4 / _EIGHT_BIT_BLOCK))
    return leaner.only(~_in_optimizer(leaner))


def refuse_freezing(scene: Scene) -> Text | None:
    """Tell why training less would not help: nothing is trained."""
    if scene.of_category(Category.GRADIENT, Category.OPTIMIZER_STATE).any():
        return None
    return text("Neither gradients nor optimizer state were seen")


def adapters(scene: Scene, bound: Bound) -> Scene:
    """Train adapters of rank 16 beside frozen matrices: gradients and states of these alone.

    The two factors of a matrix of n elements are taken for those of a square one; in MOST of one four
    times as wide as high.
    """
    trained = scene.of_category(Category.GRADIENT, Category.OPTIMIZER_STATE)
    elements = np.maximum(scene["requested"] // 4, 1)
    width = 2 * RANK * np.sqrt(elements) * (1.25 if bound is Bound.MOST else 1)
    matrices = trained & (elements >= _EIGHT_BIT_LEAST) & (scene["layer"] >= 0)
    share = np.where(matrices, np.minimum(width / elements, 1), 1)
    kept = ~(trained & ~matrices) & ~scene.is_weight_shaped & ~_in_optimizer(scene)
    leaner = scene.resized(matrices, share).only(kept)
    weights = leaner.of_category(Category.PARAMETER) & (
        leaner["requested"] // 4 >= _EIGHT_BIT_LEAST
    )
    size = leaner["requested"][weights]
    factors = 4 * np.minimum(2 * RANK * np.sqrt(size // 4), size // 4)
    return leaner.adding(
        start=np.full(len(size), OLDER),
        end=leaner["end"][weights],
        requested=factors,
        category=int(Category.PARAMETER),
        layer=leaner["layer"][weights],
    )


def refuse_frozen_layers(scene: Scene) -> Text | None:
    """Tell why freezing the lower layers would not help."""
    if len(scene.ground.blocks) < 4:
        return text("No row of four layers or more repeats: choose by hand what to freeze")
    return refuse_freezing(scene)


def frozen(scene: Scene, bound: Bound) -> Scene:
    """Train the last two repeated layers and what follows them: below, nothing is kept for backward."""
    del bound
    ground = scene.ground
    first_trained = ground.blocks[-2]
    below = (scene["layer"] >= 0) & (scene["layer"] < first_trained)
    inside = below & ((ground.block_of[scene["layer"]] >= 0) | _leads_in(scene, first_trained))
    trained = scene.of_category(Category.GRADIENT, Category.OPTIMIZER_STATE)
    backward = scene.born_in == PhaseKind.BACKWARD
    kept = ~(inside & (trained | (backward & ~trained)))
    ends = np.append(ground.data.calls["end"], 0)
    stays = inside & scene.is_saved & (scene.born_in == PhaseKind.FORWARD)
    gone = before_cut(ends[scene["call"]])
    return scene.only(kept).ending(stays[kept], gone[kept])


def _leads_in(scene: Scene, first_trained: int) -> Array:
    """Return which blocks belong to a layer without others inside that stands before the repeated ones."""
    leaf = np.append(scene.ground.is_leaf, False)[scene["layer"]]
    return leaf & (scene["layer"] < first_trained)


FUSED = Recipe(
    entry("fused_optimizer"),
    Cost.NONE,
    25,
    refuse_fused,
    fused,
    group="optimizer",
    measured=measured("fused_optimizer"),
)
LOOP = Recipe(
    entry("loop_optimizer"),
    Cost.LOW,
    28,
    refuse_fused,
    looped,
    group="optimizer",
    measured=measured("loop_optimizer"),
)
EIGHT_BIT = Recipe(
    entry("eight_bit_optimizer"), Cost.LOW, 80, refuse_states, eight_bit, group="optimizer"
)
ADAFACTOR = Recipe(
    entry("adafactor"),
    Cost.HIGH,
    100,
    refuse_less_than_adam,
    adafactor,
    group="optimizer",
    measured=measured("adafactor"),
)
SGD = Recipe(
    entry("sgd_momentum"),
    Cost.NONE,
    105,
    refuse_less_than_adam,
    sgd,
    group="optimizer",
    measured=measured("sgd_momentum"),
)
ADAPTERS = Recipe(
    entry("train_adapters"),
    Cost.NONE,
    120,
    refuse_freezing,
    adapters,
    group="trained",
    combines=False,
)
FREEZE = Recipe(
    entry("freeze_parameters"),
    Cost.NONE,
    125,
    refuse_frozen_layers,
    frozen,
    group="trained",
    combines=False,
)
