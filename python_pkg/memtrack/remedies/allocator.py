"""What the allocator holds besides: segments that grow, and few lengths instead of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memtrack.allocator.replay import recorded_settings
from memtrack.allocator.settings import Settings
from memtrack.i18n import Text, text
from memtrack.recording import Category
from memtrack.remedies.recipe import Bound, Cost, Recipe
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import entry

_FEW_SIZES = 1


def refuse_expandable(scene: Scene) -> Text | None:
    """Tell why it does not apply: no caching allocator, or segments grow already."""
    if not scene.ground.is_cached:
        return text("This device has no caching allocator")
    if recorded_settings(scene.ground.data).expandable_segments:
        return text("Segments grow already")
    return None


def unchanged(scene: Scene, bound: Bound) -> Scene:
    """Return the scene: what is in use stays the same."""
    del bound
    return scene


def refuse_buckets(scene: Scene) -> Text | None:
    """Tell why it does not apply: the batches were all of one size."""
    if not scene.ground.is_cached:
        return text("This device has no caching allocator")
    if input_sizes(scene) <= _FEW_SIZES or _has_one_shape(scene):
        return text("All batches that were seen are of one size")
    return None


def _has_one_shape(scene: Scene) -> bool:
    """Tell whether the outermost layers, and those in them, always gave one shape each, as in a GAN's two loops."""
    layers, calls = scene.ground.data.layers, scene.ground.data.calls
    parent = layers["parent"]
    outer = np.append((parent < 0) | (np.append(parent, -1)[parent] < 0), False)[calls["layer"]]
    called = calls["layer"][outer]
    shapes = called.astype(np.int64) * (1 << 32) + calls["output_shape"][outer]
    return bool(len(called)) and len(np.unique(shapes)) == len(np.unique(called))


def input_sizes(scene: Scene) -> int:
    """Return how many different largest batches the steps of the whole recording had."""
    data = scene.ground.data
    table = data.allocations
    rows = np.flatnonzero((table["category"] == Category.INPUT) & (table["phase"] >= 0))
    steps = data.phases["step"][table["phase"][rows]]
    largest: dict[int, int] = {}
    for step, size in zip(steps.tolist(), table["requested"][rows].tolist(), strict=True):
        largest[step] = max(largest.get(step, 0), size)
    return len(set(largest.values()))


def with_expandable(scene: Scene) -> Settings:
    """Return the allocator's settings of the recording with segments that grow."""
    return replace(recorded_settings(scene.ground.data), expandable_segments=True)


EXPANDABLE = Recipe(
    entry("expandable_segments"), Cost.NONE, 35, refuse_expandable, unchanged, reserves=True
)
BUCKETS = Recipe(
    entry("buckets"),
    Cost.LOW,
    38,
    refuse_buckets,
    unchanged,
    unknown=text(
        "What it saves depends on the lengths to come: run some steps with buckets under %memtrack"
        " and compare the reserved bytes"
    ),
)
