"""Training fewer parameters: adapters beside frozen matrices, or the last layers alone."""

from __future__ import annotations

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import OLDER, before_cut
from memtrack.remedies.optimizers import SMALL, in_optimizer, parameter_bytes, trained_bytes
from memtrack.remedies.recipe import Bound, Cost, Recipe
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NOT_TRAINED, entry
from memtrack.units import format_percent

_FEW_TRAINED = 0.25
"""Share of the parameters: where fewer are trained most are frozen already."""
_MOSTLY = 0.5
_ADAPTABLE = ("Linear", "NonDynamically", "Conv1D", "Embedding", "MultiheadAttention")
"""Beginnings of the names of layers that adapters stand beside or that are frozen with them (peft's `all-linear`)."""
RANK = 16
"""Of the adapters that are simulated."""


def refuse_freezing(scene: Scene) -> Text | None:
    """Tell why training less would not help: nothing is trained."""
    if scene.ground.is_inference:
        return NOT_TRAINED
    if scene.of_category(Category.GRADIENT, Category.OPTIMIZER_STATE).any():
        return None
    return text("Neither gradients nor optimizer state were seen")


def refuse_adapters(scene: Scene) -> Text | None:
    """Tell why adapters would not help: few parameters are trained, or few of them are of linear layers."""
    refused = refuse_freezing(scene)
    if refused is not None:
        return refused
    trained, whole = trained_bytes(scene), parameter_bytes(scene)
    if trained < _FEW_TRAINED * whole:
        return text(
            "Only {share} of the parameters are trained as it is",
            share=format_percent(trained, whole),
        )
    kinds = np.array([*(one.startswith(_ADAPTABLE) for one in scene.ground.layer_type), False])
    weights = scene.of_category(Category.PARAMETER)
    held = int(scene["bytes"][weights & kinds[scene["layer"]]].sum())
    if len(scene.ground.data.layers) and held < _MOSTLY * whole:
        return text(
            "Adapters stand beside linear layers, which hold {share} of the parameters here",
            share=format_percent(held, whole),
        )
    return None


def adapters(scene: Scene, bound: Bound) -> Scene:
    """Train adapters of rank 16 beside frozen matrices: gradients and states of these alone.

    The two factors of a matrix of n elements are taken for those of a square one; in MOST of one four
    times as wide as high.
    """
    trained = scene.of_category(Category.GRADIENT, Category.OPTIMIZER_STATE)
    elements = np.maximum(scene["requested"] // 4, 1)
    width = 2 * RANK * np.sqrt(elements) * (1.25 if bound is Bound.MOST else 1)
    matrices = trained & (elements >= SMALL) & (scene["layer"] >= 0)
    share = np.where(matrices, np.minimum(width / elements, 1), 1)
    kept = ~(trained & ~matrices) & ~scene.is_weight_shaped & ~in_optimizer(scene)
    leaner = scene.resized(matrices, share).only(kept)
    weights = leaner.of_category(Category.PARAMETER) & (leaner["requested"] // 4 >= SMALL)
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


ADAPTERS = Recipe(
    entry("train_adapters"),
    Cost.NONE,
    120,
    refuse_adapters,
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
