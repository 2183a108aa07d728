"""Several GPUs: what DDP adds to each, what ZeRO stages and FSDP take away; and offloading.

The sizes are those of Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models" (2020), section 3 and figure 1; activations stay with the batch of each GPU.
"""

from __future__ import annotations

from memtrack.i18n import Text, text
from memtrack.recording import Category
from memtrack.remedies.base import LASTING, OLDER, after_cut
from memtrack.remedies.recipe import Bound, Change, Cost, Recipe
from memtrack.remedies.scene import Scene
from memtrack.remedies.trained import refuse_freezing
from memtrack.remedies.words import entry

_OF_DDP = ("DistributedDataParallel",)
_OF_FSDP = ("FullyShardedDataParallel", "FSDP")
"""Beginnings of the names of layers: `fully_shard` puts FSDP before that of a layer's own class."""
GPUS = 8
"""The number that is simulated unless another is asked for."""


def refuse_ddp(scene: Scene) -> Text | None:
    """Tell why it does not apply: nothing is trained, or the run is spread over GPUs already."""
    if _wrapped(scene, _OF_DDP) or scene.of_category(Category.COMMUNICATION).any():
        return text("The run is spread over several GPUs already")
    return refuse_sharding(scene)


def refuse_sharding(scene: Scene) -> Text | None:
    """Tell why it does not apply: nothing is trained, or the model is sharded already."""
    if _wrapped(scene, _OF_FSDP):
        return text("The model is sharded over GPUs already")
    return refuse_freezing(scene)


def _wrapped(scene: Scene, names: tuple[str, ...]) -> bool:
    return any(name.startswith(names) for name in scene.ground.layer_type)


def ddp(scene: Scene, bound: Bound) -> Scene:
    """Add the buckets for all gradients; none in LEAST, where gradients are views of them."""
    if bound is Bound.LEAST:
        return scene
    size = _once_a_parameter(scene, Category.GRADIENT)
    return scene.adding(
        start=[OLDER], end=[LASTING], requested=[max(size, 1)], category=int(Category.COMMUNICATION)
    )


def _once_a_parameter(scene: Scene, category: Category) -> int:
    """Return the most bytes of a category that are there at once."""
    alone = scene.only(scene.of_category(category))
    return alone.peak if len(alone) else 0


def sharded(gpus: int, *categories: Category) -> Change:
    """Return the change that leaves each of `gpus` its share of some categories.

    Where parameters are among them those of a repeated layer are whole while it runs, and those of
    the next are on their way.
    """

    def change(scene: Scene, bound: Bound) -> Scene:
        shared = scene.resized(scene.of_category(*categories), 1 / gpus)
        if Category.PARAMETER not in categories:
            return shared
        return _with_gathered(scene, shared, 1 if bound is Bound.LEAST else 2)

    return change


def _with_gathered(whole: Scene, shared: Scene, ahead: int) -> Scene:
    """Add the whole parameters, and in backward the gradients, of the repeated layer that runs."""
    ground = whole.ground
    calls = ground.data.calls
    owner = ground.block_of[whole["layer"]]
    parameters = whole.of_category(Category.PARAMETER)
    sizes = {row: int(whole["bytes"][parameters & (owner == row)].sum()) for row in ground.blocks}
    rest = int(whole["bytes"][parameters & (owner < 0)].sum())
    start, end, size = [OLDER], [LASTING], [max(rest, 1)]
    for call in ground.block_calls():
        layer = int(calls["layer"][call])
        windows = [(calls["start"][call], calls["end"][call], ahead)]
        if calls["backward_start"][call] >= 0:
            windows.append((calls["backward_start"][call], calls["backward_end"][call], ahead + 1))
        for first, last, times in windows:
            if last > first and sizes.get(layer):
                start.append(int(after_cut(first)))
                end.append(int(after_cut(last)))
                size.append(times * sizes[layer])
    return shared.adding(start=start, end=end, requested=size, category=int(Category.COMMUNICATION))


def offloaded(scene: Scene, bound: Bound) -> Scene:
    """Keep parameters, gradients and states in the computer's memory: there is what runs."""
    kept = ~scene.of_category(Category.PARAMETER, Category.GRADIENT, Category.OPTIMIZER_STATE)
    return _with_gathered(scene, scene.only(kept), 1 if bound is Bound.LEAST else 2)


def recipes(gpus: int = GPUS) -> list[Recipe]:
    """Return the remedies that need `gpus` GPUs, and the computer's memory in their place."""
    states, gradients = Category.OPTIMIZER_STATE, Category.GRADIENT
    on = text("for {count} GPUs", count=gpus)
    stages = (
        ("zero_1", 130, Cost.LOW, (states,)),
        ("zero_2", 135, Cost.MEDIUM, (states, gradients)),
        ("shard_the_model", 140, Cost.MEDIUM, (states, gradients, Category.PARAMETER)),
    )
    found = [
        Recipe(
            entry(name),
            cost,
            harm,
            refuse_sharding,
            sharded(gpus, *categories),
            group="devices",
            combines=False,
            measured=on,
        )
        for name, harm, cost, categories in stages
    ]
    found.insert(
        0,
        Recipe(
            entry("ddp"),
            Cost.LOW,
            129,
            refuse_ddp,
            ddp,
            group="devices",
            combines=False,
            measured=on,
        ),
    )
    offload = Recipe(
        entry("offload_to_cpu"),
        Cost.HIGH,
        150,
        refuse_sharding,
        offloaded,
        group="devices",
        combines=False,
    )
    return [*found, offload]
