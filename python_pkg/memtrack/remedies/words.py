"""Entries of the catalogue of advice by id, and sentences that several remedies share."""

from __future__ import annotations

from functools import cache

from memtrack.diagnosis.advice.catalogue import CATALOGUE
from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import Text, text
from memtrack.remedies.entries import MORE

NO_PHASES: Text = text(
    "Which phase each byte belongs to is not known here: record a training step with %memtrack MODEL"
)
NO_LAYERS: Text = text(
    "Which layer each byte belongs to is not known here: record with %memtrack MODEL"
)
NO_STATE: Text = text("No optimizer state was seen")


@cache
def _entries() -> dict[str, Entry]:
    return {one.id: one for one in (*CATALOGUE, *MORE)}


def entry(identifier: str) -> Entry:
    """Return the advice of an id: title, cost, code and caveats, as diagnoses show them too."""
    return _entries()[identifier]
