"""All remedies that are weighed, in the guide's order of harm."""

from __future__ import annotations

from memtrack.remedies import (
    allocator,
    batches,
    optimizers,
    precision,
    recompute,
    references,
    shapes,
    sharding,
    trained,
)
from memtrack.remedies.recipe import Recipe

SINGLE_DEVICE = (
    references.SET_TO_NONE,
    references.INFERENCE,
    references.DELETE_RESULTS,
    optimizers.FUSED,
    optimizers.LOOP,
    shapes.FUSED_ATTENTION,
    allocator.EXPANDABLE,
    allocator.BUCKETS,
    precision.BF16_AUTOCAST,
    precision.LOAD_IN_BF16,
    precision.FP16_AUTOCAST,
    shapes.CHUNKED_LOGITS,
    batches.ACCUMULATE,
    batches.IN_PARTS,
    batches.ACCUMULATE_4,
    recompute.CHECKPOINT_FEW,
    recompute.CHECKPOINT,
    optimizers.EIGHT_BIT,
    recompute.OFFLOAD_ACTIVATIONS,
    optimizers.ADAFACTOR,
    optimizers.SGD,
    precision.BF16_WEIGHTS,
    trained.ADAPTERS,
    trained.FREEZE,
)


def recipes(gpus: int = sharding.GPUS) -> list[Recipe]:
    """Return every remedy; those for several GPUs for so many."""
    return [*SINGLE_DEVICE, *sharding.recipes(gpus)]
