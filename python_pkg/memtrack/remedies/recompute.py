"""Activations computed again instead of kept: checkpointing of all repeated layers, or of the best few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.categories import CallKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import LASTING, OLDER, SCALE, after_cut, before_cut
from memtrack.remedies.recipe import Bound, Cost, Recipe, of_training
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NO_LAYERS, entry, measured

_NOT_SAVED = text("No layer of this model repeats: wrap the parts by hand that hold the most")
_ENOUGH = 0.9
"""Share of what all layers save that makes a few of them enough."""


@of_training
def refuse_checkpointing(scene: Scene) -> Text | None:
    """Tell why it does not apply: no layer repeats, or they run again already."""
    ground = scene.ground
    if not len(ground.calls):
        return NO_LAYERS
    if (ground.data.calls["kind"][ground.calls] == CallKind.RECOMPUTE).any():
        return text("Checkpointing is on already")
    return None if ground.block_calls() else _NOT_SAVED


def checkpointed(scene: Scene, bound: Bound) -> Scene:
    """Checkpoint every repeated layer."""
    del bound
    return checkpoint_calls(scene, scene.ground.block_calls())


def checkpointed_few(scene: Scene, bound: Bound) -> Scene:
    """Checkpoint as few layers as save nearly what all do, at most half of them.

    First come those that hold most at the peak.
    """
    del bound
    ground = scene.ground
    calls = ground.block_calls()
    layers = ground.data.calls["layer"]
    held = {int(layer): 0 for layer in layers[calls]}
    owner = ground.block_of[scene["layer"]]
    kept = scene.at_peak & scene.is_saved & scene.grows_with_batch
    for layer in held:
        held[layer] = int(scene["bytes"][kept & (owner == layer)].sum())
    order = sorted(held, key=lambda layer: -held[layer])
    whole = scene.peak - checkpoint_calls(scene, calls).peak
    count, half = 1, max(len(order) // 2, 1)
    while count < half:
        some = [call for call in calls if int(layers[call]) in order[:count]]
        if scene.peak - checkpoint_calls(scene, some).peak >= _ENOUGH * whole:
            break
        count = min(2 * count, half)
    return checkpoint_calls(scene, [call for call in calls if int(layers[call]) in order[:count]])


def checkpoint_calls(scene: Scene, calls: Sequence[int]) -> Scene:
    """Let what `calls` keep for backward go when they end, and run them again before their backward."""
    for call in calls:
        scene = _checkpoint(scene, call)
    return scene


def _checkpoint(scene: Scene, call: int) -> Scene:
    """Checkpoint one call: its output and what was there before stay, the rest is made again."""
    ground = scene.ground
    table = ground.data.calls
    begin, over = int(after_cut(table["start"][call])), int(before_cut(table["end"][call], 1 << 18))
    made = (scene["start"] >= begin) & (scene["start"] <= over) & (scene["end"] > scene["start"])
    made &= ~scene.of_category(Category.PARAMETER, Category.BUFFER)
    kept = made & (scene["end"] > over) & ~_outputs(scene, made & (scene["end"] > over), call)
    again = _backward_of(scene, call, kept)
    if again >= LASTING or not kept.any():
        return scene
    casts = kept & scene.of_category(Category.CAST_WEIGHT)
    returning = kept & (scene["end"] > again)
    brief = made & ~kept & (scene["end"] <= over)
    rows = np.flatnonzero(returning | brief)
    shift = again - SCALE // 2
    # Events of the first run keep their order, close together before backward begins.
    first = scene["start"][rows]
    last = np.where(brief[rows], scene["end"][rows], 0)
    start = shift + _places(first, begin)
    end = np.where(brief[rows], shift + _places(last, begin), scene["end"][rows])
    phase_end = ground.next_end(np.array([begin]), PhaseKind.FORWARD)[0]
    gone = np.where(casts, phase_end, over)
    changed = scene.having(end=np.where(kept, np.minimum(scene["end"], gone), scene["end"]))
    return changed.adding(
        start=start,
        end=end,
        requested=scene["requested"][rows],
        category=np.where(brief[rows], scene["category"][rows], int(Category.RECOMPUTED)),
        layer=scene["layer"][rows],
        stream=scene["stream"][rows],
    )


def _places(position: Array, begin: int) -> Array:
    """Return small numbers in the order of positions: two an event since `begin`."""
    event = (position - begin) // SCALE
    within = (position - begin) % SCALE > SCALE // 2
    return 2 * event + within + 1


def _outputs(scene: Scene, left: Array, call: int) -> Array:
    """Return which of what a call leaves is its output: the last of the size it gave back."""
    wanted = int(scene.ground.data.calls["output_bytes"][call])
    found = np.zeros(len(scene), dtype=bool)
    rows = np.flatnonzero(left & (scene["row"] >= 0) & ~scene.of_category(Category.CAST_WEIGHT))
    original = scene.ground.data.allocations["requested"]
    for place in rows[np.argsort(-scene["start"][rows], kind="stable")].tolist():
        size = int(original[scene["row"][place]])
        if 0 < size <= wanted:
            found[place] = True
            wanted -= size
    return found


def _backward_of(scene: Scene, call: int, kept: Array) -> int:
    """Return where the backward of a call begins: as it was seen, else where its first block goes."""
    seen = int(scene.ground.backward_start[call])
    if seen < LASTING:
        return seen
    ends = scene["end"][kept & scene.is_saved]
    ends = ends[ends < LASTING]
    return int(ends.min()) - SCALE // 2 if len(ends) else LASTING


CHECKPOINT = Recipe(
    entry("checkpoint_layers"),
    Cost.MEDIUM,
    70,
    refuse_checkpointing,
    checkpointed,
    group="recompute",
    measured=measured("checkpoint_layers"),
)
CHECKPOINT_FEW = Recipe(
    entry("checkpoint_few"),
    Cost.LOW,
    65,
    refuse_checkpointing,
    checkpointed_few,
    group="recompute",
)


@of_training
def refuse_offload(scene: Scene) -> Text | None:
    """Tell why activations cannot be kept elsewhere."""
    if (scene.is_saved & scene.at_peak & scene.grows_with_batch).any():
        return None
    return text("Nothing at the peak is kept for backward")


def offloaded(scene: Scene, bound: Bound) -> Scene:
    """Keep what autograd saves in the computer's memory: gone once its readers ran, back for backward."""
    del bound
    ground, calls = scene.ground, scene.ground.data.calls
    rows = np.flatnonzero(scene.is_saved & scene.grows_with_batch & (scene["start"] > OLDER))
    end, start, until, like = scene["end"].copy(), [], [], []
    for place in rows.tolist():
        readers = ground.savers(int(scene["row"][place]))
        gone = int(before_cut(int(calls["end"][readers].max())))
        back = int(ground.backward_start[readers].min())
        if gone >= end[place]:
            continue
        if gone < back < end[place]:
            start.append(back)
            until.append(int(end[place]))
            like.append(place)
        if back < LASTING:
            end[place] = gone
    some = np.array(like, dtype=np.int64)
    more = {name: scene[name][some] for name in ("requested", "category", "layer", "stream")}
    return scene.having(end=end).adding(start=start, end=until, **more)


OFFLOAD_ACTIVATIONS = Recipe(
    entry("activations_on_cpu"), Cost.HIGH, 90, refuse_offload, offloaded, group="recompute"
)
