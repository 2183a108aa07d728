"""Optimizers with less state or fewer temporaries."""

from __future__ import annotations

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.recipe import Bound, Cost, Recipe, of_training
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NO_STATE, NOT_TRAINED, entry, measured

SMALL = 4096
"""Elements: smaller tensors stay in 32 bits (bitsandbytes, `min_8bit_size`)."""
_EIGHT_BIT_BLOCK = 256
"""Elements that share a scale of 4 bytes (bitsandbytes 0.44 and later, `blocksize`)."""
_SECOND = ("exp_avg_sq", "max_exp_avg_sq")
_SIDES = (3, 7, 5)
"""Of kernels of convolutions, the usual first; of a k by k one Adafactor keeps 2/k of the elements, a row and a column."""


def in_optimizer(scene: Scene) -> Array:
    """Return which blocks are temporaries of `optimizer.step()`."""
    return np.asarray(
        scene.of_category(Category.TEMPORARY) & (scene.born_in == PhaseKind.OPTIMIZER)
    )


def _largest_parameter(scene: Scene) -> int:
    return int(scene["requested"][scene.of_category(Category.PARAMETER)].max(initial=0))


@of_training
def refuse_fused(scene: Scene) -> Text | None:
    """Tell why it does not apply: no temporaries of the optimizer were seen."""
    size = int(scene["bytes"][in_optimizer(scene)].max(initial=0))
    return None if size else text("The optimizer makes no temporaries")


def fused(scene: Scene, bound: Bound) -> Scene:
    """Run the optimizer as one kernel: no temporaries."""
    del bound
    return scene.only(~in_optimizer(scene))


def looped(scene: Scene, bound: Bound) -> Scene:
    """Run the optimizer a parameter at a time: the temporaries of the largest, two of them."""
    del bound
    ground = scene.ground
    starts = ground.phase_start[ground.phase_kind == PhaseKind.OPTIMIZER]
    ends = ground.phase_end[ground.phase_kind == PhaseKind.OPTIMIZER]
    largest = _largest_parameter(scene)
    now = in_optimizer(scene)
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
    """Tell why another optimizer would not help: nothing is trained, or there is no state at the peak."""
    if scene.ground.is_inference:
        return NOT_TRAINED
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
    """Return the optimizer's state as a multiple of what is trained: the bytes of gradients, or of parameters."""
    alive = scene.at_peak
    state = int(scene["bytes"][scene.of_category(Category.OPTIMIZER_STATE) & alive].sum())
    return state / max(trained_bytes(scene), 1)


def trained_bytes(scene: Scene) -> int:
    """Return the bytes of the parameters that are trained, by their gradients; of all where none were seen."""
    gradients = scene.only(scene.of_category(Category.GRADIENT))
    return gradients.peak if len(gradients) else parameter_bytes(scene)


def parameter_bytes(scene: Scene) -> int:
    """Return the bytes of all parameters."""
    return int(scene["bytes"][scene.of_category(Category.PARAMETER)].sum())


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
    return scene.only(~(_second_moments(scene) | in_optimizer(scene)))


def adafactor(scene: Scene, bound: Bound) -> Scene:
    """Keep a row and a column a matrix; one parameter's update is the temporary.

    A matrix of n elements is taken for a square one, whose row and column are the shortest. torch
    factors the last two dimensions, which of kernels of convolutions are the smallest.
    """
    states = scene.of_category(Category.OPTIMIZER_STATE)
    second = _second_moments(scene)
    elements = scene["requested"] // 4
    sides = np.minimum(2 * np.sqrt(np.maximum(elements, 1)), elements)
    share = np.where(elements <= SMALL, 1.0, sides / np.maximum(elements, 1))
    kernels = np.array([*(name.startswith("Conv") for name in scene.ground.layer_type), False])
    is_kernel = kernels[scene["layer"]] & (elements > SMALL)
    share = np.where(is_kernel & ~_is_matrix_like(scene), _of_kernels(elements, bound), share)
    leaner = scene.resized(second, share)
    gone = (states & ~second) | in_optimizer(scene)
    alive = (leaner["requested"] > 0) & ~gone if len(leaner) == len(scene) else ~gone
    return _one_update(leaner.only(alive))


def _of_kernels(elements: Array, bound: Bound) -> Array:
    """Return what is kept for convolutions, of their elements.

    Channels are seldom multiples of 9, 49 and 25: such a number of elements is that of a 3 by 3 kernel, or
    of a larger one, and any other that of a 1 by 1 kernel. The bounds are all 3 by 3, and all 1 by 1.
    """
    if bound is not Bound.LIKELY:
        return np.full(len(elements), 2 / _SIDES[0] if bound is Bound.LEAST else 2.0)
    share = np.full(len(elements), 2.0)
    for side in reversed(_SIDES):
        share[elements % side**2 == 0] = 2 / side
    return share


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
    chosen = scene.of_category(Category.OPTIMIZER_STATE) & (elements >= SMALL)
    leaner = scene.resized(chosen, 0.25 * (1 + 4 / _EIGHT_BIT_BLOCK))
    return leaner.only(~in_optimizer(leaner))


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
