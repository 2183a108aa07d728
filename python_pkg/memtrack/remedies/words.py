"""Entries of the catalogue of advice by id, and sentences that several remedies share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from memtrack.diagnosis.advice.catalogue import CATALOGUE
from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import Text, text
from memtrack.remedies.entries import MORE

if TYPE_CHECKING:
    from memtrack.remedies.base import Ground

NO_PHASES: Text = text(
    "Which phase each byte belongs to is not known here: record a training step with %memtrack MODEL"
)
NOT_TRAINED: Text = text("Nothing is trained here: no backward was seen")
NO_LAYERS: Text = text(
    "Which layer each byte belongs to is not known here: record with %memtrack MODEL"
)
NO_STATE: Text = text("No optimizer state was seen")


def without_training(ground: Ground) -> Text | None:
    """Tell why a remedy of training does not apply: no phases are known, or forwards alone; None where it may."""
    if ground.has_phases:
        return None
    return NOT_TRAINED if ground.has_forwards else NO_PHASES


@cache
def _entries() -> dict[str, Entry]:
    return {one.id: one for one in (*CATALOGUE, *MORE)}


def entry(identifier: str) -> Entry:
    """Return the advice of an id: title, cost, code and caveats, as diagnoses show them too."""
    return _entries()[identifier]


TIMES = {
    "bf16_autocast": (8, "0.24", "1.2", "0.56"),
    "fp16_autocast": (8, "0.21", "1.5", "0.52"),
    "bf16_weights": (8, "0.20", "1.6", "0.39"),
    "accumulate_gradients": (8, "1.0", "1.3", "1.06"),
    "checkpoint_layers": (6, "1.16", "2.4", "1.22"),
    "fused_optimizer": (8, "0.77", "1.6", "0.97"),
    "loop_optimizer": (8, "0.95", "1.8", "1.01"),
    "sgd_momentum": (8, "0.93", "1.6", "0.98"),
    "adafactor": (8, "1.1", "14", "1.75"),
}
"""Time of a step with a remedy as a multiple of that without: models, least, most and median.

Of the fastest of three steps on one H200 each (batches of 4 to 4096, float32
without TF32, torch 2.11); small models vary by a third from run to run.
"""


def measured(identifier: str) -> Text:
    """Return what a remedy cost in time where it was measured."""
    models, low, high, median = TIMES[identifier]
    return text(
        "measured on an H200, {models} models: {low} to {high} times the time of a step, median {median}",
        models=models,
        low=low,
        high=high,
        median=median,
    )
