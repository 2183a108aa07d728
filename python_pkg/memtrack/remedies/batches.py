"""Less at once: the batch in parts, the gradients accumulated; few lengths instead of many."""

from __future__ import annotations

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import LASTING, OLDER
from memtrack.remedies.recipe import Bound, Change, Cost, Recipe, of_training
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NOT_TRAINED, entry, measured, without_training

_LEAST_SHARE = 0.02


@of_training
def refuse_accumulation(scene: Scene) -> Text | None:
    """Tell why it does not apply: nothing at the peak grows with the batch."""
    growing = int(scene["bytes"][scene.at_peak & scene.grows_with_batch].sum())
    if growing < _LEAST_SHARE * scene.peak:
        return text("Next to nothing at the peak depends on the size of the batch")
    return None


def accumulated(parts: int) -> Change:
    """Return the change that takes the batch in `parts`: shown is the last part of each step.

    Gradients of the first parts are there through the forwards of the others; what backward makes for
    a parameter is added to them and goes at once.
    """

    def change(scene: Scene, bound: Bound) -> Scene:
        return _with_standing_gradients(smaller_batch(scene, 1 / parts, bound))

    return change


def smaller_batch(scene: Scene, share: float, bound: Bound = Bound.LIKELY) -> Scene:
    """Return the scene with a `share` of the batch; the batch itself is held whole in MOST."""
    growing = scene.grows_with_batch & ~_is_constant(scene)
    if bound is Bound.MOST:
        growing &= ~scene.of_category(Category.INPUT)
    return scene.resized(growing, share)


def refuse_parts(scene: Scene) -> Text | None:
    """Tell why it does not apply: batches of a training step are taken in parts by accumulation."""
    refused = without_training(scene.ground)
    if refused is NOT_TRAINED:
        return None
    return refused or text("The model is trained here: accumulate gradients instead")


def in_parts(scene: Scene, bound: Bound) -> Scene:
    """Take the batch in two parts; the batch itself and what the model gives stay whole."""
    whole = scene.of_category(Category.INPUT, Category.OUTPUT) | _is_constant(scene)
    if bound is Bound.LEAST:
        whole = scene.of_category(Category.INPUT) | _is_constant(scene)
    return scene.resized(scene.grows_with_batch & ~whole, 0.5)


def _is_constant(scene: Scene) -> Array:
    """Return which blocks are a few bytes, such as a scalar, whatever the batch."""
    return np.asarray(scene["requested"] <= 64)


def _with_standing_gradients(scene: Scene) -> Scene:
    gradients = scene.of_category(Category.GRADIENT)
    rows = np.flatnonzero(gradients & (scene.born_in == PhaseKind.BACKWARD))
    born = scene["start"][rows]
    forward = _last_start_before(scene, born, PhaseKind.FORWARD)
    start = scene["start"].copy()
    start[rows] = np.where(forward > OLDER, forward, born)
    # The new one goes as soon as it is added: with the next thing that happens.
    until = np.minimum(_following(scene, born), scene["end"][rows])
    return scene.having(start=start).adding(
        start=born,
        end=until,
        requested=scene["requested"][rows],
        layer=scene["layer"][rows],
        call=scene["call"][rows],
    )


def _last_start_before(scene: Scene, position: Array, kind: PhaseKind) -> Array:
    ground = scene.ground
    starts = np.concatenate(([OLDER], ground.phase_start[ground.phase_kind == kind]))
    return starts[np.searchsorted(starts, position, side="right") - 1]


def _following(scene: Scene, position: Array) -> Array:
    """Return the positions of the allocations that come next after some."""
    starts = np.append(np.sort(scene["start"]), LASTING)
    return starts[np.searchsorted(starts, position, side="right")]


ACCUMULATE = Recipe(
    entry("accumulate_gradients"),
    Cost.LOW,
    50,
    refuse_accumulation,
    accumulated(2),
    group="batch",
    measured=measured("accumulate_gradients"),
)
ACCUMULATE_4 = Recipe(
    entry("accumulate_gradients_4"),
    Cost.LOW,
    55,
    refuse_accumulation,
    accumulated(4),
    group="batch",
    measured=measured("accumulate_gradients"),
)
IN_PARTS = Recipe(entry("batch_in_parts"), Cost.LOW, 52, refuse_parts, in_parts, group="batch")
