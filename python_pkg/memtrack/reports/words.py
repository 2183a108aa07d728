"""The field's words for the codes of a report, the same in every sentence and table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memtrack.i18n import Text, text
from memtrack.words import CATEGORIES, STEP_PHASES, joined, literal

__all__ = ["DETAILS", "PARTS", "PHASES", "joined", "literal", "part_name"]

PARTS: Mapping[str, Text] = MappingProxyType(
    {
        **CATEGORIES,
        "unknown": text("unknown"),
        "cache": text("allocator cache"),
        "context": text("CUDA context"),
        "process": text("rest of this process"),
        "outside": text("CUDA context and other processes"),
        "others": text("other processes"),
        "free": text("free"),
    }
)
"""Categories and the other parts of a ledger."""

DETAILS: Mapping[str, Text] = MappingProxyType(
    {
        "cache.small": text("free, small blocks"),
        "cache.large": text("free, large blocks"),
        "cache.splinters": text("splinters"),
        "cache.private": text("in private pools"),
        "cache.pending": text("awaiting a stream"),
        "temporary.forward": text("forward"),
        "temporary.backward": text("backward"),
        "temporary.optimizer": text("optimizer"),
        "temporary.other": text("between"),
    }
)
"""What some parts are made of."""


PHASES: Mapping[str, Text] = MappingProxyType({**STEP_PHASES, "other": text("other code")})


def part_name(part: str) -> Text:
    """Return the words for a part of a ledger; an id of a later version is shown as it is."""
    return PARTS.get(part) or DETAILS.get(part) or literal(part)
